"""Where the cut of `stable_prefix` and `summarize` is: arithmetic over the tokens of the units, as they were added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Shares of the window that a step frees. More makes steps rarer and keeps less: a chat asks for its past, while an
# agent sends many requests for each turn and needs what came last.
FREE_SHARE = 0.11  # of a chat
FREE_SHARE_WITH_TOOLS = 0.5  # of an agent's run
_MOST_FREE_SHARE = 0.5  # of a chat with long turns
_REQUESTS_PER_STEP = 4  # requests that fit after a step at least; with fewer, most requests would be a cache miss
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

    A step frees a ninth of the limit, or the tokens of four more requests if that is more, but at most half; where
    tools are at work it frees half. After the first step, a unit with large results is pruned as soon as another unit
    follows, without waiting for the next step: so close to the end that costs little of what is cached.

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
        usual = _REQUESTS_PER_STEP * total / requests if requests else 0
        in_chat = min(limit * _MOST_FREE_SHARE, max(limit * FREE_SHARE, usual))
        goal = limit - int(limit * FREE_SHARE_WITH_TOOLS if exchanges else in_chat)
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


def large_results(limit: int) -> int:
    """Return how many tokens pruning has to save for a unit to be pruned as soon as it was read."""
    return int(limit * _LARGE_SHARE)
