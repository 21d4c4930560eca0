"""What each sentence of some documents is worth to a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxopt_core.documents.partial_document import PartialDocument
from ctxopt_core.relevance.feedback import bm25_with_feedback

_FEEDBACK_UNITS = 3
_FEEDBACK_WEIGHT = 0.2
_CONTEXT = 0.8
_CONTEXT_UNITS = 20
_DOCUMENT_WEIGHT = 0.35
_RANK_WEIGHT = 0.35
_RANK_OFFSET = 2
_LEAD_WEIGHT = 0.3
_SCORER_SHARE = 0.3


def weigh_units(
    parts: Sequence[PartialDocument],
    weights: Mapping[str, float],
    relevance: Mapping[int, float],
    similarities: Sequence[float] = (),
) -> None:
    """Set the worth of every unit of some documents.

    It is the sum of

    1. the BM25 of the unit, words that the query does not hold but its best units do counting a little
       (pseudo-relevance feedback, Rocchio 1971): so a second document comes in that the query does not name. The best
       unit of all has 1.0. A unit near a good one has part of its worth, the less the further away and the shorter the
       text;
    2. the relevance of its document and the rank of it, up to 0.35 each;
    3. 0.3 for the first unit of a document, which as a rule tells what it is about.

    Args:
        parts: The documents, whose units and terms are known.
        weights: The terms of the query and what each is worth.
        relevance: How relevant each document is, from 0.0 to 1.0.
        similarities: What a scorer says of each unit, from 0.0 to 1.0. It makes up 0.3 of what the words of the unit
            are worth then.
    """
    texts = [terms for part in parts for terms in part.terms]
    scores = bm25_with_feedback(weights, texts, best_texts=_FEEDBACK_UNITS, feedback_weight=_FEEDBACK_WEIGHT)
    best = max(scores, default=0.0) or 1.0
    scores = [score / best for score in scores]
    if similarities:
        share = _SCORER_SHARE
        scores = [(1.0 - share) * own + share * similar for own, similar in zip(scores, similarities, strict=True)]
    of_units = iter(scores)
    for part in parts:
        own = [next(of_units) for _ in part.terms] or [0.0] * len(part.units)
        part.match = _with_context(own)
        prior = _DOCUMENT_WEIGHT * relevance.get(part.index, 0.0)
        prior += _RANK_WEIGHT * _RANK_OFFSET / (_RANK_OFFSET + part.position)
        part.worth = [match + prior + (0.0 if number else _LEAD_WEIGHT) for number, match in enumerate(part.match)]


def _with_context(own: list[float]) -> list[float]:
    share = _CONTEXT * len(own) / (len(own) + _CONTEXT_UNITS)
    match = list(own)
    for n in range(1, len(match)):
        match[n] = max(match[n], share * match[n - 1])
    for n in range(len(match) - 2, -1, -1):
        match[n] = max(match[n], share * match[n + 1])
    return match
