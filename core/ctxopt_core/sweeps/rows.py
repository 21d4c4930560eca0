"""The rows of a sweep, and the curves through them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import fsum
from typing import Any

from ctxopt_core.budget.shares import COMPONENTS
from ctxopt_core.reports.fit_report import FitReport


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRow:
    """A setting, and the figures of a request that was fitted with it. Without a fit there is an `error` instead.

    Args:
        request: Which of the requests, from 0.
        budget: The input budget in tokens.
        fraction: The budget as a part of the uncut request; None where it was given in tokens.
        system_share, query_share, documents_share, history_share: The shares in percent, as they were given.
        strategy: The label of the history policy.
        selection: The label of the document policy.
        fixed: Tokens that are not budgeted.
        system_before, query_before, documents_before, history_before: Tokens of each component as it came.
        tokens_before: Tokens of the rendered request as it came.
        system_after, query_after, documents_after, history_after: Tokens of each component that are kept.
        tokens_after: Tokens of the rendered request that was fitted.
        tokens_saved: Tokens that were saved.
        ratio: `tokens_after` over `tokens_before`.
        documents_kept, documents_partial, documents_dropped: Documents that are kept whole, kept in part and dropped.
        messages_kept: Messages that are kept, `messages_shortened` of them in part.
        messages_summarized, messages_dropped: Messages that a summary replaces, and messages that are gone without one.
        evidence: The evidence in the fitted request, as the caller measures it.
        cost: Its input cost in USD, where the price is known.
        cost_saved: The cost in USD that was saved.
        fallback: The strategy that was used instead of one that failed.
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
_NUMBER_COLUMNS = tuple(name for name in COLUMNS if name not in TEXT_COLUMNS)
DECIMAL_COLUMNS = frozenset(
    {"fraction", "ratio", "evidence", "cost", "cost_saved", *(f"{name}_share" for name in COMPONENTS)}
)


def figure_columns(report: FitReport) -> dict[str, Any]:
    """Return the columns of the figures of a report."""
    components, history, cost = report.components, report.history, report.cost
    documents = Counter(row.state for row in report.documents)
    whole = ("fixed", "tokens_before", "tokens_after", "tokens_saved", "ratio", "fallback")
    return {
        **{name: getattr(report, name) for name in whole},
        **{f"{name}_before": components[name].before for name in COMPONENTS},
        **{f"{name}_after": components[name].after for name in COMPONENTS},
        **{f"documents_{state}": documents[state] for state in ("kept", "partial", "dropped")},
        **{f"messages_{name}": getattr(history, name) for name in ("kept", "shortened", "summarized", "dropped")},
        "cost": None if cost is None else cost.input,
        "cost_saved": None if cost is None else cost.saved,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One curve: its name, and its points by ascending `x`."""

    name: str
    points: tuple[tuple[float, float], ...]


def curves_of(rows: Sequence[SweepRow], x: str, y: str, by: str | None) -> tuple[Curve, ...]:
    """Return a curve for each value of `by` with the mean of `y` at each `x`; no point where a row has an error."""
    for name, column in (("x", x), ("y", y)):
        _check_column(name, column, _NUMBER_COLUMNS)
        if all(getattr(row, column) is None for row in rows):
            remedy = "give `evidence` to `sweep`, or " if column == "evidence" else ""
            message = f"`{name}` must be a column with numbers, but no row has `{column}`; {remedy}choose another one"
            raise ValueError(message)
    if by is not None:
        _check_column("by", by, ("shares", *COLUMNS))
    grouped: dict[str, dict[float, list[SweepRow]]] = {}
    for row in rows:
        at = getattr(row, x)
        if at is not None:
            group = "" if by is None else shares_of(row) if by == "shares" else str(getattr(row, by))
            grouped.setdefault(group, {}).setdefault(at, []).append(row)
    curves = (Curve(name=name, points=_means(groups, y)) for name, groups in grouped.items())
    return tuple(curve for curve in curves if curve.points)


def shares_of(row: SweepRow) -> str:
    """Return the four shares of a row in percent, like `10/15/50/25`."""
    return "/".join(f"{getattr(row, f'{name}_share'):g}" for name in COMPONENTS)


def _means(groups: dict[float, list[SweepRow]], y: str) -> tuple[tuple[float, float], ...]:
    points: list[tuple[float, float]] = []
    for at in sorted(groups):
        rows = groups[at]
        found: list[Any] = [value for row in rows if (value := getattr(row, y)) is not None]
        if found and not any(row.error for row in rows):
            points.append((at, fsum(found) / len(found)))
    return tuple(points)


def _check_column(name: str, column: object, allowed: Sequence[str]) -> None:
    if column not in allowed:
        message = f"`{name}` must be one of {', '.join(allowed)}, got {column!r}"
        raise ValueError(message)
