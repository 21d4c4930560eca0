"""The order in which documents are considered, and the order in which they are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ctxopt_core.request import Document

if TYPE_CHECKING:
    from ctxopt_core.documents import DocumentPolicy

ScoreOrder = Literal["higher", "lower"]
ReadingOrder = Literal["score", "original", "edges"]


def rank(documents: Sequence[Document], indices: Sequence[int], query: str, policy: DocumentPolicy) -> tuple[int, ...]:
    """Return `indices` with the most relevant document first, for when not everything fits.

    The retriever's scores decide; where there are none, its order does.

    Args:
        documents: All documents.
        indices: Those that are ranked, in arrival order.
        query: What is asked, untruncated.
        policy: Tells which scores are better.
    """
    del query  # documents without scores will be ranked by it
    return by_score(documents, indices, policy.score_order)


def by_score(documents: Sequence[Document], indices: Sequence[int], order: ScoreOrder) -> tuple[int, ...]:
    """Return `indices` by score, best first; equal scores in arrival order, documents without a score last."""
    scores = {index: score_of(documents[index]) for index in indices}
    scored = [index for index in indices if scores[index] is not None]
    unscored = [index for index in indices if scores[index] is None]
    # `reverse` keeps equal scores in arrival order, too.
    scored.sort(key=lambda index: scores[index] or 0.0, reverse=order == "higher")
    return (*scored, *unscored)


def score_of(document: Document) -> float | None:
    """Return a document's score as a number; None where it is missing or not a number."""
    score = None if document.score is None else float(document.score)
    return None if score is None or math.isnan(score) else score


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
