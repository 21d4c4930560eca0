"""Excerpts of tool results: pieces of several results compete for one token budget."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.shortening.result_pieces import CutText, ResultText
from ctxopt_core.shortening.shorten_message import excerpt
from ctxopt_core.shortening.token_limits import level_down

_HEAD_SHARE = 0.67
_MENTIONED = 0.5
_AT_AN_END = 0.3
_ANY_PIECE = 0.1
_POOL_CHARACTERS_PER_TOKEN = 3
_LEVEL_SHARE = 0.4
_MOST_CHARACTERS = 40_000
_MOST_CHARACTERS_OF_ALL = 400_000
_CHARACTERS_PER_TOKEN = 24
_LEAST_CHARACTERS = 2_000
_LEAST_FOR_MARKER = 24


@dataclass(slots=True)
class PiecePool:
    """Room that several texts share, and the pieces that were taken, in the order of taking."""

    texts: list[CutText]
    room: int
    counter: TokenCounter
    visible: set[str]
    mentioned: frozenset[str]
    taken: list[tuple[int, int]] = field(default_factory=list)
    left: int = 0

    def __post_init__(self) -> None:
        self.left = self.room - sum(text.marker_cost for text in self.texts)

    def take_ends(self, levels: Sequence[int]) -> None:
        """Take pieces from the head and from the tail of each text, up to its level."""
        for t, (text, level) in enumerate(zip(self.texts, levels, strict=True)):
            head = int(level * _HEAD_SHARE)
            if text.cost(0) > head > 0:
                text.split_first(head)
            used = self._take_run(t, range(len(text.pieces)), head)
            tail = level - used
            if text.cost(len(text.pieces) - 1) > tail > 0:
                text.split_last(tail)
            self._take_run(t, range(len(text.pieces) - 1, -1, -1), tail)

    def take_what_is_named(self) -> None:
        """Take the pieces that name most for their tokens, from all texts together."""
        heap = [
            (-self._worth(t, n), -t, n)
            for t, text in enumerate(self.texts)
            for n in range(len(text.pieces))
            if n not in text.chosen and text.named(n)
        ]
        heapq.heapify(heap)
        while heap and self.left > 1:
            promised, minus_t, n = heapq.heappop(heap)
            worth = self._worth(-minus_t, n)
            if worth < -promised:
                # What it names has been taken elsewhere meanwhile.
                if worth > 0:
                    heapq.heappush(heap, (-worth, minus_t, n))
                continue
            self._take(-minus_t, n)

    def take_from_the_newest(self) -> None:
        """Take what is missing, newest text first, from its head on."""
        for t in range(len(self.texts) - 1, -1, -1):
            for n in range(len(self.texts[t].pieces)):
                if n not in self.texts[t].chosen and not self._take(t, n):
                    break

    def rendered(self) -> list[str]:
        """Return the texts as they are now; what was taken last goes again while they count too much."""
        found = [text.rendered() for text in self.texts]
        counts = [self.counter.count(text) for text in found]
        total = sum(counts)
        while total > self.room and self.taken:
            t, n = self.taken.pop()
            self.texts[t].chosen.discard(n)
            found[t] = self.texts[t].rendered()
            total -= counts[t]
            counts[t] = self.counter.count(found[t])
            total += counts[t]
        for t, text in enumerate(found):
            if not text:
                found[t] = self._mark(t, self.room - total)
                total += self.counter.count(found[t])
        return found

    def _mark(self, t: int, room: int) -> str:
        result = self.texts[t].result
        least = min(room, self.texts[t].marker_cost + 1)
        return (
            excerpt(result.text, least, self.counter, reference=result.reference, lines_before=result.lines_before)
            if least > 0
            else ""
        )

    def _take_run(self, t: int, run: Iterable[int], most: int) -> int:
        text, used = self.texts[t], 0
        for n in run:
            if n in text.chosen or used + text.cost(n) > most or not self._take(t, n):
                break
            used += text.cost(n)
        return used

    def _take(self, t: int, n: int) -> bool:
        text = self.texts[t]
        gaps = 1 - ((n - 1) in text.chosen) - ((n + 1) in text.chosen)
        cost = text.cost(n) + max(0, gaps)
        if cost > self.left:
            return False
        self.left -= cost
        text.chosen.add(n)
        self.taken.append((t, n))
        self.visible.update(text.named(n))
        return True

    def _worth(self, t: int, n: int) -> float:
        text = self.texts[t]
        worth = 0.0
        for identifier in text.named(n):
            worth += identifier not in self.visible
            worth += _MENTIONED * (identifier in self.mentioned)
        if not worth:
            return 0.0
        worth += _ANY_PIECE + (_AT_AN_END if n in (0, len(text.pieces) - 1) else 0)
        start, stop = text.pieces[n]
        return worth / (1 + (stop - start) / _POOL_CHARACTERS_PER_TOKEN)


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
