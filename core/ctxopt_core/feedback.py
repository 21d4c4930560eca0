"""BM25 with feedback: the words of the best texts find others that the query does not name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ctxopt_core.counted_terms import CountedTerms, counted_terms
from ctxopt_core.relevance import bm25_of_counts, counts_of, inverse_frequencies
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
    return _with_feedback(
        weights,
        list(map(len, texts)),
        lambda terms: counts_of(terms, texts),
        lambda n: Counter(texts[n]),
        best_texts=best_texts,
        feedback_weight=feedback_weight,
    )


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
    return _with_feedback(
        weights,
        [known.length for known in held],
        lambda terms: _among(terms, held),
        lambda n: held[n].counts,
        best_texts=best_texts,
        feedback_weight=feedback_weight,
    )


def _with_feedback(
    weights: Mapping[str, float],
    lengths: Sequence[int],
    count: Callable[[Collection[str]], Sequence[Mapping[str, int]]],
    terms_in: Callable[[int], Mapping[str, int]],
    *,
    best_texts: int,
    feedback_weight: float,
) -> list[float]:
    """Score texts of which `count` tells how often each holds some terms, and `terms_in` all terms of one."""
    scores = bm25_of_counts(weights, count(weights), lengths)
    found: Counter[str] = Counter()
    for n in _best(scores, best_texts):
        found.update({term: times for term, times in terms_in(n).items() if _tells_something(term, weights)})
    if not found:
        return scores
    counts = count(found)
    rare = inverse_frequencies(counts)
    strongest = sorted(found, key=lambda term: (-found[term] * rare[term], term))[:_MOST_TERMS]
    further = bm25_of_counts(dict.fromkeys(strongest, feedback_weight), counts, lengths)
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
