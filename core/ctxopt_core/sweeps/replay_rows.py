"""The rows of a replay, their totals, and which settings they recommend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from math import fsum
from typing import Any

from ctxopt_core.history.policy import HistoryPolicy

EVIDENCE_MARGIN = 0.02
"""How much less evidence than the best the recommended settings may show: a fiftieth of what must survive. Differences
below it are noise in the sets of `make evaluate`, whose strategies differ by 4 points and more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRow:
    """One request of a replayed conversation, fitted with one of the settings. Without a fit there is an `error`.

    Args:
        request: Which of the requests, from 0.
        messages: How many messages the conversation had then.
        strategy: The name of the settings.
        budget: The input budget in tokens.
        tokens_before: Tokens of the request as it came.
        tokens_after: Tokens that were sent.
        cached_tokens: Tokens of these that the provider's prompt cache has, since they repeat the request before.
        full_price_tokens: Tokens at the full price that cost as much as the request does with the cache.
        cost: Its input cost in USD without the cache, where the price is known.
        cost_with_cache: Its input cost in USD with the cache.
        messages_kept: Messages that are kept, whole or in part.
        evidence: The part of what must survive that is in the request; None where nothing is asked for.
        seconds: How long the fit took.
        error: Why there is no fit.
    """

    request: int
    messages: int
    strategy: str
    budget: int
    tokens_before: int
    tokens_after: int | None = None
    cached_tokens: int | None = None
    full_price_tokens: float | None = None
    cost: float | None = None
    cost_with_cache: float | None = None
    messages_kept: int | None = None
    evidence: float | None = None
    seconds: float = field(default=0.0, compare=False)
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the columns by name."""
        return asdict(self)


REPLAY_COLUMNS: tuple[str, ...] = tuple(column.name for column in fields(ReplayRow))
"""The names of the columns of a replay, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayTotal:
    """All requests of a conversation with one of the settings.

    Args:
        strategy: The name of the settings.
        requests: How many requests there were.
        failed: How many of them could not be fitted; the other figures are of those that could.
        tokens_before: Tokens of all requests as they came.
        tokens_after: Tokens that were sent.
        cached_tokens: Tokens of these that the provider's prompt cache had.
        cached_share: `cached_tokens` over `tokens_after`.
        relative_cost: The cost with the cache over that of sending each request whole without one.
        cost: The input cost in USD without the cache, where the price is known.
        cost_with_cache: The input cost in USD with the cache.
        evidence: The mean evidence of the requests that have any.
        seconds: How long the fits took.
    """

    strategy: str
    requests: int
    failed: int
    tokens_before: int
    tokens_after: int
    cached_tokens: int
    cached_share: float
    relative_cost: float
    cost: float | None
    cost_with_cache: float | None
    evidence: float | None
    seconds: float = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return asdict(self)


def total_of(strategy: str, rows: Sequence[ReplayRow]) -> ReplayTotal:
    """Return the total of the rows of one of the settings."""
    sent = [row for row in rows if row.error is None]
    evidence = [row.evidence for row in sent if row.evidence is not None]
    before, after = sum(row.tokens_before for row in sent), sum(row.tokens_after or 0 for row in sent)
    cached = sum(row.cached_tokens or 0 for row in sent)
    return ReplayTotal(
        strategy=strategy,
        requests=len(rows),
        failed=len(rows) - len(sent),
        tokens_before=before,
        tokens_after=after,
        cached_tokens=cached,
        cached_share=cached / after if after else 0.0,
        relative_cost=fsum(row.full_price_tokens or 0 for row in sent) / before if before else 0.0,
        cost=_sum([row.cost for row in sent]),
        cost_with_cache=_sum([row.cost_with_cache for row in sent]),
        evidence=fsum(evidence) / len(evidence) if evidence else None,
        seconds=fsum(row.seconds for row in rows),
    )


def _sum(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return fsum(known) if known and len(known) == len(amounts) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """Which settings a replay recommends.

    Args:
        strategy: The name of the settings.
        history: The history policy of these settings.
        reason: Why they are recommended, in one sentence.
    """

    strategy: str
    history: HistoryPolicy
    reason: str


def recommended_total(totals: Sequence[ReplayTotal], margin: float) -> tuple[ReplayTotal, str]:
    """Return the total of the settings that are recommended, and the reason.

    The rule: of the settings with which the fewest requests fail, those whose evidence is at most `margin` below the
    best of them are equal, and the cheapest of these with the cache is recommended. Where two cost the same, it is the
    one with more evidence, then the one that was named first. Without evidence the cost alone decides.
    """
    fewest = min(total.failed for total in totals)
    able = [total for total in totals if total.failed == fewest]
    shown = [total.evidence for total in able if total.evidence is not None]
    best = max(shown, default=None)
    equal = able if best is None else [one for one in able if (one.evidence or 0) >= best - margin]
    found = min(equal, key=lambda one: (_price(one), -(one.evidence or 0)))
    cost = f"{found.relative_cost:.0%} of what whole requests cost without a cache"
    if found.cost_with_cache is not None:
        cost = f"${found.cost_with_cache:.4g}"
    if len(totals) == 1:
        return found, f"it is the only one, and costs {cost}"
    if best is None:
        return found, f"it is the cheapest with the prompt cache ({cost}); nothing says what must survive"
    among = f"{len(equal)} whose evidence is within {margin:g} of the best ({best:.3g})"
    failing = f" of those that fail least ({fewest} of {found.requests} requests)" if fewest else ""
    if len(equal) == 1:
        return found, f"it alone is within {margin:g} of the best evidence ({best:.3g}){failing}, and costs {cost}"
    return found, f"it is the cheapest with the prompt cache ({cost}) of the {among}{failing}"


def _price(total: ReplayTotal) -> float:
    return total.relative_cost if total.cost_with_cache is None else total.cost_with_cache
