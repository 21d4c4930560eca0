"""A cut that moves in steps: where it stands follows from the conversation alone, and it stands still for long.

A provider's prompt cache finds again what a request has in common with the one before, from the start on. A window that
slides with every message has next to nothing in common. Here the conversation is walked from its start as it grew: when
it no longer fits, results that were read are lowered to excerpts and the oldest units go until a share of the window is
free. Until that is filled again, every request begins with the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

FREE_SHARE = 0.11
FREE_SHARE_WITH_TOOLS = 0.5
_MOST_FREE_SHARE = 0.5
_REQUESTS_PER_STEP = 4
_LARGE_SHARE = 0.15


class StepUnit(NamedTuple):
    """A unit of a conversation: its tokens, those with its results lowered, where its turn starts, and its kind."""

    full: int
    low: int
    opener: int
    is_exchange: bool

    @property
    def saved(self) -> int:
        """Tokens that lowering its results saves."""
        return self.full - self.low


class Step(NamedTuple):
    """Where the cut stands.

    Units before `cut` are gone, except for the user message that opened the turn in which the cut lies. Of those that
    stay, the ones before `lowered` have their results lowered. The newest unit, whose results are not read yet, has at
    most `room` tokens, where it would not fit whole even alone.
    """

    cut: int = 0
    lowered: int = 0
    room: int | None = None


def steps(units: Sequence[StepUnit], limit: int, *, first: int, head: int, leading: int = 0) -> Iterator[Step | None]:
    """Yield where the cut stands after each unit; None where even that does not fit.

    A step frees a ninth of the limit, or room for four more requests if that is more; half of it where tools are at
    work, and never more than half: an agent sends many requests for each turn and needs what came last, a chat few, and
    needs the past. Once there was a step, a unit with large results is lowered without waiting for the next one, as
    soon as another unit follows: so close to the end that costs little of what is cached.

    Args:
        units: The units, oldest first.
        limit: The most that they may count, in tokens.
        first: Which unit is the first user message, of which something is kept when it goes.
        head: Tokens of what is kept of it, and of the note behind it.
        leading: How many units stand before the first user message. They go together.
    """
    large = large_results(limit)
    cut = lowered = total = requests = exchanges = 0

    def held() -> int:
        opener = units[cut].opener
        inside = units[opener].full if opener < cut else 0
        return inside + (head if cut > first and opener != first else 0)

    for n, unit in enumerate(units):
        total += unit.full
        requests += unit.opener != n
        exchanges += unit.is_exchange
        if 0 < lowered < n and units[n - 1].saved > large:
            total -= units[n - 1].saved
        if cut and n == leading:
            # A cut among them was made before there was a user message.
            cut, total, requests, exchanges = n, unit.full, 0, 0
        if total + held() <= limit:
            yield Step(cut, lowered)
            continue
        total -= sum(read.saved for read in units[max(cut, lowered) : n] if not lowered or read.saved <= large)
        lowered = n
        goal = limit - int(_freed(limit, total, requests) if not exchanges else limit * FREE_SHARE_WITH_TOOLS)
        while cut < n and (total + held() > goal or 0 < cut < leading):
            total -= units[cut].low
            requests -= units[cut].opener != cut
            exchanges -= units[cut].is_exchange
            cut += 1
        room = limit - (total + held() - unit.full) if total + held() > limit else None
        yield Step(cut, lowered, room) if room is None or unit.low <= room else None
        if room is not None:
            total -= unit.saved
            lowered = n + 1


def _freed(limit: int, total: int, requests: int) -> float:
    usual = _REQUESTS_PER_STEP * total / requests if requests else 0
    return min(limit * _MOST_FREE_SHARE, max(limit * FREE_SHARE, usual))


def large_results(limit: int) -> int:
    """Return how many tokens a unit has to save when it is lowered, to be lowered as soon as it was read."""
    return int(limit * _LARGE_SHARE)
