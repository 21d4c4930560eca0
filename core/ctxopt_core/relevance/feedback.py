"""BM25 with feedback: the words of the best texts find others that the query does not name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop
from itertools import chain

from ctxopt_core.relevance.bm25 import bm25_of_counts, counted_terms, inverse_frequencies
from ctxopt_core.relevance.query_terms import rarity

_MOST_TERMS = 8  # terms that are taken from the best texts; more of them drift from the question
_LEAST_RARITY = 0.55  # of such a term, from 0.0 to 1.0: leaves out function words and common ones such as "year"


class TermLists:
    """Texts that are given as lists of terms."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._texts = texts
        self.lengths = list(map(len, texts))

    def counts(self, terms: Collection[str]) -> Sequence[Mapping[str, int]]:
        """Return for each text how often it has which of the terms, and perhaps others."""
        wanted = frozenset(terms)
        return [{term: text.count(term) for term in wanted.intersection(text)} for text in self._texts]

    def holding(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return how many texts have each of the terms, and perhaps others."""
        wanted = frozenset(terms)
        return Counter(chain.from_iterable(map(wanted.intersection, self._texts)))

    def terms_in(self, n: int) -> Mapping[str, int]:
        """Return how often each term occurs in text `n`."""
        return Counter(self._texts[n])


class CountedTexts:
    """Texts whose counted terms are cached."""

    def __init__(self, texts: Sequence[str]) -> None:
        known = list(map(counted_terms, texts))
        self._counts = [text.counts for text in known]
        self.lengths = [text.length for text in known]

    def counts(self, terms: Collection[str]) -> Sequence[Mapping[str, int]]:
        """Return what `TermLists.counts` returns."""
        return [{term: counts[term] for term in terms if term in counts} for counts in self._counts]

    def holding(self, terms: Collection[str]) -> Mapping[str, int]:  # noqa: ARG002
        """Return what `TermLists.holding` returns."""
        return Counter(chain.from_iterable(self._counts))  # counting all is faster than picking some

    def terms_in(self, n: int) -> Mapping[str, int]:
        """Return how often each term occurs in text `n`."""
        return self._counts[n]


def bm25_with_feedback(
    weights: Mapping[str, float], texts: TermLists | CountedTexts, *, best_texts: int, feedback_weight: float
) -> list[float]:
    """Return the BM25 score of each text, with pseudo-relevance feedback (Rocchio 1971).

    Eight further terms are taken from the `best_texts` best texts, those that are rarest among all texts.
    """
    scores = bm25_of_counts(weights, texts.counts(weights), texts.lengths)
    strongest = dict.fromkeys(_strongest(weights, texts, _best(scores, best_texts)), feedback_weight)
    if not strongest:
        return scores
    further = bm25_of_counts(strongest, texts.counts(strongest), texts.lengths)
    return [score + more for score, more in zip(scores, further, strict=True)]


def _strongest(weights: Mapping[str, float], texts: TermLists | CountedTexts, best: Sequence[int]) -> list[str]:
    """Return the terms that the best texts have most and the other texts least, without those of the query."""
    found: dict[str, int] = {}
    for n in best:
        for term, times in texts.terms_in(n).items():
            found[term] = found.get(term, 0) + times
    rare = inverse_frequencies(texts.holding(found), len(texts.lengths))
    ranked = [(-times * rare[term], term) for term, times in found.items()]
    heapify(ranked)
    strongest: list[str] = []
    while ranked and len(strongest) < _MOST_TERMS:
        _, term = heappop(ranked)
        if term not in weights and not term.isdigit() and rarity(f" {term}") > _LEAST_RARITY:
            strongest.append(term)
    return strongest


def _best(scores: Sequence[float], number: int) -> list[int]:
    return sorted((n for n, score in enumerate(scores) if score > 0.0), key=lambda n: (-scores[n], n))[:number]
