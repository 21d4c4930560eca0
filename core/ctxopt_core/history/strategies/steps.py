"""Where the cut of `stable_prefix` and `summarize` is: arithmetic over the tokens of the units, as they were added."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Shares of the window that a step frees at least and at most, whatever is cheapest. A chat asks for its past, while an
# agent sends many requests for each turn and needs what came last.
LEAST_FREE_SHARE = 0.11
MOST_FREE_SHARE = 0.25  # of a chat
MOST_FREE_SHARE_WITH_TOOLS = 0.5  # of an agent's run, and of a chat with long turns
_REQUESTS_PER_STEP = 4  # requests that fit after a step; with fewer, most requests would be a cache miss
CACHED_PRICE = (
    0.1  # of a token that a prompt cache has, where another costs 1.0: OpenAI, Anthropic, Google, end of 2026
)
_LARGE_SHARE = 0.15  # of the window: a result whose pruning saves more is pruned before the next step


class StepUnit(NamedTuple):
    """A unit of a conversation: its tokens, those with its results pruned, where its turn starts, and its kind."""

    full: int
    least: int
    opener: int
    is_exchange: bool

    @property
    def saved(self) -> int:
        """Tokens that pruning its results saves."""
        return self.full - self.least


class Step(NamedTuple):
    """Where the cut is.

    Units before `cut` are gone, except for the user message that opened the turn in which the cut is. Of those that are
    kept, the ones before `pruned` have their results pruned. The newest unit, whose results are not read yet, has at
    most `newest_limit` tokens, where it would not fit whole even alone.
    """

    cut: int = 0
    pruned: int = 0
    newest_limit: int | None = None


def steps(
    units: Sequence[StepUnit], limit: int, *, first: int, head: int, note: int = 0, leading: int = 0
) -> Iterator[Step | None]:
    """Yield where the cut is after each unit; None where even that does not fit.

    A step frees what makes requests worth most for their price: a ninth to a quarter of the limit, or what four more
    requests add if that is more, but at most half; where tools are at work it frees half. After the first step, a
    unit with large results is pruned as soon as another unit follows, without waiting for the next step: so close to
    the end that costs little of what is cached.

    Args:
        units: The units, oldest first.
        limit: The most that they may have, in tokens.
        first: Which unit is the first user message, of which something is kept when it goes.
        head: Tokens of what is kept of it, and of the placeholder after it.
        note: Tokens of a placeholder that follows the user message of the turn in which the cut is, where none follows
            the first one; 0 where there is none.
        leading: How many units come before the first user message. They go together.
    """
    large = large_results(limit)
    cut = pruned = total = requests = exchanges = 0

    def held() -> int:
        opener = units[cut].opener
        inside = units[opener].full if opener < cut else 0
        if cut > first and opener != first:
            return inside + head
        return inside + (note if cut > opener + 1 else 0)

    for n, unit in enumerate(units):
        total += unit.full
        requests += unit.opener != n
        exchanges += unit.is_exchange
        if 0 < pruned < n and units[n - 1].saved > large:
            total -= units[n - 1].saved
        if cut and n == leading:
            # A cut among them was made before there was a user message.
            cut, total, requests, exchanges = n, unit.full, 0, 0
        if total + held() <= limit:
            yield Step(cut, pruned)
            continue
        total -= sum(read.saved for read in units[max(cut, pruned) : n] if not pruned or read.saved <= large)
        pruned = n
        growth = total / requests if requests else 0.0
        goal = limit - int(limit * free_share(growth, limit, with_tools=exchanges > 0))
        while cut < n and (total + held() > goal or 0 < cut < leading):
            total -= units[cut].least
            requests -= units[cut].opener != cut
            exchanges -= units[cut].is_exchange
            cut += 1
        left = limit - (total + held() - unit.full) if total + held() > limit else None
        yield Step(cut, pruned, left) if left is None or unit.least <= left else None
        if left is not None:
            total -= unit.saved
            pruned = n + 1


def free_share(growth: float, limit: int, *, with_tools: bool = False) -> float:
    """Return the share of the window that a step frees: where requests are worth most for their price, in its bounds.

    A window of `w` tokens of which each step frees the share `f` holds `w (1 - f / 2)` tokens on average, at the price
    `c` of cached ones. Requests that grow by `g` tokens each reach the next step after `f w / g` requests, and a step
    sends `w (1 - f)` tokens anew. By price alone the smallest window is the best. So a token that could be held and is
    not counts as a loss of `2 c`: holding it must be worth its price, or the window would be smaller. Together that is
    `c w (1 + f / 2) + (1 - c) g (1 - f) / f`, which is least for `f = sqrt(2 (1 - c) g / (c w))`.

    Args:
        growth: Tokens by which a request is longer than the one before.
        limit: The window, in tokens.
        with_tools: Whether tools are at work.
    """
    most = MOST_FREE_SHARE_WITH_TOOLS
    if with_tools:
        return most
    limit = max(1, limit)
    cheapest = math.sqrt(2 * (1 - CACHED_PRICE) * growth / (CACHED_PRICE * limit))
    most = min(most, max(MOST_FREE_SHARE, _REQUESTS_PER_STEP * growth / limit))
    return min(most, max(LEAST_FREE_SHARE, cheapest))


def large_results(limit: int) -> int:
    """Return how many tokens pruning has to save for a unit to be pruned as soon as it was read."""
    return int(limit * _LARGE_SHARE)
