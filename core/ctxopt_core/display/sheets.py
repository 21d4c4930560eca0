"""Which sheet shows which value: allocation, packing, trimming, report, sweep."""

from __future__ import annotations

from collections import Counter
from functools import singledispatch

from ctxopt_core.budget.shares import Allocation
from ctxopt_core.display.document_table import half_and_half, more_rows
from ctxopt_core.display.history_sheet import history_bar
from ctxopt_core.display.report_sheet import sheet_of_report
from ctxopt_core.display.sheet import Bar, Column, Row, Segment, Sheet, Table
from ctxopt_core.documents.packing import Packing
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.fitting.report_builder import message_stretches
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.reports.fit_report import FitReport

_MOST_ROWS = 40
_MOST_NOTES = 20


@singledispatch
def sheet_of(value: object) -> Sheet:
    """Return what is shown of a value. Each kind of value that is shown registers its own function here.

    Raises:
        TypeError: No function is registered for this kind of value.
    """
    message = f"nothing says how a {type(value).__name__} is shown; register a function with `sheet_of.register`"
    raise TypeError(message)


@sheet_of.register
def _(report: FitReport) -> Sheet:
    return sheet_of_report(report)


@sheet_of.register
def _(fitted: FittedContext) -> Sheet:
    return sheet_of_report(fitted.report)


@sheet_of.register
def _(allocation: Allocation) -> Sheet:
    """Return what each component may use."""
    tokens, total = allocation.as_dict(), allocation.total
    bar = Bar(
        label=f"The components may use {total:,} tokens",
        segments=tuple(Segment(name=name, amount=amount, kind=name) for name, amount in tokens.items()),
    )
    rows = (
        Row(cells=(name, f"{amount:,}", f"{amount / total:.1%}" if total else ""), kind=name)
        for name, amount in tokens.items()
    )
    columns = (Column(name="component"), Column(name="tokens", numeric=True), Column(name="share", numeric=True))
    table = Table(caption="Tokens by component", columns=columns, rows=tuple(rows))
    return Sheet(title="Allocation", bars=(bar,), tables=(table,))


@sheet_of.register
def _(packing: Packing) -> Sheet:
    """Return which documents are kept, by their index."""
    counts = {"kept": len(packing.whole), "partial": len(packing.partial), "dropped": len(packing.dropped)}
    told = ", ".join(f"{count:,} {state}" for state, count in counts.items())
    bar = Bar(
        label=f"Documents: {told}",
        segments=tuple(Segment(name=state, amount=count, kind=state) for state, count in counts.items()),
        unit="documents",
    )
    share = packing.score_order_share
    facts = [
        ("tokens kept", f"{packing.tokens:,}"),
        ("score kept", f"{packing.cumulative_score:.4g}"),
        ("document selection", packing.selection or ""),
        ("score order reaches", "" if share is None else f"{share:.1%} of it"),
    ]
    shown = tuple((name, value) for name, value in facts if value)
    return Sheet(title="Packed documents", facts=shown, bars=(bar,), tables=(_packing_table(packing),))


def _packing_table(packing: Packing) -> Table:
    went = list(dict.fromkeys((*packing.notable_drops, *packing.dropped)))
    shown = half_and_half((*packing.partial, *packing.whole), went, _MOST_ROWS)
    ranks = {index: rank for rank, index in enumerate(packing.ranking, start=1)}
    names = ("document", "rank", "tokens")
    return Table(
        caption="Documents by index",
        columns=(*(Column(name=name, numeric=True) for name in names), Column(name="outcome")),
        rows=tuple(_packing_row(packing, index, ranks.get(index)) for index in shown),
        more=more_rows(len(packing.kept) + len(went), len(shown)),
    )


def _packing_row(packing: Packing, index: int, rank: int | None) -> Row:
    reason = packing.dropped.get(index)
    state = "partial" if index in packing.texts else "kept" if reason is None else "dropped"
    tokens = packing.costs.get(index)
    told = state if reason is None else f"{state} ({reason})"
    cells = (f"{index}", "" if rank is None else f"{rank}", "" if tokens is None else f"{tokens:,}", told)
    return Row(cells=cells, kind=state)


@sheet_of.register
def _(trimming: Trimming) -> Sheet:
    """Return what is kept of a conversation."""
    kept = frozenset(trimming.kept)
    reasons = Counter(trimming.reason(index) for index in range(trimming.length) if index not in kept)
    facts = [
        ("messages", f"{len(kept):,} of {trimming.length:,} kept, {len(trimming.shortened):,} of them shortened"),
        ("dropped", ", ".join(f"{count:,} {reason}" for reason, count in reasons.items()) or "none"),
        ("turns kept", f"{trimming.turns:,}, {trimming.whole_turns:,} of them whole"),
        ("tokens kept", f"{trimming.tokens:,}"),
        ("strategy", trimming.strategy),
        ("fallback", trimming.fallback or ""),
        ("placeholder", "no" if trimming.placeholder is None else "yes"),
    ]
    return Sheet(
        title="Trimmed conversation",
        facts=tuple((name, value) for name, value in facts if value),
        bars=(history_bar(message_stretches(trimming), "messages"),),
        notes=trimming.notes[:_MOST_NOTES],
    )
