"""How documents are chosen and put in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ctxopt_core.documents.ranking import RankedBy, ReadingOrder
from ctxopt_core.documents.score_values import ScoreOrder
from ctxopt_core.relevance.scorer import Scorer, check_scorer
from ctxopt_core.validation import check_whole, exact_number

Selection = Literal["auto", "score", "passages", "density", "optimal"]
_CHOICES = (
    ("selection", Selection),
    ("score_order", ScoreOrder),
    ("ranking", RankedBy),
    ("reading_order", ReadingOrder),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPolicy:
    """How documents are chosen and put in order.

    The documents are the chunks that a retriever returns, with its scores. If they do not all fit, they are reranked:
    the order by score is fused with the relevance to the query (`scorer`). Instead of a fixed top-k, as many are kept
    as fit in the token budget; `max_documents` limits k.

    Args:
        selection: What is kept when not everything fits.
            `"auto"`: `"passages"` where there is a query, otherwise `"score"`.
            `"passages"`: the best sentences of all documents, in their order, with visible gaps. What belongs together
            stays together: a small table, a row and its header, an item of a list and the sentence that announces it,
            code and its signature. A document of which little is missing is kept whole.
            `"score"`: whole documents, the best first; the rest of the budget takes the best passages of others.
            `"density"`: whole documents by score per token, improved by exchanges. It prefers short documents, so use
            it where many small facts matter more than the best document.
            `"optimal"`: the whole documents of the highest sum of scores that fits, exactly.
        score_order: `"higher"` scores are better, or `"lower"` ones, as with distances.
        ranking: What ranks the documents, beside their relevance: their scores (`"score"`), or the order in which they
            came, best first (`"given"`). `"auto"` is their scores, but the order in which a framework's pipeline
            delivers them where a reranker changed it and left the scores as they were; the report says so.
        reading_order: The order of the kept documents: by `"score"`, or rank; as they came (`"original"`); or the best
            ones at the two ends (`"edges"`: best first, second best last, and so on inwards). `"auto"` is as they came
            where all are kept, and otherwise by score. A whole request that fits stays as it is, whatever this says.
        min_score: The worst score that is kept; with `score_order="lower"` the largest. Documents without a score are
            not affected.
        max_documents: The most documents that are kept, whole or in part.
        passages: Whether a document that does not fit whole contributes its best passages. Otherwise it is skipped.
        gap_marker: The string that replaces each missing part of a document.
        scorer: Scores the relevance to the query; by default BM25. See `bm25_scorer` and `embedding_scorer`.

    Raises:
        ValueError: A value is not one of these.

    Example:
        >>> from ctxopt_core import CallableCounter, Document, DocumentPolicy, pack_documents
        >>> rows = [(600, 0.85), (150, 0.8), (130, 0.8), (120, 0.8)]
        >>> documents = [Document(text="x" * length, score=score) for length, score in rows]
        >>> for selection in ("score", "density"):
        ...     policy = DocumentPolicy(selection=selection, passages=False)
        ...     print(selection, pack_documents(documents, 600, CallableCounter(len), policy=policy).kept)
        score (0,)
        density (1, 2, 3)
    """

    selection: Selection = "auto"
    score_order: ScoreOrder = "higher"
    ranking: RankedBy = "auto"
    reading_order: ReadingOrder = "auto"
    min_score: float | None = None
    max_documents: int | None = None
    passages: bool = True
    gap_marker: str = " [...] "
    scorer: Scorer | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES:
            value, known = getattr(self, name), get_args(choices)
            if value not in known:
                message = f"`{name}` must be one of {', '.join(map(repr, known))}, got {value!r}"
                raise ValueError(message)
        if not isinstance(self.passages, bool):
            message = f"`passages` must be True or False, got {self.passages!r}"
            raise ValueError(message)  # noqa: TRY004
        if self.selection == "passages" and not self.passages:
            message = "`passages` must be True with selection='passages', which keeps nothing else"
            raise ValueError(message)
        if not isinstance(self.gap_marker, str) or not self.gap_marker.strip():
            message = f"`gap_marker` must be a string that can be seen, such as ' [...] ', got {self.gap_marker!r}"
            raise ValueError(message)
        check_scorer(self.scorer)
        if self.min_score is not None and exact_number(self.min_score) is None:
            message = f"`min_score` must be a finite number or None, got {self.min_score!r}"
            raise ValueError(message)
        if self.max_documents is not None:
            check_whole("max_documents", self.max_documents, minimum=1, unit="documents")
