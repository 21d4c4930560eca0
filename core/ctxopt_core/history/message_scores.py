"""What each message of a conversation is worth to the question that is asked now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import median

from ctxopt_core.relevance.feedback import CountedTexts, bm25_with_feedback
from ctxopt_core.relevance.query_terms import query_terms
from ctxopt_core.relevance.scorer import Scorer, call_scorer, rescale

_FEEDBACK_MESSAGES = 5
_FEEDBACK_WEIGHT = 0.1
_SCORER_WEIGHT = 0.4
_LEAST_WEIGHT = 0.2
_CONTEXT = 0.75
_STRETCH = 15
_STRETCH_WEIGHT = 3.0


def worth_of_messages(ranking_query: str, texts: Sequence[str], scorer: Scorer | None) -> list[float]:
    """Return what each message is worth to a task; all 0.0 where nothing of it is found.

    A message counts by the words that it shares with the task (BM25, words of the five best messages counting a little:
    pseudo-relevance feedback, Rocchio 1971). What a scorer says is added, at most two fifths of what the best message
    is worth by its words. The messages around a good one come along, each worth three quarters of the one before it,
    and a stretch of 31 messages in which much is found lifts all of them.

    Args:
        ranking_query: What is asked.
        texts: The text of each message, oldest first.
        scorer: Tells how relevant a text is to the task; its scores count beside the words.

    Raises:
        ValueError: The scorer gives more or fewer scores than there are messages.
    """
    if not ranking_query.strip() or not texts:
        return [0.0] * len(texts)
    scores = bm25_with_feedback(
        _telling(query_terms(ranking_query).weights),
        CountedTexts(texts),
        best_texts=_FEEDBACK_MESSAGES,
        feedback_weight=_FEEDBACK_WEIGHT,
    )
    if scorer is not None:
        best = max(scores) or 1.0
        told = _standing_out(_with_neighbors(rescale(call_scorer(scorer, ranking_query, texts))))
        scores = [score / best + _SCORER_WEIGHT * more for score, more in zip(scores, told, strict=True)]
    return _with_context(scores)


def _with_neighbors(scores: Sequence[float]) -> list[float]:
    """Add to each score three quarters of both scores beside it: a short message says little without them.

    At either end the message stands for the one that is missing.
    """
    befores, afters = (scores[0], *scores[:-1]), (*scores[1:], scores[-1])
    return [own + _CONTEXT * (before + after) for own, before, after in zip(scores, befores, afters, strict=True)]


def _standing_out(scores: Sequence[float]) -> list[float]:
    """Return how far each score is above the middle one, 1.0 for the best: embeddings find all texts a bit alike."""
    middle = median(scores)
    span = max(scores) - middle
    return [max(0.0, score - middle) / span if span > 0.0 else 0.0 for score in scores]


def _with_context(scores: Sequence[float]) -> list[float]:
    """Let the messages around a good one and those of a good stretch come along."""
    sums = [0.0, *accumulate(scores)]
    worth = list(scores)
    for n in range(1, len(worth)):
        worth[n] = max(worth[n], _CONTEXT * worth[n - 1])
    for n in range(len(worth) - 2, -1, -1):
        worth[n] = max(worth[n], _CONTEXT * worth[n + 1])
    width = 2 * _STRETCH + 1
    return [
        own + _STRETCH_WEIGHT * (sums[min(len(scores), n + _STRETCH + 1)] - sums[max(0, n - _STRETCH)]) / width
        for n, own in enumerate(worth)
    ]


def _telling(weights: Mapping[str, float]) -> Mapping[str, float]:
    """Leave out the words that are everywhere, unless there are no others: they take longest to be found."""
    telling = {term: weight for term, weight in weights.items() if weight >= _LEAST_WEIGHT}
    return telling or weights
