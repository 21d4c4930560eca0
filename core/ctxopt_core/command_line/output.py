"""Figures and tables on the standard output."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import click

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.display.html import as_html
from ctxopt_core.display.sheet import Sheet
from ctxopt_core.models.catalog import builtin_index
from ctxopt_core.models.model_window import ModelWindow

Format = Literal["table", "json", "html"]
F = TypeVar("F", bound=Callable[..., Any])
_FORMATS: tuple[Format, ...] = ("table", "json", "html")


def format_option(command: F) -> F:
    """Add the option for the format of figures to a command."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(_FORMATS),
        default="table",
        show_default=True,
        help="How the figures are printed: html is a whole page.",
    )(command)


def write_bytes(content: bytes) -> None:
    """Write bytes to the standard output."""
    click.echo(content, nl=False)


def show(text: str) -> None:
    """Write a string and a line break to the standard output, in UTF-8 whatever the terminal is set to."""
    click.echo(text.encode("utf-8", "backslashreplace"))


def show_figures(figures: Mapping[str, Any], form: Format, *, title: str) -> None:
    """Write names and values: aligned lines or a page, without those that are None, or one line of JSON.

    Args:
        figures: The values by their names.
        form: How they are written.
        title: The title of a page.
    """
    if form == "json":
        show(json.dumps({_as_key(name): value for name, value in figures.items()}))
        return
    shown = {name: _as_text(value) for name, value in figures.items() if value is not None}
    if form == "html":
        show(as_html(Sheet(title=title, facts=tuple(shown.items())), standalone=True))
        return
    width = max(map(len, shown))
    for name, text in shown.items():
        show(f"{name:<{width}}  {text}")


def tokenizer_figures(budget: ContextBudget) -> dict[str, Any]:
    """Return the model's tokenizer and the source of its window; nothing where no model is named."""
    known = budget.window
    if known is None:
        return {}
    return {
        "tokenizer": known.encoding,
        "exact": known.exact,
        "safety factor": known.safety_factor,
        "window from": known.source,
        "according to": _sources(known),
        "checked": known.checked.isoformat() if known.checked else None,
    }


def _as_key(name: str) -> str:
    """Return the name of a figure as a key of JSON."""
    return name.replace(",", "").replace(" ", "_")


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1_000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _sources(window: ModelWindow) -> str | None:
    """Return the tables that the catalog's row was taken from; None where the window is from another source."""
    row = builtin_index().find(window.model) if window.source == "catalog" else None
    return None if row is None else ", ".join(row.sources)
