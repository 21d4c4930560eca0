"""Excerpts of tool results that keep what is referred to later: head, tail, and the pieces that name something.

Several results share one room. Every result keeps its head and its tail up to a common level. What is left goes, over
all results together, to the pieces with most identifiers for their tokens: such that are visible nowhere else, and
such that the conversation mentions. What is left then goes to the newest result, from its head on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxopt_core.cut_text import CutText, ResultText
from ctxopt_core.piece_pool import PiecePool
from ctxopt_core.result_rooms import level_down
from ctxopt_core.tokens import TokenCounter

_LEVEL_SHARE = 0.4
_MOST_CHARACTERS = 40_000
_MOST_CHARACTERS_OF_ALL = 400_000
_CHARACTERS_PER_TOKEN = 24
_LEAST_CHARACTERS = 2_000
_LEAST_FOR_MARKER = 24


def tool_excerpts(
    results: Sequence[ResultText],
    room: int,
    counter: TokenCounter,
    *,
    visible: Iterable[str] = (),
    mentioned: Iterable[str] = (),
) -> list[str]:
    """Return what fits of each result, so that all together count at most `room` tokens.

    1. A text is itself, or pieces of it, unchanged and in their order, with a mark in each gap. The mark of the widest
       gap says how much was left out there.
    2. No piece starts or ends inside what a reader sees as one character.
    3. The texts are counted as they are returned. A text of which nothing fits is a mark, or empty.

    Args:
        results: The results, oldest first.
        room: The most that they may count together, in tokens.
        counter: Counts them.
        visible: Identifiers that are seen elsewhere anyway.
        mentioned: Identifiers that the question or other messages mention.
    """
    counts = [counter.count(result.text) for result in results]
    if sum(counts) <= room:
        return [result.text for result in results]
    levels = level_down(counts, int(max(0, room) * _LEVEL_SHARE))
    cut = [n for n, count in enumerate(counts) if levels[n] < count]
    room_of_cut = room - sum(count for n, count in enumerate(counts) if levels[n] >= count)
    most = _most_characters(room_of_cut, len(cut))
    texts = [CutText(results[n], counter, most, wide=room_of_cut >= _LEAST_FOR_MARKER * len(cut)) for n in cut]
    pool = PiecePool(texts, room_of_cut, counter, set(visible), frozenset(mentioned))
    pool.take_ends([levels[n] for n in cut])
    pool.take_what_is_named()
    pool.take_from_the_newest()
    excerpts = dict(zip(cut, pool.rendered(), strict=True))
    return [excerpts.get(n, result.text) for n, result in enumerate(results)]


def _most_characters(room: int, texts: int) -> int:
    """Return how many characters of each text are looked at, so that the cost follows the room and not the texts."""
    of_all = min(_MOST_CHARACTERS_OF_ALL, max(_MOST_CHARACTERS, _CHARACTERS_PER_TOKEN * room))
    return max(_LEAST_CHARACTERS, min(_MOST_CHARACTERS, of_all // max(1, texts)))
