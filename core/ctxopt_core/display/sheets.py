"""Which sheet shows which value: allocation, packing, trimming, report, use of the window, fitted request."""

from __future__ import annotations

from collections import Counter
from functools import singledispatch

from ctxopt_core.budget.shares import Allocation
from ctxopt_core.display.meter import sheet_of_usage
from ctxopt_core.display.report_sheet import MOST_NOTES, MOST_ROWS, half_and_half, history_bar, sheet_of_report
from ctxopt_core.display.sheet import Bar, Row, Sheet, Table, filled, in_words, more_rows, segments
from ctxopt_core.documents.packing import Packing
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.fitting.report_builder import message_stretches
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.reports.fit_report import FitReport
from ctxopt_core.reports.usage import ContextUsage


@singledispatch
def sheet_of(value: object) -> Sheet:
    """Return what is shown of a value. Each kind of value that is shown registers its own function here.

    Raises:
        TypeError: No function is registered for this kind of value.
    """
    message = f"nothing says how a {type(value).__name__} is shown; register a function with `sheet_of.register`"
    raise TypeError(message)


sheet_of.register(FitReport, sheet_of_report)
sheet_of.register(ContextUsage, sheet_of_usage)


@sheet_of.register
def _(fitted: FittedContext) -> Sheet:
    return sheet_of_report(fitted.report)


@sheet_of.register
def _(allocation: Allocation) -> Sheet:
    """Return how many tokens each component may use."""
    tokens, total = allocation.as_dict(), allocation.total
    rows = (
        Row(cells=(name, f"{amount:,}", f"{amount / total:.1%}" if total else ""), kind=name)
        for name, amount in tokens.items()
    )
    numeric = ("tokens", "share")
    table = Table(caption="Tokens by component", columns=("component", *numeric), numeric=numeric, rows=tuple(rows))
    bar = Bar(label=f"The components may use {total:,} tokens", segments=segments(tokens))
    return Sheet(title="Allocation", bars=(bar,), tables=(table,))


@sheet_of.register
def _(packing: Packing) -> Sheet:
    """Return which documents are kept, by their index."""
    counts = {"kept": len(packing.whole), "partial": len(packing.partial), "dropped": len(packing.dropped)}
    share = packing.score_order_share
    facts = [
        ("tokens kept", f"{packing.tokens:,}"),
        ("score kept", f"{packing.cumulative_score:.4g}"),
        ("document selection", packing.selection or ""),
        ("score order reaches", "" if share is None else f"{share:.1%} of it"),
    ]
    return Sheet(
        title="Packed documents",
        facts=filled(facts),
        bars=(Bar(label=f"Documents: {in_words(counts)}", segments=segments(counts)),),
        tables=(_packing_table(packing),),
    )


def _packing_table(packing: Packing) -> Table:
    dropped = list(dict.fromkeys((*packing.notable_drops, *packing.dropped)))
    shown = half_and_half((*packing.partial, *packing.whole), dropped, MOST_ROWS)
    ranks = {index: rank for rank, index in enumerate(packing.ranking, start=1)}
    rows = []
    for index in shown:
        reason, tokens = packing.dropped.get(index), packing.costs.get(index)
        state = "partial" if index in packing.texts else "kept" if reason is None else "dropped"
        outcome = state if reason is None else f"{state} ({reason})"
        cells = (f"{index}", f"{ranks.get(index, '')}", "" if tokens is None else f"{tokens:,}", outcome)
        rows.append(Row(cells=cells, kind=state))
    numeric = ("document", "rank", "tokens")
    return Table(
        caption="Documents by index",
        columns=(*numeric, "outcome"),
        numeric=numeric,
        rows=tuple(rows),
        more=more_rows(len(packing.kept) + len(dropped), len(shown)),
    )


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
        ("recalled", f"{len(trimming.recalled):,} messages" if trimming.recalled else ""),
    ]
    return Sheet(
        title="Trimmed conversation",
        facts=filled(facts),
        bars=(history_bar(message_stretches(trimming), "messages"),),
        notes=trimming.notes[:MOST_NOTES],
    )
