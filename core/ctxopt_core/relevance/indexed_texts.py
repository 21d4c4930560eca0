"""BM25 with feedback over the texts of a conversation: a question touches only the texts that hold its words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from heapq import nsmallest

from ctxopt_core.relevance.bm25 import LENGTH_NORM, SATURATION, tokenize
from ctxopt_core.relevance.query_terms import rarity
from ctxopt_core.relevance.word_blocks import blocks_of

# Terms of a question and its feedback that are looked for, those of most weight: each is sought in all new texts.
_MOST_TERMS = 16
_FEEDBACK_TERMS = 8  # terms that are taken from the best texts; more of them drift from the question
_LISTED_PART = 8  # one in so many blocks, at least one, has its words listed in a call
_LEAST_DAMPING = SATURATION * (1.0 - LENGTH_NORM)  # of the occurrences of a term in a text of no length
_LEAST_RARITY = 0.55  # of such a term, from 0.0 to 1.0: leaves out function words and common ones such as "year"


class IndexedTexts:
    """The texts of a conversation with what is remembered of their words.

    Args:
        texts: The texts, oldest first.

    Example:
        >>> texts = IndexedTexts(["The kiln cracked.", "Snow fell.", "A wall cracked."])
        >>> sorted(texts.bm25({"kiln": 1.0, "cracke": 1.0}))
        [0, 2]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._blocks = blocks_of(texts)
        self._mean_length = max(1.0, sum(block.characters for _, block in self._blocks) / max(1, len(texts)))

    def bm25(self, weights: Mapping[str, float]) -> dict[int, float]:
        """Return the BM25 score of each text that holds one of the terms, by the number of the text."""
        scores: dict[int, float] = {}
        known, total = scores.get, len(self._texts)
        slope = SATURATION * LENGTH_NORM / self._mean_length
        for term, weight in weights.items():
            found = [
                (start, block.lengths, numbers, dict.fromkeys(numbers))
                for start, block in self._blocks
                if (numbers := block.holding(term))
            ]
            holding = sum([len(distinct) for _, _, _, distinct in found])
            worth = weight * (SATURATION + 1.0) * math.log1p((total - holding + 0.5) / (holding + 0.5))
            for start, lengths, numbers, distinct in found:
                if len(distinct) == len(numbers):
                    for n in numbers:
                        scores[start + n] = known(start + n, 0.0) + worth / (1.0 + _LEAST_DAMPING + slope * lengths[n])
                    continue
                for n in distinct:
                    times = numbers.count(n)
                    damping = _LEAST_DAMPING + slope * lengths[n]
                    scores[start + n] = known(start + n, 0.0) + worth * times / (times + damping)
        return scores

    def bm25_with_feedback(
        self, weights: Mapping[str, float], *, best_texts: int, feedback_weight: float
    ) -> dict[int, float]:
        """Return the same with pseudo-relevance feedback (Rocchio 1971).

        Eight further terms are taken from the `best_texts` best texts.
        """
        heaviest = _heaviest(weights)
        scores = self.bm25(heaviest)
        best = nsmallest(best_texts, scores, key=lambda n: (-scores[n], n))
        places = min(_FEEDBACK_TERMS, _MOST_TERMS - len(heaviest))
        if best and places > 0:
            strongest = dict.fromkeys(self._strongest(weights, best, places), feedback_weight)
            for n, more in self.bm25(strongest).items():
                scores[n] = scores.get(n, 0.0) + more
        # At most a few blocks at a time, so that no fit takes much longer than others.
        most_listed = max(1, len(self._blocks) // _LISTED_PART)
        for _, block in self._blocks:
            most_listed -= block.list_words()
            if not most_listed:
                break
        return scores

    def _strongest(self, weights: Mapping[str, float], best: Sequence[int], number: int) -> list[str]:
        """Return the terms that the best texts have most and other texts least, without those of the query."""
        found: dict[str, int] = {}
        for n in best:
            for term in tokenize(self._texts[n]):
                found[term] = found.get(term, 0) + 1
        rare = {
            term: times * often
            for term, times in found.items()
            if term not in weights and not term.isdigit() and (often := rarity(f" {term}")) > _LEAST_RARITY
        }
        return nsmallest(number, rare, key=lambda term: (-rare[term], term))


def _heaviest(weights: Mapping[str, float]) -> Mapping[str, float]:
    if len(weights) <= _MOST_TERMS:
        return weights
    return dict(nsmallest(_MOST_TERMS, weights.items(), key=lambda item: (-item[1], -len(item[0]), item[0])))
