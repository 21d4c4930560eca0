"""BM25 with feedback: the words of the best texts find others that the query does not name."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop
from itertools import chain
from typing import NamedTuple, Protocol

from ctxopt_core.relevance.bm25 import BYTES_PER_TERM, bm25_of_counts, counts_of, inverse_frequencies, tokenize
from ctxopt_core.relevance.query_terms import rarity
from ctxopt_core.runtime.text_cache import TextCache

_remembered: TextCache[CountedTerms] = TextCache()
_MOST_TERMS = 8
_LEAST_RARITY = 0.55


class CountedTerms(NamedTuple):
    """How often a text holds each of its terms, and how many terms it has in all."""

    counts: dict[str, int]
    length: int


def counted_terms(text: str) -> CountedTerms:
    """Return the counted terms of a text, remembered from an earlier call where there was one. They are shared."""
    known = _remembered.get(text)
    if known is None:
        terms = tokenize(text)
        known = CountedTerms(Counter(terms), len(terms))
        _remembered.store(text, known, sys.getsizeof(text) + BYTES_PER_TERM * len(known.counts))
    return known


def bm25_with_feedback(
    weights: Mapping[str, float], texts: Sequence[Sequence[str]], *, best_texts: int, feedback_weight: float
) -> list[float]:
    """Return the BM25 score of texts that are given as their terms (pseudo-relevance feedback, Rocchio 1971).

    Args:
        weights: The terms of the query and what each is worth.
        texts: The terms of each text.
        best_texts: From how many of the best texts further terms are taken: the eight that are rarest among the texts.
        feedback_weight: What each of these is worth.
    """
    return _with_feedback(weights, _TermLists(texts), best_texts=best_texts, feedback_weight=feedback_weight)


def bm25_of_messages(
    weights: Mapping[str, float], texts: Sequence[str], *, best_texts: int, feedback_weight: float
) -> list[float]:
    """Return what `bm25_with_feedback` returns, of texts whose counted terms are remembered: for many short ones.

    Args:
        weights: The terms of the query and what each is worth.
        texts: The texts.
        best_texts: From how many of the best texts further terms are taken.
        feedback_weight: What each of these is worth.
    """
    return _with_feedback(weights, _CountedTexts(texts), best_texts=best_texts, feedback_weight=feedback_weight)


class _Texts(Protocol):
    """Texts seen as their terms.

    1. `lengths` are the numbers of terms in each text.
    2. `counts(terms)` tells for each text how often it holds which of some terms.
    3. `holding(terms)` tells in how many texts each of some terms is, and perhaps of others.
    4. `terms_in(n)` are all terms of text n, each with how often it is there.
    """

    @property
    def lengths(self) -> Sequence[int]: ...

    def counts(self, terms: Collection[str]) -> Sequence[Mapping[str, int]]: ...

    def holding(self, terms: Collection[str]) -> Mapping[str, int]: ...

    def terms_in(self, n: int) -> Mapping[str, int]: ...


class _TermLists:
    """`_Texts` of lists of terms."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._texts = texts
        self.lengths = list(map(len, texts))

    def counts(self, terms: Collection[str]) -> Sequence[Mapping[str, int]]:
        return counts_of(terms, self._texts)

    def holding(self, terms: Collection[str]) -> Mapping[str, int]:
        wanted = frozenset(terms)
        return Counter(chain.from_iterable(map(wanted.intersection, self._texts)))

    def terms_in(self, n: int) -> Mapping[str, int]:
        return Counter(self._texts[n])


class _CountedTexts:
    """`_Texts` whose counted terms are remembered."""

    def __init__(self, texts: Sequence[str]) -> None:
        known = list(map(counted_terms, texts))
        self._counts = [text.counts for text in known]
        self.lengths = [text.length for text in known]

    def counts(self, terms: Collection[str]) -> Sequence[Mapping[str, int]]:
        return [{term: counts[term] for term in terms if term in counts} for counts in self._counts]

    def holding(self, terms: Collection[str]) -> Mapping[str, int]:  # noqa: ARG002
        return Counter(chain.from_iterable(self._counts))  # counting all is faster than picking some

    def terms_in(self, n: int) -> Mapping[str, int]:
        return self._counts[n]


def _with_feedback(
    weights: Mapping[str, float], texts: _Texts, *, best_texts: int, feedback_weight: float
) -> list[float]:
    scores = bm25_of_counts(weights, texts.counts(weights), texts.lengths)
    strongest = dict.fromkeys(_strongest(weights, texts, _best(scores, best_texts)), feedback_weight)
    if not strongest:
        return scores
    further = bm25_of_counts(strongest, texts.counts(strongest), texts.lengths)
    return [score + more for score, more in zip(scores, further, strict=True)]


def _strongest(weights: Mapping[str, float], texts: _Texts, best: Sequence[int]) -> list[str]:
    """Return the terms of the best texts that tell most beside those of the query."""
    found = _summed([texts.terms_in(n) for n in best])
    rare = inverse_frequencies(texts.holding(found), len(texts.lengths))
    ranked = [(-times * rare[term], term) for term, times in found.items()]
    heapify(ranked)
    strongest: list[str] = []
    while ranked and len(strongest) < _MOST_TERMS:
        _, term = heappop(ranked)
        if _tells_something(term, weights):
            strongest.append(term)
    return strongest


def _summed(counts: Sequence[Mapping[str, int]]) -> Mapping[str, int]:
    total = dict(counts[0]) if counts else {}
    for further in counts[1:]:
        for term, times in further.items():
            total[term] = total.get(term, 0) + times
    return total


def _best(scores: Sequence[float], number: int) -> list[int]:
    return sorted((n for n, score in enumerate(scores) if score > 0.0), key=lambda n: (-scores[n], n))[:number]


def _tells_something(term: str, weights: Mapping[str, float]) -> bool:
    return term not in weights and not term.isdigit() and rarity(f" {term}") > _LEAST_RARITY
