"""The commands of the command line."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, Literal, TypeVar

import click

from ctxopt_core.budget import ContextBudget
from ctxopt_core.budgeting import Budgeting
from ctxopt_core.errors import CtxoptError
from ctxopt_core.fitting import counter_of
from ctxopt_core.rendering import ChatFraming
from ctxopt_core.request_files import request_in
from ctxopt_core.windows import OnUnknown

Format = Literal["table", "json"]
F = TypeVar("F", bound=Callable[..., Any])


def _shaped(command: F) -> F:
    chosen = click.option(
        "--format", "form", type=click.Choice(["table", "json"]), default="table", help="How the figures are printed."
    )
    return chosen(command)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ctxopt-core")
def commands() -> None:
    """Fit requests into a model's context window. Nothing here uses the network."""


@commands.command()
@click.argument("model")
@click.option("--context-window", type=click.IntRange(min=1), help="The window in tokens, in place of the known one.")
@click.option("--output-reserve", type=click.IntRange(min=0), help="Tokens kept free for the answer.")
@click.option(
    "--on-unknown",
    type=click.Choice(["fallback", "error"]),
    default="fallback",
    help="What to do about an unknown model: show the smallest window known, with a warning, or end with 1.",
)
@_shaped
def window(
    model: str, context_window: int | None, output_reserve: int | None, on_unknown: OnUnknown, form: Format
) -> None:
    """Show the window of MODEL, what it leaves for the input, its tokenizer, and where the figures come from."""
    with _plain_messages():
        budget = ContextBudget.for_model(
            model, context_window=context_window, output_reserve=output_reserve, on_unknown=on_unknown
        )
    _show(_window_figures(budget), form)


@commands.command()
@click.argument("file", type=click.File(encoding="utf-8", errors="surrogateescape"))
@click.option("--model", "-m", required=True, help="The model whose tokenizer counts.")
@_shaped
def count(file: IO[str], model: str, form: Format) -> None:
    """Count the tokens of FILE (- for the standard input) for a model.

    A chat request as JSON, in OpenAI's or Anthropic's shape, is counted as it is rendered, with its tools; anything
    else as the bare text that it is.
    """
    with _plain_messages():
        budget = ContextBudget.for_model(model)
        budgeting = Budgeting(budget=budget, counter=counter_of(budget))
        text = file.read()
        request = request_in(text)
        tokens = budgeting.counter.count(text) if request is None else budgeting.count(request, ChatFraming())
    figures = {
        "tokens": tokens,
        "counted as": "a text" if request is None else f"a request of {len(request.history)} messages",
        "input budget": budget.input_tokens,
        "fits": tokens <= budget.input_tokens,
        **_tokenizer_figures(budget),
    }
    _show(figures, form)


@contextmanager
def _plain_messages() -> Iterator[None]:
    """Turn our errors into a line and exit code 1, and our warnings into a line, both on the standard error stream."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except (CtxoptError, TypeError, ValueError) as error:
            raise click.ClickException(str(error)) from error
        finally:
            for warning in caught:
                click.echo(f"Warning: {warning.message}", err=True)


def _window_figures(budget: ContextBudget) -> dict[str, Any]:
    known = budget.window
    return {
        "model": known.model if known else None,
        "context window": budget.context_window,
        "input limit": budget.max_input_tokens,
        "longest answer": known.max_output_tokens if known else None,
        "kept for the answer": budget.output_reserve,
        "input budget": budget.input_tokens,
        **_tokenizer_figures(budget),
    }


def _tokenizer_figures(budget: ContextBudget) -> dict[str, Any]:
    known = budget.window
    if known is None:
        return {}
    return {
        "tokenizer": known.encoding,
        "exact": known.exact,
        "safety factor": known.safety_factor,
        "window from": known.source,
        "checked": known.checked.isoformat() if known.checked else None,
    }


def _show(figures: Mapping[str, Any], form: Format) -> None:
    if form == "json":
        click.echo(json.dumps({name.replace(" ", "_"): value for name, value in figures.items()}))
        return
    shown = {name: _as_text(value) for name, value in figures.items() if value is not None}
    width = max(map(len, shown))
    for name, text in shown.items():
        click.echo(f"{name:<{width}}  {text}")


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
