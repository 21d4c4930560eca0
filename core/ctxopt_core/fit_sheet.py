"""A report of a fit as a sheet: the window, its parts, the documents, the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxopt_core.document_table import document_points, document_table, have_scores, more_rows
from ctxopt_core.history_sheet import history_bar, history_table
from ctxopt_core.report_views import facts_of
from ctxopt_core.sheet import Column, Row, Sheet, Table
from ctxopt_core.window_bars import WindowParts, window_bars, window_parts

if TYPE_CHECKING:
    from ctxopt_core.report import FitReport

_MOST_SECTIONS = 40
_MOST_NOTES = 20


def sheet_of_report(report: FitReport) -> Sheet:
    """Return all that a report shows."""
    parts = window_parts(report)
    strip = report.history_strip
    tables = [_parts_table(report, parts)]
    if report.documents:
        tables.append(document_table(report.documents, report.document_tokens))
    if report.history.messages:
        tables.append(history_table(report.history, strip))
    if report.sections:
        tables.append(_section_table(report))
    return Sheet(
        title=_title(report),
        facts=(*facts_of(report), *_choices(report)),
        bars=(*window_bars(parts), *([history_bar(strip, "turns")] if strip else [])),
        tables=tuple(tables),
        notes=report.notes[:_MOST_NOTES],
        points=document_points(report.documents, report.document_tokens) if report.documents else (),
    )


def _title(report: FitReport) -> str:
    allowed = f"of at most {report.input_budget:,} tokens"
    if report.untouched:
        return f"The request fits as it is: {report.output_tokens:,} {allowed}"
    return f"The request was cut from {report.input_tokens:,} to {report.output_tokens:,} {allowed}"


def _choices(report: FitReport) -> list[tuple[str, str]]:
    if report.untouched:
        return []
    score = "" if report.cumulative_score is None else f"{report.cumulative_score:.4g}"
    share = "" if report.score_order_share is None else f"{report.score_order_share:.1%} of it"
    repeated = "" if report.repeated_tokens is None else f"{report.repeated_tokens:,} tokens"
    rows = [
        ("history strategy", report.strategy),
        ("fell back to", report.fell_back_to or ""),
        ("document selection", report.selection or ""),
        ("score kept", score if have_scores(report.documents) else ""),
        ("score order reaches", share),
        ("repeats the request before", repeated),
    ]
    return [(name, value) for name, value in rows if value]


def _parts_table(report: FitReport, parts: WindowParts) -> Table:
    rows = [Row(cells=("fixed", "", f"{parts.fixed_before:,}", f"{report.fixed:,}"), kind="fixed")]
    for name, component in report.components.items():
        budget = "" if component.budget is None else f"{component.budget:,}"
        rows.append(Row(cells=(name, budget, f"{component.before:,}", f"{component.after:,}"), kind=name))
    rows.append(Row(cells=("free", "", "", f"{parts.free:,}"), kind="free"))
    rows.append(Row(cells=("reserve", "", "", f"{report.reserve:,}"), kind="reserve"))
    if parts.outside:
        rows.append(Row(cells=("outside the budget", "", "", f"{parts.outside:,}"), kind="outside"))
    return Table(
        caption="Tokens by part of the window",
        columns=(Column(name="part"), *(Column(name=name, numeric=True) for name in ("budget", "before", "after"))),
        rows=tuple(rows),
    )


def _section_table(report: FitReport) -> Table:
    given = list(zip(report.sections, report.section_tokens, strict=True))
    shown = given[:_MOST_SECTIONS]
    return Table(
        caption="Sections",
        columns=(
            Column(name="section", foreign=True),
            *(Column(name=name, numeric=True) for name in ("entries", "kept", "tokens kept")),
        ),
        rows=tuple(Row(cells=(row.name, f"{row.entries:,}", f"{row.kept:,}", f"{tokens:,}")) for row, tokens in shown),
        more=more_rows(len(given), len(shown)),
    )
