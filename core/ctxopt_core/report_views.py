"""A report as a dictionary and as a table of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ctxopt_core.document_table import by_state, have_scores, more_rows, most_telling, score_text, what_became
from ctxopt_core.sheet_text import aligned
from ctxopt_core.visible_text import beginning

if TYPE_CHECKING:
    from ctxopt_core.report import DocumentReport, FitReport, HistoryReport

_MOST_ROWS = 12
_LONGEST_ID = 40


def as_dict(report: FitReport) -> dict[str, Any]:
    """Return every figure of a report as plain values."""
    return {
        "model": report.model,
        "context_window": report.context_window,
        "window_source": report.window_source,
        "encoding": report.encoding,
        "exact": report.exact,
        "input_budget": report.input_budget,
        "reserve": report.reserve,
        "fixed": report.fixed,
        "input_tokens": report.input_tokens,
        "output_tokens": report.output_tokens,
        "saved": report.saved,
        "ratio": report.ratio,
        "within_budget": report.within_budget,
        "untouched": report.untouched,
        "components": {name: asdict(component) for name, component in report.components.items()},
        "documents": [
            {**asdict(row), "tokens": tokens}
            for row, tokens in zip(report.documents, report.document_tokens, strict=True)
        ],
        "cumulative_score": report.cumulative_score,
        "selection": report.selection,
        "score_order_share": report.score_order_share,
        "repeated_tokens": report.repeated_tokens,
        "history": {
            **asdict(report.history),
            "dropped": report.history.dropped,
            "strip": [asdict(stretch) for stretch in report.history_strip],
        },
        "sections": [
            {**asdict(row), "tokens": tokens}
            for row, tokens in zip(report.sections, report.section_tokens, strict=True)
        ],
        "strategy": report.strategy,
        "fell_back_to": report.fell_back_to,
        "notes": list(report.notes),
        "cost": None if report.cost is None else asdict(report.cost),
    }


def as_event(report: FitReport) -> dict[str, Any]:
    """Return the figures that are known without counting the whole input, as plain values."""
    states = [row.state for row in report.documents]
    return {
        "model": report.model,
        "context_window": report.context_window,
        "encoding": report.encoding,
        "exact": report.exact,
        "input_budget": report.input_budget,
        "reserve": report.reserve,
        "fixed": report.fixed,
        "output_tokens": report.counted_output,
        "untouched": report.untouched,
        "documents": {state: states.count(state) for state in ("kept", "partial", "dropped")},
        "selection": report.selection,
        "messages": {"given": report.history.messages, "kept": report.history.kept},
        "history": _history_known(report.history),
        "sections": _sections_known(report),
        "components": None if report.budgets is None else _known(report.budgets, report.after),
        "strategy": report.strategy,
        "fell_back_to": report.fell_back_to,
    }


def _history_known(history: HistoryReport) -> dict[str, Any]:
    return {
        "shortened": history.shortened,
        "summarised": history.summarised,
        "dropped": dict(history.reasons),
        "turns": history.turns,
    }


def _sections_known(report: FitReport) -> list[dict[str, Any]]:
    """Sections that were not cut are as large as they came, and not counted for this."""
    tokens = (None,) * len(report.sections) if report.untouched else report.section_tokens
    return [{**asdict(row), "tokens": count} for row, count in zip(report.sections, tokens, strict=True)]


def _known(budgets: Mapping[str, int], after: Mapping[str, int]) -> dict[str, dict[str, int]]:
    return {name: {"budget": budget, "after": after.get(name, 0)} for name, budget in budgets.items()}


def as_text(report: FitReport) -> str:
    """Return a report as an aligned table."""
    lines = [*_head(report), "", *_components(report)]
    if report.documents:
        lines += ["", *_documents(report)]
    if report.history.messages:
        lines += ["", *_history(report)]
    lines += _sections(report)
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines)


def _head(report: FitReport) -> list[str]:
    rows = facts_of(report)
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}  {value}" for name, value in rows]


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
        ("rendered request", f"{report.input_tokens:,} -> {report.output_tokens:,} tokens"),
        ("saved", f"{report.saved:,} tokens ({1 - report.ratio:.0%})"),
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


def _components(report: FitReport) -> list[str]:
    rows = [("part", "budget", "before", "after"), ("fixed", "", f"{report.fixed:,}", f"{report.fixed:,}")]
    for name, component in report.components.items():
        budget = "" if component.budget is None else f"{component.budget:,}"
        rows.append((name, budget, f"{component.before:,}", f"{component.after:,}"))
    return aligned(rows, (False, True, True, True))


def _documents(report: FitReport) -> list[str]:
    scored = report.cumulative_score is not None and have_scores(report.documents)
    score = f"; score kept {report.cumulative_score:.4g}" if scored else ""
    chosen = "" if report.selection is None else f"; selection {report.selection}"
    if report.score_order_share is not None:
        chosen += f" (score order reaches {report.score_order_share:.1%} of it)"
    shown = most_telling(report.documents)[:_MOST_ROWS]
    rows = [("document", "state", "score", "tokens")]
    rows += [_document_row(report.documents[index], report.document_tokens[index]) for index in shown]
    more = [text] if (text := more_rows(len(report.documents), len(shown))) else []
    heading = f"documents: {by_state(report.documents)}{score}{chosen}"
    return [heading, *aligned(rows, (False, False, True, True)), *more]


def _document_row(row: DocumentReport, tokens: int) -> tuple[str, str, str, str]:
    return beginning(row.id, _LONGEST_ID), what_became(row), score_text(row.score), f"{tokens:,}"


def _history(report: FitReport) -> list[str]:
    history = report.history
    reasons = ", ".join(f"{count} {reason}" for reason, count in history.reasons.items())
    kept = f"{history.kept} of {history.messages} messages kept, {history.shortened} of them shortened"
    kept += f", {history.summarised} summarised" if history.summarised else ""
    turns = "1 earlier turn" if history.turns == 1 else f"{history.turns} earlier turns"
    return [f"history: {kept}, {turns}; dropped: {reasons or 'none'}"]


def _sections(report: FitReport) -> list[str]:
    rows = zip(report.sections, report.section_tokens, strict=True)
    return [f"{row.name}: {row.kept} of {row.entries} entries kept, {tokens:,} tokens" for row, tokens in rows]
