"""One row of a sweep: a setting, and what became of a request with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import Any

from ctxopt_core.budget.shares import COMPONENTS, Shares
from ctxopt_core.reports.fit_report import FitReport


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRow:
    """A setting, and what became of a request with it. Without a fit there are no figures, but an `error`.

    Args:
        request: Which of the requests, from 0.
        budget: The input budget in tokens.
        fraction: The part of the uncut request that was asked for; None where the budget was given in tokens.
        system_share: The share of the system prompt in percent, as it was given; so are the next three.
        query_share: The share of the query.
        documents_share: The share of the documents.
        history_share: The share of the history.
        strategy: What the history policy is called.
        selection: What the document policy is called.
        fixed: Tokens that are not budgeted.
        system_before: Tokens of the system prompt as it came; so are the next three.
        query_before: Tokens of the query.
        documents_before: Tokens of the documents.
        history_before: Tokens of the history.
        tokens_before: What the request counted as it came, rendered.
        system_after: Tokens that are left of the system prompt; so are the next three.
        query_after: Tokens that are left of the query.
        documents_after: Tokens that are left of the documents.
        history_after: Tokens that are left of the history.
        tokens_after: What the fitted request counts, rendered.
        tokens_saved: Tokens that were saved.
        ratio: Output over input.
        documents_kept: Documents that stay whole.
        documents_partial: Documents that stay in part.
        documents_dropped: Documents that went.
        messages_kept: Messages that stay, whole or shortened.
        messages_shortened: Messages that stay in part.
        messages_summarized: Messages that a summary stands for.
        messages_dropped: Messages that went.
        evidence: What the caller's evidence says of the fitted request.
        cost: What it costs as input, in USD, where the price is known.
        cost_saved: What the request as it came would have cost more.
        fallback: What was used instead where a strategy failed.
        error: Why there is no fit.
    """

    request: int
    budget: int
    fraction: float | None
    system_share: float
    query_share: float
    documents_share: float
    history_share: float
    strategy: str
    selection: str
    fixed: int | None = None
    system_before: int | None = None
    query_before: int | None = None
    documents_before: int | None = None
    history_before: int | None = None
    tokens_before: int | None = None
    system_after: int | None = None
    query_after: int | None = None
    documents_after: int | None = None
    history_after: int | None = None
    tokens_after: int | None = None
    tokens_saved: int | None = None
    ratio: float | None = None
    documents_kept: int | None = None
    documents_partial: int | None = None
    documents_dropped: int | None = None
    messages_kept: int | None = None
    messages_shortened: int | None = None
    messages_summarized: int | None = None
    messages_dropped: int | None = None
    evidence: float | None = None
    cost: float | None = None
    cost_saved: float | None = None
    fallback: str | None = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the columns by name."""
        return {name: getattr(self, name) for name in COLUMNS}


COLUMNS: tuple[str, ...] = tuple(field.name for field in fields(SweepRow))
"""The names of all columns, in their order."""

TEXT_COLUMNS = frozenset({"strategy", "selection", "fallback", "error"})
DECIMAL_COLUMNS = frozenset(
    {"fraction", "ratio", "evidence", "cost", "cost_saved", *(f"{name}_share" for name in COMPONENTS)}
)


def share_columns(shares: Shares) -> dict[str, float]:
    """Return the columns that tell the shares."""
    return {f"{name}_share": float(getattr(shares, name)) for name in COMPONENTS}


def figure_columns(report: FitReport) -> dict[str, Any]:
    """Return the columns that a report tells."""
    components = report.components
    documents = Counter(row.state for row in report.documents)
    cost = report.cost
    return {
        "fixed": report.fixed,
        **{f"{name}_before": components[name].before for name in COMPONENTS},
        **{f"{name}_after": components[name].after for name in COMPONENTS},
        "tokens_before": report.tokens_before,
        "tokens_after": report.tokens_after,
        "tokens_saved": report.tokens_saved,
        "ratio": report.ratio,
        "documents_kept": documents["kept"],
        "documents_partial": documents["partial"],
        "documents_dropped": documents["dropped"],
        "messages_kept": report.history.kept,
        "messages_shortened": report.history.shortened,
        "messages_summarized": report.history.summarized,
        "messages_dropped": report.history.dropped,
        "cost": None if cost is None else cost.input,
        "cost_saved": None if cost is None else cost.saved,
        "fallback": report.fallback,
    }
