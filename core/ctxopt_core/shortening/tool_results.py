"""Excerpts of several tool results, whose pieces compete for one token budget."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.shortening.result_pieces import CutText, ResultText
from ctxopt_core.shortening.shorten_message import excerpt
from ctxopt_core.shortening.truncate import level_down

# Shares of the budget: 40 % goes to the ends of all results (docs/algorithm.md, "Tools"), two thirds of that to heads,
# since the first lines say what a result is. The rest goes to the pieces that name most.
_LEVEL_SHARE = 0.4  # of the budget
_HEAD_SHARE = 0.67  # of the share of the ends
# Score of a piece, where an identifier that is seen nowhere else scores 1:
_MENTIONED = 0.5  # for one that the question or a message mentions
_AT_AN_END = 0.3  # for the first or the last piece
_ANY_PIECE = 0.1  # for any piece that names something, so that the score of its identifiers decides
_SCORED_CHARACTERS_PER_TOKEN = 3  # an estimate of a piece's tokens, since all pieces are scored and few are counted
# Characters that are split into pieces, so that the time follows the budget and not the results:
_MOST_CHARACTERS = 40_000  # of one result
_LEAST_CHARACTERS = 2_000  # of one result
_MOST_CHARACTERS_OF_ALL = 400_000  # of all results
_CHARACTERS_PER_TOKEN = 24  # of all results, for each token of the budget
_LEAST_FOR_MARKER = 24  # tokens for each result: with fewer, a marker of some ten tokens would take half of the excerpt


@dataclass(slots=True)
class PiecePool:
    """Several strings that share a token budget, and the pieces taken of them so far, in the order of taking.

    The order is `take_ends`, `take_what_is_named`, `take_from_the_newest`, `rendered`.
    """

    texts: list[CutText]
    budget: int
    counter: TokenCounter
    visible: set[str]
    mentioned: frozenset[str]
    taken: list[tuple[int, int]] = field(default_factory=list)
    left: int = 0

    def __post_init__(self) -> None:
        self.left = self.budget - sum(text.marker_cost for text in self.texts)

    def take_ends(self, levels: Sequence[int]) -> None:
        """Take pieces from the head and from the tail of each string, up to its level in tokens."""
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
        """Take the pieces with the most identifiers for their tokens, from all strings together."""
        heap = [
            (-self._score(t, n), -t, n)
            for t, text in enumerate(self.texts)
            for n in range(len(text.pieces))
            if n not in text.chosen and text.named(n)
        ]
        heapq.heapify(heap)
        while heap and self.left > 1:
            before, minus_t, n = heapq.heappop(heap)
            score = self._score(-minus_t, n)
            if score >= -before:
                self._take(-minus_t, n)
            elif score > 0:
                # What it names was taken elsewhere meanwhile.
                heapq.heappush(heap, (-score, minus_t, n))

    def take_from_the_newest(self) -> None:
        """Take what is missing, the newest string first, from its head on."""
        for t in range(len(self.texts) - 1, -1, -1):
            for n in range(len(self.texts[t].pieces)):
                if n not in self.texts[t].chosen and not self._take(t, n):
                    break

    def rendered(self) -> list[str]:
        """Return the excerpts; what was taken last is taken back while they are over the budget."""
        found = [text.rendered() for text in self.texts]
        counts = [self.counter.count(text) for text in found]
        total = sum(counts)
        while total > self.budget and self.taken:
            t, n = self.taken.pop()
            self.texts[t].chosen.discard(n)
            found[t] = self.texts[t].rendered()
            total -= counts[t]
            counts[t] = self.counter.count(found[t])
            total += counts[t]
        for t, text in enumerate(found):
            if not text:
                result, least = self.texts[t].result, min(self.budget - total, self.texts[t].marker_cost + 1)
                reference, before = result.reference, result.lines_before
                if least > 0:
                    found[t] = excerpt(result.text, least, self.counter, reference=reference, lines_before=before)
                total += self.counter.count(found[t])
        return found

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

    def _score(self, t: int, n: int) -> float:
        text = self.texts[t]
        score = 0.0
        for identifier in text.named(n):
            score += identifier not in self.visible
            score += _MENTIONED * (identifier in self.mentioned)
        if not score:
            return 0.0
        score += _ANY_PIECE + (_AT_AN_END if n in (0, len(text.pieces) - 1) else 0)
        start, stop = text.pieces[n]
        return score / (1 + (stop - start) / _SCORED_CHARACTERS_PER_TOKEN)


def tool_excerpts(
    results: Sequence[ResultText],
    budget: int,
    counter: TokenCounter,
    *,
    visible: Iterable[str] = (),
    mentioned: Iterable[str] = (),
) -> list[str]:
    """Return what fits of each result, so that all together have at most `budget` tokens.

    1. An excerpt is the string itself, or pieces of it, unchanged and in their order, with a mark in each gap. The mark
       of the widest gap says how much was left out there.
    2. No piece starts or ends inside what a reader sees as one character.
    3. The excerpts are counted as they are returned. Where nothing of a string fits, it is a mark, or empty.

    The oldest result comes first. Pieces are preferred whose identifiers are not `visible` elsewhere, or that the
    question or another message has `mentioned`.
    """
    counts = [counter.count(result.text) for result in results]
    if sum(counts) <= budget:
        return [result.text for result in results]
    levels = level_down(counts, int(max(0, budget) * _LEVEL_SHARE))
    cut = [n for n, count in enumerate(counts) if levels[n] < count]
    left = budget - sum(count for n, count in enumerate(counts) if levels[n] >= count)
    of_all = min(_MOST_CHARACTERS_OF_ALL, max(_MOST_CHARACTERS, _CHARACTERS_PER_TOKEN * left))
    most = max(_LEAST_CHARACTERS, min(_MOST_CHARACTERS, of_all // max(1, len(cut))))
    texts = [CutText(results[n], counter, most, wide=left >= _LEAST_FOR_MARKER * len(cut)) for n in cut]
    pool = PiecePool(texts, left, counter, set(visible), frozenset(mentioned))
    pool.take_ends([levels[n] for n in cut])
    pool.take_what_is_named()
    pool.take_from_the_newest()
    excerpts = dict(zip(cut, pool.rendered(), strict=True))
    return [excerpts.get(n, result.text) for n, result in enumerate(results)]
