"""A fit report as a sheet: the window, its parts, the documents, the conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxopt_core.display.document_table import (
    document_points,
    document_table,
    have_scores,
    more_rows,
)
from ctxopt_core.display.history_sheet import history_bar, history_table
from ctxopt_core.display.sheet import FULL, Bar, Column, Row, Segment, Sheet, Table

if TYPE_CHECKING:
    from ctxopt_core.reports.fit_report import FitReport

_MOST_SECTIONS = 40
_MOST_NOTES = 20
# A request many times as large as the window would leave nothing to be seen of it on the same scale.
_LARGEST_ON_ONE_SCALE = 4


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
    if report.unchanged:
        return f"The request fits as it is: {report.tokens_after:,} {allowed}"
    return f"The request was cut from {report.tokens_before:,} to {report.tokens_after:,} {allowed}"


def _choices(report: FitReport) -> list[tuple[str, str]]:
    if report.unchanged:
        return []
    score = "" if report.cumulative_score is None else f"{report.cumulative_score:.4g}"
    share = "" if report.score_order_share is None else f"{report.score_order_share:.1%} of it"
    repeated = "" if report.reused_prefix_tokens is None else f"{report.reused_prefix_tokens:,} tokens"
    rows = [
        ("history strategy", report.strategy),
        ("fallback", report.fallback or ""),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowParts:
    """What a window is divided into, in tokens.

    Args:
        budget: The input budget.
        given: The whole request as it was given.
        sent: The whole request as it is sent.
        fixed_before: What is not budgeted, as it was given; with sections in it, before they were cut.
        fixed: The same as it is sent.
        before: The components as they were given.
        after: The components as they are sent.
        free: What is left of the input budget.
        reserve: What is kept free for the answer and for safety.
        outside: What of the window neither the input budget nor the reserve covers.
    """

    budget: int
    given: int
    sent: int
    fixed_before: int
    fixed: int
    before: Mapping[str, int]
    after: Mapping[str, int]
    free: int
    reserve: int
    outside: int


def window_parts(report: FitReport) -> WindowParts:
    """Return what the window of a report is divided into."""
    before = {name: component.before for name, component in report.components.items()}
    beside = report.tokens_before - sum(before.values())
    known = 0 if report.context_window is None else report.context_window
    return WindowParts(
        budget=report.input_budget,
        given=report.tokens_before,
        sent=report.tokens_after,
        fixed_before=max(report.fixed, beside) if report.sections else report.fixed,
        fixed=report.fixed,
        before=before,
        after={name: component.after for name, component in report.components.items()},
        free=max(0, report.input_budget - report.tokens_after),
        reserve=report.reserve,
        outside=max(0, known - report.input_budget - report.reserve),
    )


def window_bars(parts: WindowParts) -> tuple[Bar, Bar]:
    """Return the bar of the request as it was, and that of the window as it is filled now.

    What of a window is outside the budget is drawn where it is no larger than the rest, and told in words otherwise.
    """
    given = (_segment("fixed", parts.fixed_before), *(_segment(name, n) for name, n in parts.before.items()))
    sent = (_segment("fixed", parts.fixed), *(_segment(name, n) for name, n in parts.after.items()))
    window = [*sent, _segment("free", parts.free), _segment("reserve", parts.reserve)]
    outside = ""
    if parts.outside > parts.budget + parts.reserve:
        outside = f"; another {parts.outside:,} tokens of the window are outside the budget"
    elif parts.outside:
        window.append(Segment(name="outside the budget", amount=parts.outside, kind="outside"))
    before = Bar(label=f"Before: {parts.given:,} tokens", segments=given)
    after = Bar(label=f"After: {parts.sent:,} of at most {parts.budget:,} tokens{outside}", segments=tuple(window))
    return _scaled(before, after)


def _segment(name: str, amount: int) -> Segment:
    return Segment(name=name, amount=amount, kind=name)


def _scaled(before: Bar, after: Bar) -> tuple[Bar, Bar]:
    if not before.total or not after.total or before.total > _LARGEST_ON_ONE_SCALE * after.total:
        times = f", {before.total / after.total:,.0f} times the bar below, and not to its scale" if after.total else ""
        return Bar(label=before.label + times, segments=before.segments), after
    longest = max(before.total, after.total)
    first, second = (
        Bar(label=bar.label, segments=bar.segments, extent=FULL * bar.total // longest) for bar in (before, after)
    )
    return first, second


def facts_of(report: FitReport) -> list[tuple[str, str]]:
    """Return the figures of the whole request as names and texts."""
    source = f" ({report.window_source})" if report.window_source else ""
    window = f"{report.context_window:,}{source}" if report.context_window is not None else "not given"
    counting = "exact" if report.exact else "estimate"
    return [
        ("model", report.model or "not given"),
        ("context window", window),
        ("reserve", f"{report.reserve:,}"),
        ("input budget", f"{report.input_budget:,}"),
        ("counted with", f"{report.encoding} ({counting})"),
        ("rendered request", f"{report.tokens_before:,} -> {report.tokens_after:,} tokens"),
        ("saved", f"{report.tokens_saved:,} tokens ({1 - report.ratio:.0%})"),
        *_cost(report),
    ]


def _cost(report: FitReport) -> list[tuple[str, str]]:
    cost = report.cost
    if cost is None:
        return []
    cached = "" if cost.cached is None else f", {_dollars(cost.cached)} with what repeats read from the cache"
    return [("input cost", f"{_dollars(cost.input)}{cached}; {_dollars(cost.saved)} saved ({cost.source})")]


def _dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4g}"
