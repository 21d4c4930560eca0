"""Fitting the requests of a file of lines, one after the other, with no more than one of them in memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import click

from ctxopt_core.command_line.batch_files import BatchFiles, BatchPaths
from ctxopt_core.command_line.endings import REQUEST_ERRORS, DoesNotFitError, one_line, say
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.command_line.request_input import STANDARD, Line, decoded, is_terminal, lines_of, opened
from ctxopt_core.fitted import FittedContext
from ctxopt_core.fitted_files import as_json, fitted_content
from ctxopt_core.request_files import read_request

_BAR_STEP = 1 << 16
_CLEAR_LINE = "\r\x1b[K"


@dataclass(slots=True, kw_only=True)
class Tally:
    """What has become of the lines so far.

    Args:
        done_before: Requests that an interrupted run had done.
        rejected_before: Lines among them that could not be fitted.
        untouched: Requests that fitted as they were.
        cut: Requests that were cut.
        rejected: Lines that could not be fitted.
    """

    done_before: int = 0
    rejected_before: int = 0
    untouched: int = 0
    cut: int = 0
    rejected: int = 0

    def in_words(self) -> str:
        """Return the figures as a sentence."""
        bad = f", {self.rejected_before:,} of them rejected" if self.rejected_before else ""
        before = f"{self.done_before:,} done before{bad}; " if self.done_before else ""
        requests = self.untouched + self.cut + self.rejected
        return (
            f"{before}{requests:,} requests: {self.untouched:,} fitted as they were, {self.cut:,} cut, "
            f"{self.rejected:,} rejected"
        )


def fit_file(file: Path, fitter: RequestFitter, paths: BatchPaths, *, resume: bool) -> Tally:
    """Fit the requests of a file of lines, in their order.

    Args:
        file: The file; `-` for the standard input.
        fitter: Fits each.
        paths: Where the results go.
        resume: Whether to go on behind what the results already hold, instead of beginning anew.

    Raises:
        ValueError: There are more results than requests.
        OSError: A file cannot be read or written.
    """
    fitted, rejected = paths.keep_what_is_done() if resume else (0, 0)
    done = fitted + rejected
    tally = Tally(done_before=done, rejected_before=rejected)
    with opened(file) as stream, _progress(file) as advance, BatchFiles(paths, resume=resume) as files:
        lines = lines_of(stream)
        passed = sum(advance(line) for line in islice(lines, done))
        if passed < done:
            message = f"there are {done:,} results already, and only {passed:,} requests: these belong to another file"
            raise ValueError(message)
        fit_lines(lines, fitter, files, tally, advance)
    return tally


def fit_lines(
    lines: Iterable[Line], fitter: RequestFitter, files: BatchFiles, tally: Tally, advance: Callable[[Line], object]
) -> None:
    """Fit lines, write what becomes of each, and count on."""
    for line in lines:
        try:
            fitted, written = fitted_line(line, fitter)
        except (*REQUEST_ERRORS, DoesNotFitError) as error:
            say(f"{_CLEAR_LINE if is_terminal() else ''}line {line.number}: {one_line(error)}")
            files.reject(line)
            tally.rejected += 1
        else:
            files.write(line, written, fitted.report)
            tally.untouched += fitted.untouched
            tally.cut += not fitted.untouched
        advance(line)


def fitted_line(line: Line, fitter: RequestFitter) -> tuple[FittedContext, bytes]:
    """Return what is left of the request on a line, and the line for it: the same bytes where nothing was cut."""
    stored = read_request(decoded(line.content))
    fitted = fitter.fit(stored)
    return fitted, line.content if fitted.untouched else as_json(fitted_content(stored, fitted))


@contextmanager
def _progress(file: Path) -> Iterator[Callable[[Line], bool]]:
    """Yield a function that is told of each line that is done; a bar shows it where a terminal is looked at."""
    if file == STANDARD or not is_terminal():
        yield lambda line: True  # noqa: ARG005
        return
    with click.progressbar(
        length=file.stat().st_size, label="fitting", file=sys.stderr, update_min_steps=_BAR_STEP
    ) as bar:

        def advance(line: Line) -> bool:
            bar.update(line.size)
            return True

        yield advance
