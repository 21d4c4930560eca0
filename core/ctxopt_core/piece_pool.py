"""Pieces of several texts that share one room."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ctxopt_core.cut_text import CutText
from ctxopt_core.excerpts import excerpt
from ctxopt_core.tokens import TokenCounter

_HEAD_SHARE = 0.67
_MENTIONED = 0.5
_AT_AN_END = 0.3
_ANY_PIECE = 0.1
_CHARACTERS_PER_TOKEN = 3


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
        return worth / (1 + (stop - start) / _CHARACTERS_PER_TOKEN)
