"""What became of a conversation from its beginning to its end, as a few stretches: counts, no content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Literal

from ctxopt_core.conversation import Conversation
from ctxopt_core.report_rows import Stretch
from ctxopt_core.trimming import Trimming
from ctxopt_core.turns import turn_ranges

StretchState = Literal["kept", "shortened", "summarised", "dropped"]
_MOST_STRETCHES = 48


def turn_stretches(conversation: Conversation, trimming: Trimming) -> tuple[Stretch, ...]:
    """Return what became of the turns, oldest first. The roles of the whole conversation are read for it."""
    kept, summarized = _members(trimming.kept), frozenset(trimming.summarized)
    states: list[StretchState] = []
    for turn in turn_ranges(conversation, len(conversation)):
        indices = [index for index in range(turn.start, turn.stop) if not conversation.is_system(index)]
        left = [index for index in indices if index in kept]
        if not left:
            states.append("summarised" if any(index in summarized for index in indices) else "dropped")
        elif len(left) < len(indices) or any(index in trimming.shortened for index in left):
            states.append("shortened")
        else:
            states.append("kept")
    return stretches(states[::-1])


def message_stretches(trimming: Trimming) -> tuple[Stretch, ...]:
    """Return what became of the messages, oldest first."""
    return stretches(list(_message_states(trimming)))


def _message_states(trimming: Trimming) -> Iterator[StretchState]:
    kept, summarized = _members(trimming.kept), frozenset(trimming.summarized)
    for index in range(trimming.length):
        if index in kept:
            yield "shortened" if index in trimming.shortened else "kept"
        else:
            yield "summarised" if index in summarized else "dropped"


def stretches(states: Sequence[StretchState]) -> tuple[Stretch, ...]:
    """Return neighbours of one state as one stretch; where that makes too many of them, equal parts of the whole."""
    runs = [Stretch(**{state: len(list(run))}) for state, run in groupby(states)]
    if len(runs) <= _MOST_STRETCHES:
        return tuple(runs)
    edges = [len(states) * position // _MOST_STRETCHES for position in range(_MOST_STRETCHES + 1)]
    return tuple(Stretch(**Counter[str](states[start:stop])) for start, stop in pairwise(edges) if start < stop)


def _members(indices: Sequence[int]) -> Collection[int]:
    return indices if isinstance(indices, range) else frozenset(indices)
