"""How a command ends: its exit code, and one line that says what was wrong."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from ctxopt_core.errors import CtxoptError
from ctxopt_core.text.display_text import preview

SOME_REJECTED, DOES_NOT_FIT, STOPPED = 3, 4, 130

EXIT_CODES = """\b
Exit codes:
  0    all went well
  1    what was asked cannot be told: no such request, model or limit,
       or a file that cannot be written
  2    the command was not understood, or there is no such file
  3    some lines were rejected; all others were fitted
  4    what may not be cut does not fit
  130  it was stopped from the keyboard
"""

REQUEST_ERRORS = (CtxoptError, TypeError, ValueError, RecursionError)
"""The errors of a request that cannot be read or fitted."""

_LONGEST_LINE = 1_000  # characters of an error or a warning: about a screen
_ARGUMENTS = re.compile(
    "`(context_window|max_input_tokens|output_reserve|safety_margin|on_unknown_model)(?:='?(\\w+)'?)?`"
)
_ONLY_IN_PYTHON = ", or a `catalog` that knows the model"


class DoesNotFitError(click.ClickException):
    """What may not be cut is larger than the input budget."""

    exit_code = DOES_NOT_FIT


def one_line(error: BaseException | str) -> str:
    """Return the message of an error as one line that can be shown."""
    if isinstance(error, RecursionError):
        return "the request is nested too deeply"
    if isinstance(error, OSError) and error.strerror:
        named = f": {error.filename}" if error.filename else ""
        return preview(f"{error.strerror}{named}", _LONGEST_LINE)
    said = str(error).replace(_ONLY_IN_PYTHON, "") or type(error).__name__
    return preview(_ARGUMENTS.sub(_as_option, said), _LONGEST_LINE)


def _as_option(argument: re.Match[str]) -> str:
    """Return the option of the command line for an argument of the library."""
    option = f"--{argument[1].replace('_', '-')}"
    return option if argument[2] is None else f"{option} {argument[2]}"


def say(text: str) -> None:
    """Write a line to the standard error stream."""
    click.echo(text.encode("utf-8", "backslashreplace"), err=True)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Turn warnings into a line each on the standard error stream."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _say_warning
        yield


@contextmanager
def plain_messages() -> Iterator[None]:
    """Turn errors into a line and an exit code, and warnings into a line each, all on the standard error stream."""
    with plain_warnings():
        try:
            yield
        except KeyboardInterrupt as error:
            say("Stopped.")
            raise click.exceptions.Exit(STOPPED) from error
        except REQUEST_ERRORS as error:
            raise click.ClickException(one_line(error)) from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader of the output has gone; click ends quietly
                raise
            _give_up_output()
            raise click.ClickException(one_line(error)) from error


def _give_up_output() -> None:
    """Drop what cannot be written to the standard output; otherwise the interpreter tries again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _say_warning(
    message: Warning | str,
    category: type[Warning],  # noqa: ARG001
    filename: str,  # noqa: ARG001
    lineno: int,  # noqa: ARG001
    file: IO[str] | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> Any:
    say(f"Warning: {one_line(str(message))}")
