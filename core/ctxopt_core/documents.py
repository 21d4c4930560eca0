"""Packing retrieved documents into a token budget: whole ones by rank, then the best passages of what did not fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from ctxopt_core.document_costs import DocumentCosts, is_blank
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.packer import Packer
from ctxopt_core.ranking import ReadingOrder, ScoreOrder, by_score, rank, score_of
from ctxopt_core.rendering import DocumentRendering, PlainDocuments
from ctxopt_core.request import Document
from ctxopt_core.tokens import TokenCounter

Selection = Literal["score"]
DropReason = Literal["budget", "score", "duplicate", "empty", "count"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPolicy:
    """How documents are chosen and put in order.

    Args:
        selection: What decides which documents are kept: `"score"` takes the best-scored first.
        score_order: `"higher"` scores are better, or `"lower"` ones, as with distances.
        reading_order: The order of the kept documents: by `"score"`, as they came (`"original"`), or the best ones at
            the two ends (`"edges"`: best first, second best last, and so on inwards).
        min_score: The worst score that is kept; with `score_order="lower"` the largest. Documents without a score are
            not affected.
        max_documents: The most documents that are kept, whole or in part.
        passages: Whether a document that does not fit whole contributes its best passages. Otherwise it is skipped.
        passage_marker: What stands where a part of a document is missing.

    Raises:
        ValueError: A value is not one of these.
    """

    selection: Selection = "score"
    score_order: ScoreOrder = "higher"
    reading_order: ReadingOrder = "score"
    min_score: float | None = None
    max_documents: int | None = None
    passages: bool = True
    passage_marker: str = " [...] "

    def __post_init__(self) -> None:
        for name, choices in (("selection", Selection), ("score_order", ScoreOrder), ("reading_order", ReadingOrder)):
            _check_choice(name, getattr(self, name), get_args(choices))
        if not isinstance(self.passages, bool):
            message = f"`passages` must be True or False, got {self.passages!r}"
            raise ValueError(message)  # noqa: TRY004
        if not isinstance(self.passage_marker, str) or not self.passage_marker.strip():
            message = (
                f"`passage_marker` must be a text that can be seen, such as ' [...] ', got {self.passage_marker!r}"
            )
            raise ValueError(message)
        if self.min_score is not None and not _is_finite(self.min_score):
            message = f"`min_score` must be a finite number or None, got {self.min_score!r}"
            raise ValueError(message)
        if self.max_documents is not None and not _is_whole(self.max_documents, minimum=1):
            message = f"`max_documents` must be a whole number, at least 1, or None, got {self.max_documents!r}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """Which documents are kept. Everything refers to documents by their index.

    Args:
        kept: The kept documents in reading order.
        texts: The new texts of those that are kept in part: verbatim slices in their order, with markers in the gaps.
        tokens: What the kept documents count, rendered and joined.
        dropped: Why each of the others is dropped.
        ranking: All documents that could be kept, best first.
        costs: Tokens of each document as it came, rendered, separator included; counted when looked up.
        cumulative_score: Sum of the finite scores of the kept documents.
    """

    kept: tuple[int, ...] = ()
    texts: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    tokens: int = 0
    dropped: Mapping[int, DropReason] = field(default_factory=lambda: MappingProxyType({}))
    ranking: tuple[int, ...] = ()
    costs: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}), repr=False, compare=False)
    cumulative_score: float = 0.0

    @property
    def whole(self) -> tuple[int, ...]:
        """The documents that are kept as they came, in reading order."""
        return tuple(index for index in self.kept if index not in self.texts)

    @property
    def partial(self) -> tuple[int, ...]:
        """The documents that are kept in part, in reading order."""
        return tuple(index for index in self.kept if index in self.texts)

    @property
    def notable_drops(self) -> tuple[int, ...]:
        """The dropped documents that rank above one that is kept, best first: too big, not too bad."""
        last = max((self.ranking.index(index) for index in self.kept if index in self.ranking), default=0)
        return tuple(index for index in self.ranking[:last] if index in self.dropped)


def pack_documents(
    documents: Sequence[Document],
    budget: int,
    counter: TokenCounter,
    *,
    query: str = "",
    policy: DocumentPolicy | None = None,
    rendering: DocumentRendering | None = None,
) -> Packing:
    """Choose which documents to keep so that, rendered and joined, they count at most `budget` tokens.

    When all fit, all that are not blank are kept whole. Otherwise whole documents are placed by rank, and one that is
    too big does not stop smaller ones after it; what is left of the budget takes the passages that answer the query
    best. A best-ranked document that is larger than the whole budget gives its passages first.

    Args:
        documents: The retrieved documents; they are not changed.
        budget: Tokens that the kept documents may count together. 0 keeps nothing.
        counter: Counts the tokens.
        query: What is asked, by which passages are chosen. Without it they are the heads of the documents.
        policy: How to choose.
        rendering: How a document stands in the prompt; by default its bare text, with a blank line between two.

    Raises:
        ContextBudgetError: `budget` is negative or not a whole number.
    """
    if not _is_whole(budget, minimum=0):
        message = f"`budget` must be a whole number of tokens, 0 or more, got {budget!r}"
        raise ContextBudgetError(message)
    policy = policy or DocumentPolicy()
    costs = DocumentCosts(documents, rendering or PlainDocuments(), counter)
    dropped = _dropped_before(documents, policy)
    candidates = [index for index in range(len(documents)) if index not in dropped]
    order = by_score(documents, candidates, policy.score_order)
    packer = Packer(costs, counter, budget, query, policy)
    if budget and not packer.keep_all(order):
        order = rank(documents, candidates, query, policy)
        packer.pack(order)
    return _packing(documents, packer, order, dropped, costs, policy)


def _dropped_before(documents: Sequence[Document], policy: DocumentPolicy) -> dict[int, DropReason]:
    """Tell which documents are dropped whatever the budget."""
    dropped: dict[int, DropReason] = {}
    for index, document in enumerate(documents):
        score = score_of(document)
        if is_blank(document):
            dropped[index] = "empty"
        elif policy.min_score is not None and score is not None:
            worse = score > policy.min_score if policy.score_order == "lower" else score < policy.min_score
            if worse:
                dropped[index] = "score"
    return dropped


def _packing(
    documents: Sequence[Document],
    packer: Packer,
    order: tuple[int, ...],
    dropped: dict[int, DropReason],
    costs: DocumentCosts,
    policy: DocumentPolicy,
) -> Packing:
    kept = packer.kept
    full = len(kept) == policy.max_documents
    last = max(map(order.index, kept), default=-1)
    for position, index in enumerate(order):
        if index not in kept:
            dropped[index] = "count" if full and position > last else "budget"
    return Packing(
        kept=kept,
        texts=MappingProxyType(packer.texts),
        tokens=packer.tokens,
        dropped=MappingProxyType(dict(sorted(dropped.items()))),
        ranking=order,
        costs=costs,
        cumulative_score=math.fsum(filter(math.isfinite, (score_of(documents[index]) or 0.0 for index in kept))),
    )


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        message = f"`{name}` must be one of {', '.join(map(repr, choices))}, got {value!r}"
        raise ValueError(message)


def _is_whole(value: object, *, minimum: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= minimum


def _is_finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
