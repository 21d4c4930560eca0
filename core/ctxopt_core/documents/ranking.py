"""The order in which documents are considered, and the order in which they are read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from sys import float_info
from types import MappingProxyType
from typing import Literal

from ctxopt_core.documents.document import Document
from ctxopt_core.relevance.bm25 import scanned_bm25
from ctxopt_core.relevance.query_terms import QueryTerms
from ctxopt_core.relevance.scorer import Scorer, call_scorer, rescale

ScoreOrder = Literal["higher", "lower"]
ReadingOrder = Literal["score", "original", "edges"]
# Places that are added to a rank before it is inverted: the larger, the less the first places outweigh the others.
# Cormack et al. use 60, for a thousand documents; retrievers return a few dozen.
_RANK_OFFSET = 3
_RELEVANCE_WEIGHT = 0.25  # the retriever's rank has 1.0; a larger weight would overrule a good retriever


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Documents in the order in which they are considered.

    Args:
        order: The documents, best first.
        relevance: How relevant each is to the query, from 0.0 for the least to 1.0 for the most relevant.
    """

    order: tuple[int, ...] = ()
    relevance: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}))


def rank(
    documents: Sequence[Document],
    indices: Sequence[int],
    terms: QueryTerms,
    *,
    score_order: ScoreOrder,
    scorer: Scorer | None,
) -> Ranking:
    """Return `indices` with the most promising document first, for when not everything fits.

    The retriever's scores and the relevance to the query are combined by the ranks that they give, so that only the
    order of either matters and no scale, shift or direction (reciprocal rank fusion, Cormack et al. 2009). The
    retriever weighs four times as much, and decides between documents that are equally relevant. Without any score the
    relevance alone decides, and without a query the order of arrival, which is that of `indices`. BM25 scores the
    relevance if no scorer does.
    """
    relevance = _relevance(documents, indices, terms, scorer)
    best_scores = by_score(documents, indices, score_order)
    by_relevance = sorted(best_scores, key=lambda index: -relevance[index])
    if not has_scores(documents, indices):
        return Ranking(order=tuple(by_relevance), relevance=MappingProxyType(relevance))
    merit = {index: 1.0 / (_RANK_OFFSET + place) for place, index in enumerate(best_scores)}
    for place, index in enumerate(by_relevance):
        if relevance[index] > 0.0:
            merit[index] += _RELEVANCE_WEIGHT / (_RANK_OFFSET + place)
    order = sorted(merit, key=lambda index: -merit[index])
    return Ranking(order=tuple(order), relevance=MappingProxyType(relevance))


def by_score(documents: Sequence[Document], indices: Sequence[int], order: ScoreOrder) -> tuple[int, ...]:
    """Return `indices` by score, best first; equal scores in arrival order, documents without a score last."""
    scores = {index: score_of(documents[index]) for index in indices}
    scored = [index for index in indices if scores[index] is not None]
    unscored = [index for index in indices if scores[index] is None]
    # `reverse` keeps equal scores in arrival order, too.
    scored.sort(key=lambda index: scores[index] or 0.0, reverse=order == "higher")
    return (*scored, *unscored)


def has_scores(documents: Sequence[Document], indices: Sequence[int]) -> bool:
    """Return whether any of these documents has a score."""
    return any(score_of(documents[index]) is not None for index in indices)


def score_of(document: Document) -> float | None:
    """Return a document's score as a number; None if it is missing or NaN."""
    score = as_float(document.score)
    return None if score is None or math.isnan(score) else score


def as_float(score: float | None) -> float | None:
    """Return a score as a float; one that is too large for a float is infinite."""
    try:
        return None if score is None else float(score)
    except OverflowError:
        return math.inf if score is not None and score > 0 else -math.inf


def sum_of_scores(documents: Iterable[Document]) -> float:
    """Return the sum of all finite scores; one that is too large for a float is the largest float."""
    scores = [score for document in documents if math.isfinite(score := score_of(document) or 0.0)]
    try:
        return math.fsum(scores)
    except OverflowError:
        return max(-float_info.max, min(float_info.max, sum(scores)))


def in_reading_order(kept: Sequence[int], order: ReadingOrder) -> tuple[int, ...]:
    """Return kept documents, given best first, in the order in which the model reads them.

    `edges` puts the best first and the second best last, and so on inwards: the middle of a long context is read least
    well.
    """
    if order == "original":
        return tuple(sorted(kept))
    if order == "edges":
        return (*kept[::2], *reversed(kept[1::2]))
    return tuple(kept)


def _relevance(
    documents: Sequence[Document], indices: Sequence[int], terms: QueryTerms, scorer: Scorer | None
) -> dict[int, float]:
    texts = [documents[index].text or "" for index in indices]
    if scorer is None or not terms.text.strip() or not texts:
        scores = scanned_bm25(terms.weights, texts)
    else:
        scores = call_scorer(scorer, terms.text, texts)
    return dict(zip(indices, rescale(scores), strict=True))
