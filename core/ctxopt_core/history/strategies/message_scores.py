"""How relevant each message of a conversation is to what is asked now: by its words and by what stands around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import accumulate, compress
from statistics import median

from ctxopt_core.relevance.indexed_texts import IndexedTexts
from ctxopt_core.relevance.query_terms import query_terms
from ctxopt_core.relevance.scorer import Scorer, call_scorer, rescale

_SCORER_WEIGHT = 0.4  # the most that a scorer adds, as a part of the best score by words, which stays decisive
_LEAST_WEIGHT = 0.3  # weight of a query word, from 0 to 1: words below it are in most messages, and slow to look for
# Stems of English words that ask or stand for somebody: rarer than the words below that weight, but no answer has them.
_ASKING = frozenset(
    {"when", "what", "who", "whom", "whose", "where", "which", "why", "how", "did", "doe", "do", "is", "are", "was"}
    | {"were", "has", "had", "have", "his", "her", "him", "she", "they", "them", "their", "it"}
)
_CONTEXT = 0.75  # factor from one message to the next: an answer is kept with the question that it belongs to
_REACH = 10  # messages on either side of a good one that are raised: a twentieth of its score is left there
# Messages on either side that make a stretch, and the weight of its mean: a topic is longer than a message, but the
# stretch must not outweigh a message that has all the words.
_STRETCH = 15  # messages
_STRETCH_WEIGHT = 3.0  # times the mean score


def score_messages(
    ranking_query: str, texts: Sequence[str], scorer: Scorer | None, *, most: int | None = None
) -> dict[int, float]:
    """Return the scores of the messages around the best ones, by their place, in ascending order of place.

    The score is that of `IndexedTexts`. A scorer adds at most two fifths of the best of these scores. Messages around a
    good one have at least three quarters of the score beside them, and a mean over 31 messages is added, so that a
    stretch in which much is found is preferred.

    Args:
        ranking_query: What is asked now.
        texts: The messages, oldest first.
        scorer: The scorer of the policy.
        most: How many of the best messages are looked at with those around them; all by default.

    Returns:
        No score where no word of the query is found.

    Raises:
        ValueError: The scorer gives more or fewer scores than there are messages.
    """
    if not ranking_query.strip() or not texts:
        return {}
    scores = IndexedTexts(texts).scores(_sought_terms(ranking_query))
    if scorer is not None:
        best = max(scores) or 1.0
        more = _above_median(_with_neighbors(rescale(call_scorer(scorer, ranking_query, texts))))
        scores = [score / best + _SCORER_WEIGHT * above for score, above in zip(scores, more, strict=True)]
    return _with_context(scores, _best_places(scores, most))


def _best_places(scores: Sequence[float], most: int | None) -> Sequence[int]:
    """Return the places of the best scores above 0.0, ascending; of equal ones the newest."""
    least = 0.0 if most is None or most >= len(scores) else nlargest(most, scores)[-1]
    if most is None or not least:
        return list(compress(range(len(scores)), scores))
    places = [n for n, score in enumerate(scores) if score >= least]
    if len(places) > most:
        excess = len(places) - most
        oldest = frozenset(list(compress(places, [scores[n] == least for n in places]))[:excess])
        places = [n for n in places if n not in oldest]
    return places


def _sought_terms(ranking_query: str) -> Mapping[str, float]:
    """Return the weights of the terms that are looked for: all of them where there are only common ones."""
    weights = query_terms(ranking_query, light=True).weights
    told = {term: weight for term, weight in weights.items() if weight >= _LEAST_WEIGHT and term not in _ASKING}
    return told or weights


def _with_neighbors(scores: Sequence[float]) -> list[float]:
    """Add to each score three quarters of both scores beside it: a short message says little without them.

    At either end the message is its own neighbor.
    """
    befores, afters = (scores[0], *scores[:-1]), (*scores[1:], scores[-1])
    return [own + _CONTEXT * (before + after) for own, before, after in zip(scores, befores, afters, strict=True)]


def _above_median(scores: Sequence[float]) -> list[float]:
    """Return how far each score is above the median, 1.0 for the best, as embeddings give every message some score."""
    middle = median(scores)
    span = max(scores) - middle
    return [max(0.0, score - middle) / span if span > 0.0 else 0.0 for score in scores]


def _with_context(scores: Sequence[float], places: Sequence[int]) -> dict[int, float]:
    """Return the scores of the messages around `places`: raised beside a good one, and in a good stretch."""
    sums = list(accumulate(scores, initial=0.0))
    factor = _STRETCH_WEIGHT / (2 * _STRETCH + 1)
    raised: dict[int, float] = {}
    for start, stop in _spans(places, len(scores)):
        span = _faded(_faded(scores[start:stop])[::-1])[::-1]
        highs = sums[start + _STRETCH + 1 : stop + _STRETCH + 1]
        highs += [sums[-1]] * (stop - start - len(highs))
        lows = [0.0] * max(0, min(stop, _STRETCH) - start) + sums[max(0, start - _STRETCH) : max(0, stop - _STRETCH)]
        values = [own + factor * (high - low) for own, high, low in zip(span, highs, lows, strict=True)]
        raised.update(zip(range(start, stop), values, strict=True))
    return raised


def _faded(scores: Sequence[float]) -> list[float]:
    """Return scores of which each is at least three quarters of the one before."""
    faded: list[float] = []
    before = 0.0
    for own in scores:
        before *= _CONTEXT
        if own > before:
            before = own
        faded.append(before)
    return faded


def _spans(places: Sequence[int], length: int) -> list[tuple[int, int]]:
    """Return the ranges of messages around those at `places`, ascending; they do not meet."""
    spans: list[tuple[int, int]] = []
    start = stop = 0
    for place in places:
        if place - _REACH > stop:
            if stop:
                spans.append((start, stop))
            start = place - _REACH
        stop = place + _REACH + 1
    if places:
        spans.append((start, min(stop, length)))
    return spans
