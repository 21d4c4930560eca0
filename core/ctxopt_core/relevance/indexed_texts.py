"""BM25 over the texts of a conversation: a question touches only the texts that hold its words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from heapq import nsmallest
from itertools import compress
from operator import or_

from ctxopt_core.relevance.bm25 import LENGTH_NORM, SATURATION
from ctxopt_core.relevance.word_blocks import blocks_of

# Terms of a question that are looked for, those of most weight: each is sought in all new texts.
_MOST_TERMS = 10
_COORDINATION = 3.0  # times the score that a string with all words of a question gets more
_REACH = 3  # texts on either side of another that count with it for how much of a question is there
_LEAST_DAMPING = SATURATION * (1.0 - LENGTH_NORM)  # of the occurrences of a term in a string of no length


class IndexedTexts:
    """The texts of a conversation with what is remembered of their words.

    Args:
        texts: The texts, oldest first.

    Example:
        >>> texts = IndexedTexts(["The kiln cracked.", "Snow fell.", "A wall cracked."])
        >>> [round(score, 1) for score in texts.scores({"kiln": 1.0, "cracke": 1.0})]
        [2.7, 0.0, 0.7]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._length = len(texts)
        self._blocks = blocks_of(texts)
        self._mean_characters = max(1.0, sum(block.characters for _, block in self._blocks) / max(1, len(texts)))

    def scores(self, weights: Mapping[str, float]) -> list[float]:
        """Return the score of each text; 0.0 where it holds no term.

        The score is BM25, times one more than the part of the question that the text and the three on either side of it
        hold (coordination, as Lucene had it): a string with all words of the question is better than one with the same
        word many times, and what is asked in one message is answered in the next.
        """
        heaviest = _heaviest(weights)
        scores = [0.0] * self._length
        held = [0] * self._length  # a bit for each term
        worths: list[float] = []
        slope = SATURATION * LENGTH_NORM / self._mean_characters
        for term, weight in heaviest.items():
            found = [
                (start, block.lengths, numbers, dict.fromkeys(numbers))
                for start, block in self._blocks
                if (numbers := block.holding(term))
            ]
            worth = weight * self._rarity(sum([len(distinct) for _, _, _, distinct in found]))
            bit = 1 << len(worths)
            worths.append(worth)
            for start, lengths, numbers, distinct in found:
                repeated = len(distinct) < len(numbers)
                for n in distinct:
                    times = numbers.count(n) if repeated else 1
                    scores[start + n] += worth * times / (times + _LEAST_DAMPING + slope * lengths[n])
                    held[start + n] |= bit
        self._coordinate(scores, held, worths)
        return scores

    def _coordinate(self, scores: list[float], held: Sequence[int], worths: Sequence[float]) -> None:
        parts: dict[int, float] = {}
        total = sum(worths)
        for n in compress(range(self._length), scores):
            terms = reduce(or_, held[max(0, n - _REACH) : n + _REACH + 1])
            part = parts.get(terms)
            if part is None:
                part = sum(worth for place, worth in enumerate(worths) if terms >> place & 1) / total
                parts[terms] = part
            scores[n] *= 1.0 + _COORDINATION * part

    def _rarity(self, holding: int) -> float:
        """Return Lucene's inverse document frequency of a term that so many texts hold, times the most of its share."""
        return (SATURATION + 1.0) * math.log1p((self._length - holding + 0.5) / (holding + 0.5))


def _heaviest(weights: Mapping[str, float]) -> Mapping[str, float]:
    if len(weights) <= _MOST_TERMS:
        return weights
    return dict(nsmallest(_MOST_TERMS, weights.items(), key=lambda item: (-item[1], -len(item[0]), item[0])))
