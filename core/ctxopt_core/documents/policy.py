"""How documents are chosen and put in order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from ctxopt_core.documents.ranking import ReadingOrder, ScoreOrder
from ctxopt_core.relevance.scorer import Scorer, check_scorer

Selection = Literal["auto", "score", "passages", "density", "optimal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPolicy:
    """How documents are chosen and put in order.

    Args:
        selection: What is kept when not everything fits.
            `"score"`: whole documents, the best first; what is left of the budget takes the best passages of others.
            `"passages"`: the best sentences of all documents, in their order, with visible gaps.
            `"auto"`: `"passages"` where the query says enough to find sentences by, else `"score"`.
            `"density"`: whole documents by score per token, improved by exchanges. It prefers short documents, so use
            it where many small facts matter more than the best document.
            `"optimal"`: the whole documents of the highest sum of scores that fits, exactly.
        score_order: `"higher"` scores are better, or `"lower"` ones, as with distances.
        reading_order: The order of the kept documents: by `"score"`, as they came (`"original"`), or the best ones at
            the two ends (`"edges"`: best first, second best last, and so on inwards).
        min_score: The worst score that is kept; with `score_order="lower"` the largest. Documents without a score are
            not affected.
        max_documents: The most documents that are kept, whole or in part.
        passages: Whether a document that does not fit whole contributes its best passages. Otherwise it is skipped.
        gap_marker: What stands where a part of a document is missing.
        scorer: Tells how relevant a text is to the query; by default BM25, see `bm25_scorer` and `embedding_scorer`.

    Raises:
        ValueError: A value is not one of these.
    """

    selection: Selection = "auto"
    score_order: ScoreOrder = "higher"
    reading_order: ReadingOrder = "score"
    min_score: float | None = None
    max_documents: int | None = None
    passages: bool = True
    gap_marker: str = " [...] "
    scorer: Scorer | None = None

    def __post_init__(self) -> None:
        for name, choices in (("selection", Selection), ("score_order", ScoreOrder), ("reading_order", ReadingOrder)):
            _check_choice(name, getattr(self, name), get_args(choices))
        if not isinstance(self.passages, bool):
            message = f"`passages` must be True or False, got {self.passages!r}"
            raise ValueError(message)  # noqa: TRY004
        if self.selection == "passages" and not self.passages:
            message = "`passages` must be True with selection='passages', which keeps nothing else"
            raise ValueError(message)
        if not isinstance(self.gap_marker, str) or not self.gap_marker.strip():
            message = f"`gap_marker` must be a text that can be seen, such as ' [...] ', got {self.gap_marker!r}"
            raise ValueError(message)
        check_scorer(self.scorer)
        if self.min_score is not None and not _is_finite(self.min_score):
            message = f"`min_score` must be a finite number or None, got {self.min_score!r}"
            raise ValueError(message)
        if self.max_documents is not None and not is_whole_number(self.max_documents, minimum=1):
            message = f"`max_documents` must be a whole number, at least 1, or None, got {self.max_documents!r}"
            raise ValueError(message)


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        message = f"`{name}` must be one of {', '.join(map(repr, choices))}, got {value!r}"
        raise ValueError(message)


def is_whole_number(value: object, *, minimum: int) -> bool:
    """Tell whether a value is a whole number, at least `minimum`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= minimum


def _is_finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
