"""Packing retrieved documents into a token budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.displayed import Displayed
from ctxopt_core.documents.costs import DocumentCosts
from ctxopt_core.documents.document import Document, is_blank
from ctxopt_core.documents.duplicates import duplicates
from ctxopt_core.documents.packer import Packer
from ctxopt_core.documents.policy import DocumentPolicy, is_whole_number
from ctxopt_core.documents.ranking import by_score, has_scores, rank, score_of, sum_of_scores
from ctxopt_core.documents.rendering import DocumentRendering, PlainDocuments
from ctxopt_core.documents.selection import Resolved, resolved_selection
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.relevance.query_terms import query_terms
from ctxopt_core.runtime.pickling import reduced

DropReason = Literal["budget", "score", "duplicate", "empty", "count"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing(Displayed):
    """Which documents are kept. Everything refers to documents by their index.

    Args:
        kept: The kept documents in reading order.
        texts: The new texts of those that are kept in part: verbatim slices in their order, with markers in the gaps.
        tokens: What the kept documents count, rendered and joined.
        dropped: Why each of the others is dropped.
        ranking: All documents that could be kept, best first.
        costs: Tokens of each document as it came, rendered, separator included; counted when looked up.
        cumulative_score: Sum of the finite scores of the kept documents.
        selection: How they were chosen; None when there was nothing to choose.
        score_order_share: With `selection="optimal"`, what share of the optimal sum of scores taking the best-scored
            documents that fit would have reached.
    """

    kept: tuple[int, ...] = ()
    texts: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    tokens: int = 0
    dropped: Mapping[int, DropReason] = field(default_factory=lambda: MappingProxyType({}))
    ranking: tuple[int, ...] = ()
    costs: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}), repr=False, compare=False)
    cumulative_score: float = 0.0
    selection: Resolved | None = None
    score_order_share: float | None = None

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the figures; views that cannot be pickled as plain mappings."""
        return reduced(self)

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
        kept = frozenset(self.kept)
        last = max((place for place, index in enumerate(self.ranking) if index in kept), default=0)
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

    When all fit, all that are not blank are kept whole. Otherwise documents that say nothing new are dropped, and the
    policy's selection decides about the others. Where two that are kept whole overlap, the second one goes on where the
    first one ends. Something is kept as long as there is room for a word of it.

    Args:
        documents: The retrieved documents; they are not changed.
        budget: Tokens that the kept documents may count together. 0 keeps nothing.
        counter: Counts the tokens.
        query: What is asked. Without it documents are kept by score, and in part as their heads.
        policy: How to choose.
        rendering: How a document stands in the prompt; by default its bare text, with a blank line between two.

    Raises:
        ContextBudgetError: `budget` is negative or not a whole number.
    """
    if not is_whole_number(budget, minimum=0):
        message = f"`budget` must be a whole number of tokens, 0 or more, got {budget!r}"
        raise ContextBudgetError(message)
    policy = policy or DocumentPolicy()
    costs = DocumentCosts(documents, rendering or PlainDocuments(), counter)
    dropped = _dropped_before(documents, policy)
    candidates = [index for index in range(len(documents)) if index not in dropped]
    order = by_score(documents, candidates, policy.score_order)
    packer = Packer(costs, counter, budget, policy)
    if not budget or packer.keep_all(order):
        return _packing(packer, order, dropped, costs, policy)
    return _selected(packer, candidates, dropped, costs, query, policy)


def _selected(
    packer: Packer,
    candidates: Sequence[int],
    dropped: dict[int, DropReason],
    costs: DocumentCosts,
    query: str,
    policy: DocumentPolicy,
) -> Packing:
    documents, terms = costs.documents, query_terms(query)
    ranking = rank(documents, candidates, terms, score_order=policy.score_order, scorer=policy.scorer)
    repeated = duplicates(documents, ranking.order)
    dropped.update(dict.fromkeys(repeated, "duplicate"))
    ranking = ranking.without(repeated)
    reading = ranking.order
    if has_scores(documents, reading):
        reading = by_score(documents, sorted(reading), policy.score_order)
    if (repeated and packer.keep_all(reading)) or packer.keep_all_stitched(reading):
        return _packing(packer, ranking.order, dropped, costs, policy)
    selection = resolved_selection(policy.selection, documents, reading, terms, passages=policy.passages)
    share = packer.pack(selection, ranking, reading, terms)
    dropped.update(dict.fromkeys(packer.repeated, "duplicate"))
    dropped.update(dict.fromkeys(packer.worthless, "score"))
    packing = _packing(packer, ranking.order, dropped, costs, policy, anywhere=selection == "passages")
    return replace(packing, selection=selection, score_order_share=share)


def _dropped_before(documents: Sequence[Document], policy: DocumentPolicy) -> dict[int, DropReason]:
    """Tell which documents are dropped whatever the budget."""
    dropped: dict[int, DropReason] = {}
    for index, document in enumerate(documents):
        if is_blank(document):
            dropped[index] = "empty"
        elif is_below_min_score(document, policy):
            dropped[index] = "score"
    return dropped


def is_below_min_score(document: Document, policy: DocumentPolicy) -> bool:
    """Tell whether a document's score is worse than the worst one that the policy keeps."""
    score = score_of(document)
    if policy.min_score is None or score is None:
        return False
    return score > policy.min_score if policy.score_order == "lower" else score < policy.min_score


def _packing(
    packer: Packer,
    order: tuple[int, ...],
    dropped: dict[int, DropReason],
    costs: DocumentCosts,
    policy: DocumentPolicy,
    *,
    anywhere: bool = False,
) -> Packing:
    """Build the packing; `anywhere`: documents were not taken in their order, so all that are left miss a place."""
    kept = packer.kept
    full = len(kept) == policy.max_documents
    last = max(map(order.index, kept), default=-1)
    for position, index in enumerate(order):
        if index not in kept and index not in dropped:
            dropped[index] = "count" if full and (anywhere or position > last) else "budget"
    return Packing(
        kept=kept,
        texts=MappingProxyType(packer.texts),
        tokens=packer.tokens,
        dropped=MappingProxyType(dict(sorted(dropped.items()))),
        ranking=order,
        costs=costs,
        cumulative_score=sum_of_scores(costs.documents[index] for index in kept),
    )
