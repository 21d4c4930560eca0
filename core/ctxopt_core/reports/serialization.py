"""A fit report as plain values: the whole report, and the event for callbacks and logs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxopt_core.reports.fit_report import FitReport


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
        "tokens_before": report.tokens_before,
        "tokens_after": report.tokens_after,
        "tokens_saved": report.tokens_saved,
        "ratio": report.ratio,
        "within_budget": report.within_budget,
        "unchanged": report.unchanged,
        "components": {name: asdict(component) for name, component in report.components.items()},
        "documents": [
            {**asdict(row), "tokens": tokens}
            for row, tokens in zip(report.documents, report.document_tokens, strict=True)
        ],
        "cumulative_score": report.cumulative_score,
        "selection": report.selection,
        "score_order_share": report.score_order_share,
        "reused_prefix_tokens": report.reused_prefix_tokens,
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
        "fallback": report.fallback,
        "notes": list(report.notes),
        "cost": None if report.cost is None else asdict(report.cost),
    }


def as_event(report: FitReport) -> dict[str, Any]:
    """Return the figures that are known without counting the whole input, as plain values."""
    states, history = [row.state for row in report.documents], report.history
    # Sections that were not cut are as large as they came, and are not counted for this.
    tokens = (None,) * len(report.sections) if report.unchanged else report.section_tokens
    return {
        "model": report.model,
        "context_window": report.context_window,
        "encoding": report.encoding,
        "exact": report.exact,
        "input_budget": report.input_budget,
        "reserve": report.reserve,
        "fixed": report.fixed,
        "tokens_after": report.counted_after,
        "unchanged": report.unchanged,
        "documents": {state: states.count(state) for state in ("kept", "partial", "dropped")},
        "selection": report.selection,
        "messages": {"given": history.messages, "kept": history.kept},
        "history": {
            "shortened": history.shortened,
            "summarized": history.summarized,
            "dropped": dict(history.reasons),
            "turns": history.turns,
        },
        "sections": [{**asdict(row), "tokens": count} for row, count in zip(report.sections, tokens, strict=True)],
        "components": None
        if report.budgets is None
        else {name: {"budget": budget, "after": report.after.get(name, 0)} for name, budget in report.budgets.items()},
        "strategy": report.strategy,
        "fallback": report.fallback,
    }
