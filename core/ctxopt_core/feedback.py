"""BM25 with feedback: the words of the best texts find others that the query does not name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from ctxopt_core.relevance import bm25_of_counts, counts_of, inverse_frequencies, inverse_frequency, terms_of
from ctxopt_core.term_counts import scanned_counts
from ctxopt_core.word_rarity import rarity

_MOST_TERMS = 8
_SHORTLIST = 16
_MOST_CHARACTERS = 8_000
_LEAST_RARITY = 0.55


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
    lengths = list(map(len, texts))
    scores = bm25_of_counts(weights, counts_of(weights, texts), lengths)
    best = _best(scores, best_texts)
    found = Counter(term for n in best for term in texts[n] if _tells_something(term, weights))
    if not found:
        return scores
    holding = Counter(chain.from_iterable(map(frozenset(found).intersection, texts)))
    worth = {term: times * inverse_frequency(holding[term], len(texts)) for term, times in found.items()}
    strongest = sorted(found, key=lambda term: (-worth[term], term))[:_MOST_TERMS]
    further = bm25_of_counts(dict.fromkeys(strongest, feedback_weight), counts_of(strongest, texts), lengths)
    return [score + more for score, more in zip(scores, further, strict=True)]


def scanned_bm25_with_feedback(
    weights: Mapping[str, float], texts: Sequence[str], *, best_texts: int, feedback_weight: float
) -> list[float]:
    """Return about what `bm25_with_feedback` returns, of texts that are scanned and not split into their terms.

    Further terms are taken from the first 8,000 characters of the best texts; those that are rarest in general are
    looked for.

    Args:
        weights: The terms of the query and what each is worth.
        texts: The texts.
        best_texts: From how many of the best texts further terms are taken.
        feedback_weight: What each of these is worth.
    """
    lengths = list(map(len, texts))
    scores = bm25_of_counts(weights, scanned_counts(weights, texts), lengths)
    read = [terms_of(texts[n][:_MOST_CHARACTERS]) for n in _best(scores, best_texts)]
    found = Counter(term for terms in read for term in terms if _tells_something(term, weights))
    if not found:
        return scores
    shortlist = sorted(found, key=lambda term: (-found[term] * rarity(f" {term}"), term))[:_SHORTLIST]
    counts = scanned_counts(dict.fromkeys(shortlist, 1.0), texts)
    rare = inverse_frequencies(counts)
    held = [term for term in shortlist if term in rare]
    strongest = sorted(held, key=lambda term: (-found[term] * rare[term], term))[:_MOST_TERMS]
    further = bm25_of_counts(dict.fromkeys(strongest, feedback_weight), counts, lengths)
    return [score + more for score, more in zip(scores, further, strict=True)]


def _best(scores: Sequence[float], number: int) -> list[int]:
    return sorted((n for n, score in enumerate(scores) if score > 0.0), key=lambda n: (-scores[n], n))[:number]


def _tells_something(term: str, weights: Mapping[str, float]) -> bool:
    return term not in weights and not term.isdigit() and rarity(f" {term}") > _LEAST_RARITY
