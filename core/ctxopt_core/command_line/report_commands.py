"""`plan` and `explain`: the report of a fit, and why each document and each turn is kept or dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ctxopt_core.command_line.errors import EXIT_CODES, plain_messages
from ctxopt_core.command_line.explanation import SELECTIONS, Explained
from ctxopt_core.command_line.fitting_options import choices_of, cutting_options, limit_options
from ctxopt_core.command_line.output import Format, format_option, show
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.command_line.request_input import file_argument, line_option, request_of_file
from ctxopt_core.display.text import aligned
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.formats.json_values import as_json
from ctxopt_core.reports.fit_report import FitReport
from ctxopt_core.text.display_text import preview

_LONGEST_NAME, _LONGEST_PREVIEW = 40, 80  # characters: both fit in one line of a wide terminal


@click.command("plan", short_help="Show the report of a fit, without its result.", epilog=EXIT_CODES)
@file_argument
@limit_options
@cutting_options
@line_option
@format_option
def plan_command(file: Path, line: int | None, form: Format, **options: Any) -> None:
    """Show what `fit` would keep, cut and drop of the request in FILE (- for the standard input), in tokens."""
    with plain_messages():
        fitter = RequestFitter(choices_of(**options))
        stored, _ = request_of_file(file, line)
        report = fitter.fit(stored).report
        if form == "html":
            show(report.to_html(standalone=True))
        else:
            show(report.to_text() if form == "table" else as_json(report.to_dict(), indent=2).decode())


@click.command("explain", short_help="Say why documents and turns are kept or dropped.", epilog=EXIT_CODES)
@file_argument
@limit_options
@cutting_options
@line_option
@click.option("--show-content", is_flag=True, help="Show the beginnings of texts as well; without it, figures alone.")
@format_option
def explain_command(*, file: Path, line: int | None, show_content: bool, form: Format, **options: Any) -> None:
    """Say why each document and each turn of the request in FILE is kept or dropped.

    A turn is a user message and everything up to the next one. FILE may be - for the standard input.
    """
    with plain_messages():
        fitter = RequestFitter(choices_of(**options))
        stored, _ = request_of_file(file, line)
        fitted = fitter.fit(stored)
        if form == "html":
            show(fitted.to_html(show_content=show_content, standalone=True))
            return
        rows = fitter.explain(stored, fitted)
        previews = [_preview(row, fitted) for row in rows] if show_content else None
        shown = _as_json(rows, fitted.report, previews) if form == "json" else _as_table(rows, fitted.report, previews)
        show(shown)


def _as_json(rows: Sequence[Explained], report: FitReport, previews: Sequence[str] | None) -> str:
    parts = [asdict(row) for row in rows]
    if previews is not None:
        parts = [{**part, "content": content} for part, content in zip(parts, previews, strict=True)]
    head = {
        "input_budget": report.input_budget,
        "tokens_before": report.tokens_before,
        "tokens_after": report.tokens_after,
        "unchanged": report.unchanged,
        "budgets": None if report.budgets is None else dict(report.budgets),
        "strategy": report.strategy,
        "selection": report.selection,
    }
    return as_json({**head, "parts": parts, "notes": list(report.notes)}, indent=2).decode()


def _as_table(rows: Sequence[Explained], report: FitReport, previews: Sequence[str] | None) -> str:
    cells = [("part", "outcome", "before", "after", "why")]
    for row in rows:
        name = preview(f"{row.kind} {row.name}", _LONGEST_NAME)
        cells.append((name, row.outcome, f"{row.before:,}", f"{row.after:,}", row.why))
    lines = [line.rstrip() for line in aligned(cells, (False, False, True, True, False))]
    if previews is not None:
        lines[1:] = [f"{line}\n    | {content}" for line, content in zip(lines[1:], previews, strict=True)]
    head = [f"{report.tokens_before:,} -> {report.tokens_after:,} tokens, at most {report.input_budget:,}"]
    if report.budgets is not None:
        shared = ", ".join(f"{name} {tokens:,}" for name, tokens in report.budgets.items())
        head.append(f"the components may take: {shared}; {report.fixed:,} are fixed")
    if report.selection is not None:
        head.append(f"documents: {SELECTIONS[report.selection]}")
    return "\n".join([*head, "", *lines, *(f"note: {note}" for note in report.notes)])


def _preview(row: Explained, fitted: FittedContext) -> str:
    request = fitted.request
    if row.kind == "document":
        text = request.documents[row.start].text or ""
    elif row.kind == "turn" or row.name.startswith("message"):
        message = request.history[row.start]
        text = " ".join([f"{message.role}:", *message.texts])
    else:
        text = (request.system_texts if row.kind == "system" else request.query_texts)[row.start]
    return preview(text, _LONGEST_PREVIEW)
