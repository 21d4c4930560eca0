"""The order in which documents are considered, and the order in which they are read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, starmap
from operator import lt
from sys import float_info
from types import MappingProxyType
from typing import Literal

from ctxopt_core.documents.document import Document
from ctxopt_core.documents.score_values import ScoreOrder, values_of
from ctxopt_core.relevance.bm25 import scanned_bm25
from ctxopt_core.relevance.query_terms import QueryTerms
from ctxopt_core.relevance.scorer import Scorer, call_scorer, rescale, standing_out

ReadingOrder = Literal["auto", "score", "original", "edges"]
RankedBy = Literal["auto", "score", "given"]
# Places that are added to a rank before it is inverted: the larger, the less the first places outweigh the others.
# Cormack et al. use 60, for a thousand documents; retrievers return a few dozen.
_RANK_OFFSET = 3
_RELEVANCE_WEIGHT = 0.25  # the retriever's rank has 1.0; a larger weight would overrule a good retriever
_FEWEST_RERANKED = 4  # documents: the order of fewer says little against their scores, since chance may have left it
_SCORER_SHARE = 0.3  # of a scorer in the relevance; an embedding model reads only the start of a long document
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Documents in the order in which they are considered.

    Args:
        order: The documents, best first.
        relevance: How relevant each is to the query, from 0.0 for the least to 1.0 for the most relevant.
        by_score: The same by score alone; as they came where that is the ranking.
        scores: What each document ranks by, beside its relevance: its score, or a number that falls with its position
            where the order in which they came is the ranking. None for a document without a score.
        worth: What the score of each is worth, from 0.0 to 1.0 for the best; nothing where no document has a score.
        inferred: Whether the order in which they came was found to be the ranking, although scores say another one.
    """

    order: tuple[int, ...] = ()
    relevance: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}))
    by_score: tuple[int, ...] = field(default=(), compare=False)
    scores: Mapping[int, float | None] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    worth: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    inferred: bool = field(default=False, compare=False)

    @property
    def is_scored(self) -> bool:
        """Whether any of the documents has a score to rank by."""
        return any(score is not None for score in self.scores.values())


def rank(
    documents: Sequence[Document],
    indices: Sequence[int],
    terms: QueryTerms,
    *,
    score_order: ScoreOrder,
    scorer: Scorer | None,
    ranked_by: RankedBy = "score",
) -> Ranking:
    """Return `indices` with the most promising document first, for when not everything fits.

    The retriever's scores and the relevance to the query are combined by the ranks that they give, so that only the
    order of either matters and no scale, shift or direction (reciprocal rank fusion, Cormack et al. 2009). The
    retriever weighs four times as much, and decides between documents that are equally relevant. Without any score the
    relevance alone decides, and without a query the order of arrival, which is that of `indices`. BM25 is the
    relevance; with a scorer three tenths of it are how much its scores stand out. Where the order of arrival is the
    ranking, it takes the place of the scores.
    """
    ranking = ranked_by_score(documents, indices, score_order=score_order, ranked_by=ranked_by)
    relevance = _relevance(documents, indices, terms, scorer)
    by_relevance = sorted(ranking.order, key=lambda index: -relevance[index])
    if not ranking.is_scored:
        return replace(ranking, order=tuple(by_relevance), relevance=MappingProxyType(relevance))
    merit = {index: 1.0 / (_RANK_OFFSET + place) for place, index in enumerate(ranking.order)}
    for place, index in enumerate(by_relevance):
        if relevance[index] > 0.0:
            merit[index] += _RELEVANCE_WEIGHT / (_RANK_OFFSET + place)
    order = sorted(merit, key=lambda index: -merit[index])
    worth = _worth(ranking.scores, score_order)
    return replace(ranking, order=tuple(order), relevance=MappingProxyType(relevance), worth=MappingProxyType(worth))


def ranked_by_score(
    documents: Sequence[Document], indices: Sequence[int], *, score_order: ScoreOrder, ranked_by: RankedBy
) -> Ranking:
    """Return `indices` ranked by score, or as they came where that is the ranking, whatever their relevance is."""
    scores = {index: score_of(documents[index]) for index in indices}
    inferred = ranked_by == "auto" and _is_reordered(documents, scores, score_order)
    if inferred or ranked_by == "given":
        places = range(1, len(indices) + 1)
        scores = dict(zip(indices, map(float, places if score_order == "lower" else reversed(places)), strict=True))
    order = _by_score(scores, score_order)
    return Ranking(order=order, by_score=order, scores=MappingProxyType(scores), inferred=inferred)


def _worth(scores: Mapping[int, float | None], order: ScoreOrder) -> dict[int, float]:
    values = values_of(list(scores.values()), order)
    best = max(values, default=0.0) or 1.0
    return {index: value / best for index, value in zip(scores, values, strict=True)}


def _by_score(scores: Mapping[int, float | None], order: ScoreOrder) -> tuple[int, ...]:
    """Return the indices by score, best first; equal scores in arrival order, documents without a score last."""
    scored = [index for index, score in scores.items() if score is not None]
    unscored = [index for index, score in scores.items() if score is None]
    # `reverse` keeps equal scores in arrival order, too.
    scored.sort(key=lambda index: scores[index] or 0.0, reverse=order == "higher")
    return (*scored, *unscored)


def _is_reordered(documents: Sequence[Document], scores: Mapping[int, float | None], order: ScoreOrder) -> bool:
    """Return whether something ranked these documents anew and left them their scores, as an LLM that reranks does.

    They then came from a pipeline, their scores do not fall with the position, and nothing else explains the order:

    * The best ones at both ends, as for a long context, is an order by score.
    * An order by id is that of a store.
    * Among documents without a score, those with one are where their neighbors are: a stage added these.
    """
    came = list(scores)
    if len(came) < _FEWEST_RERANKED:
        return False
    if not all(documents[index].from_pipeline and scores[index] is not None for index in came):
        return False
    best = [scores[index] for index in _by_score(scores, order)]
    given = [scores[index] for index in came]
    at_ends = [*best[::2], *reversed(best[1::2])]
    return given not in (best, at_ends, at_ends[::-1]) and not _is_by_id([documents[index].id for index in came])


def _is_by_id(names: Sequence[str | None]) -> bool:
    """Return whether names rise, as words or by the numbers in them."""
    known = [name for name in names if name is not None]
    if len(known) < len(names):
        return False
    numbered = [[int(part) if part.isdecimal() else part for part in _DIGITS.split(name)] for name in known]
    return all(starmap(lt, pairwise(known))) or all(starmap(lt, pairwise(numbered)))


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

    `auto` is the order of the scores here: where nothing is cut, there is nothing to put in order.

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
    found = rescale(scanned_bm25(terms.weights, texts))
    if scorer is not None and terms.text.strip() and texts:
        similar = standing_out(call_scorer(scorer, terms.text, texts))
        both = [(1.0 - _SCORER_SHARE) * own + _SCORER_SHARE * other for own, other in zip(found, similar, strict=True)]
        best = max(both) or 1.0
        found = [value / best for value in both]
    return dict(zip(indices, found, strict=True))
