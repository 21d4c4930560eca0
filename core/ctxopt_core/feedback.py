"""BM25 with feedback: the words of the best texts find others that the query does not name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from ctxopt_core.counted_terms import CountedTerms, counted_terms
from ctxopt_core.relevance import bm25_of_counts, counts_of, inverse_frequency
from ctxopt_core.word_rarity import rarity

_MOST_TERMS = 8
_LEAST_RARITY = 0.55
_NOTHING: Mapping[str, int] = {}


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
    held = list(map(counted_terms, texts))
    lengths = [known.length for known in held]
    scores = bm25_of_counts(weights, _among(weights, held), lengths)
    best = [held[n].counts for n in _best(scores, best_texts)]
    found: Counter[str] = Counter()
    for counts in best:
        found.update({term: times for term, times in counts.items() if _tells_something(term, weights)})
    if not found:
        return scores
    names = found.keys()
    holding = Counter(chain.from_iterable(known.counts.keys() & names for known in held))
    worth = {term: times * inverse_frequency(holding[term], len(texts)) for term, times in found.items()}
    strongest = sorted(found, key=lambda term: (-worth[term], term))[:_MOST_TERMS]
    further = bm25_of_counts(dict.fromkeys(strongest, feedback_weight), _among(strongest, held), lengths)
    return [score + more for score, more in zip(scores, further, strict=True)]


def _among(terms: Iterable[str], held: Iterable[CountedTerms]) -> list[Mapping[str, int]]:
    wanted = frozenset(terms)
    return [
        {term: known.counts[term] for term in common} if (common := known.counts.keys() & wanted) else _NOTHING
        for known in held
    ]


def _best(scores: Sequence[float], number: int) -> list[int]:
    return sorted((n for n, score in enumerate(scores) if score > 0.0), key=lambda n: (-scores[n], n))[:number]


def _tells_something(term: str, weights: Mapping[str, float]) -> bool:
    return term not in weights and not term.isdigit() and rarity(f" {term}") > _LEAST_RARITY
