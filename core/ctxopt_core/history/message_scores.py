"""Scores the messages of a conversation by their relevance to what is asked now."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from statistics import median

from ctxopt_core.relevance.feedback import CountedTexts, bm25_with_feedback
from ctxopt_core.relevance.query_terms import query_terms
from ctxopt_core.relevance.scorer import Scorer, call_scorer, rescale

# The best messages whose words are added to the query, and the weight of these words: with more of either, common words
# of the conversation outweigh those of the query.
_FEEDBACK_MESSAGES = 5  # messages
_FEEDBACK_WEIGHT = 0.1  # a part of the weight of a query's word
_SCORER_WEIGHT = 0.4  # the most that a scorer adds, as a part of the best score by words, which stays decisive
_LEAST_WEIGHT = 0.2  # weight of a query word, from 0 to 1: words below it are in most messages, and slow to look for
_CONTEXT = 0.75  # factor from one message to the next: an answer is kept with the question that it belongs to
# Messages on either side that make a stretch, and the weight of its mean: a topic is longer than a message, but the
# stretch must not outweigh a message that has all the words.
_STRETCH = 15  # messages
_STRETCH_WEIGHT = 3.0  # times the mean score


def score_messages(ranking_query: str, texts: Sequence[str], scorer: Scorer | None) -> list[float]:
    """Return the score of each message; all 0.0 where no word of the query is found.

    The score is BM25 of the words that a message shares with the query, with a small weight for words of the five best
    messages (pseudo-relevance feedback, Rocchio 1971). A scorer adds at most two fifths of the best of these scores.
    Messages around a good one have at least three quarters of the score beside them, and a mean over 31 messages is
    added, so that a stretch in which much is found is preferred.

    Args:
        ranking_query: What is asked.
        texts: The text of each message, oldest first.
        scorer: Scores the relevance of each message to the query; added to the scores by words.

    Raises:
        ValueError: The scorer gives more or fewer scores than there are messages.
    """
    if not ranking_query.strip() or not texts:
        return [0.0] * len(texts)
    weights = query_terms(ranking_query).weights
    # Words that are in most messages are left out, unless there are no others: they take longest to be found.
    terms = {term: weight for term, weight in weights.items() if weight >= _LEAST_WEIGHT} or weights
    scores = bm25_with_feedback(
        terms, CountedTexts(texts), best_texts=_FEEDBACK_MESSAGES, feedback_weight=_FEEDBACK_WEIGHT
    )
    if scorer is not None:
        best = max(scores) or 1.0
        more = _above_median(_with_neighbors(rescale(call_scorer(scorer, ranking_query, texts))))
        scores = [score / best + _SCORER_WEIGHT * above for score, above in zip(scores, more, strict=True)]
    return _with_context(scores)


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


def _with_context(scores: Sequence[float]) -> list[float]:
    """Raise the scores of the messages around a good one, and of those in a good stretch."""
    sums = [0.0, *accumulate(scores)]
    raised = list(scores)
    for n in range(1, len(raised)):
        raised[n] = max(raised[n], _CONTEXT * raised[n - 1])
    for n in range(len(raised) - 2, -1, -1):
        raised[n] = max(raised[n], _CONTEXT * raised[n + 1])
    width = 2 * _STRETCH + 1
    return [
        own + _STRETCH_WEIGHT * (sums[min(len(scores), n + _STRETCH + 1)] - sums[max(0, n - _STRETCH)]) / width
        for n, own in enumerate(raised)
    ]
