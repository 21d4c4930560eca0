"""Packing retrieved documents into a token budget, and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.displayed import Displayed
from ctxopt_core.documents.document import Document, is_blank
from ctxopt_core.documents.duplicates import duplicates
from ctxopt_core.documents.packer import Packer
from ctxopt_core.documents.policy import DocumentPolicy
from ctxopt_core.documents.ranking import RankedBy, rank, ranked_by_score, score_of, sum_of_scores
from ctxopt_core.documents.rendering import DocumentCosts, DocumentRendering, PlainDocuments
from ctxopt_core.documents.selection import Resolved, resolved_selection
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.relevance.query_terms import query_terms
from ctxopt_core.runtime.pickling import reduced
from ctxopt_core.validation import check_whole

DropReason = Literal["budget", "score", "duplicate", "empty", "count"]
_RERANKED = (
    "the documents did not come in the order of their scores, so the order in which they came ranks them; "
    "`ranking='score'` ranks them by score"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing(Displayed):
    """Which documents are kept. Documents are given by their index.

    Args:
        kept: The kept documents in reading order.
        texts: The new texts of those that are kept in part: verbatim slices in their order, with markers in the gaps.
        tokens: Tokens of the kept documents, rendered and joined.
        dropped: Why each of the others is dropped.
        ranking: All documents that could be kept, best first.
        costs: Tokens of each document as it came, rendered, separator included; counted when looked up.
        cumulative_score: Sum of the finite scores of the kept documents.
        selection: How they were chosen; None when there was nothing to choose.
        score_order_share: With `selection="optimal"`, the share of the optimal sum of scores that taking the
            best-scored documents that fit would have reached.
        notes: Choices that the caller should know of.

    Example:
        >>> from ctxopt_core import CallableCounter, Document, DocumentPolicy, pack_documents
        >>> documents = [Document(text="A kiln." * 3, score=0.9), Document(text=" "), Document(text="Wall.", score=0.2)]
        >>> policy = DocumentPolicy(passages=False)
        >>> packing = pack_documents(documents, 24, CallableCounter(len), policy=policy)
        >>> packing.kept, packing.tokens, dict(packing.dropped)
        ((0,), 21, {1: 'empty', 2: 'budget'})
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
    notes: tuple[str, ...] = ()

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
    """Choose which documents or chunks to keep so that, rendered and joined, they have at most `budget` tokens.

    If all that are not blank fit, they are kept whole, in the order in which they came. Otherwise redundant documents
    are dropped, and the policy's selection decides about the others. Where two chunks that are kept whole overlap, the
    second one goes on where the first one ends. Something is kept as long as a word of it fits.

    Args:
        documents: The retrieved documents; they are not changed.
        budget: Tokens that the kept documents may have together. 0 keeps nothing.
        counter: Counts the tokens.
        query: The user's question. Without it documents are kept by score, and in part as their first sentences.
        policy: How to choose.
        rendering: How the prompt holds a document; by default its bare text, with a blank line between two.

    Raises:
        ContextBudgetError: `budget` is negative or not a whole number.

    Example:
        >>> from ctxopt_core import CallableCounter, Document, pack_documents
        >>> log = "The weather was fine, as it mostly is by the sea. "
        >>> log += "The old kiln cracked in March after the long frost."
        >>> pack_documents([Document(text=log)], 70, CallableCounter(len), query="Which kiln cracked?").texts[0]
        '[...] The old kiln cracked in March after the long frost.'
    """
    try:
        check_whole("budget", budget, minimum=0, unit="tokens")
    except ValueError as error:
        raise ContextBudgetError(str(error)) from None
    policy = policy or DocumentPolicy()
    dropped: dict[int, DropReason] = {}
    for index, document in enumerate(documents):
        if is_blank(document):
            dropped[index] = "empty"
        elif is_below_min_score(document, policy):
            dropped[index] = "score"
    candidates = tuple(index for index in range(len(documents)) if index not in dropped)
    packer = Packer(DocumentCosts(documents, rendering or PlainDocuments(), counter), counter, budget, policy)
    if not budget or _keep_all(packer, candidates):
        return _packing(packer, _by_score(packer, candidates), dropped)
    return _selected(packer, candidates, dropped, query)


def _keep_all(packer: Packer, candidates: Sequence[int]) -> bool:
    """Keep all whole if they fit: as they came, unless the policy asks for an order."""
    asks = packer.policy.reading_order != "auto"
    return packer.keep_all(_by_score(packer, candidates) if asks else candidates)


def _by_score(packer: Packer, candidates: Sequence[int]) -> tuple[int, ...]:
    """Return documents best first, for when all are kept: where their order is asked for, that is one by score."""
    documents, policy = packer.costs.documents, packer.policy
    ranked_by: RankedBy = "given" if policy.ranking == "given" else "score"
    return ranked_by_score(documents, candidates, score_order=policy.score_order, ranked_by=ranked_by).order


def _selected(packer: Packer, candidates: Sequence[int], dropped: dict[int, DropReason], query: str) -> Packing:
    documents, policy, terms = packer.costs.documents, packer.policy, query_terms(query)
    ranking = rank(
        documents,
        candidates,
        terms,
        score_order=policy.score_order,
        scorer=policy.scorer,
        ranked_by=policy.ranking,
    )
    repeated = duplicates(documents, ranking.order)
    dropped.update(dict.fromkeys(repeated, "duplicate"))
    ranking = replace(ranking, order=tuple(index for index in ranking.order if index not in repeated))
    reading = ranking.order
    if ranking.is_scored:
        reading = tuple(index for index in ranking.by_score if index not in repeated)
    selection = share = None
    if not ((repeated and packer.keep_all(reading)) or packer.keep_all_stitched(reading)):
        selection = resolved_selection(policy.selection, terms, passages=policy.passages)
        share = packer.pack(selection, ranking, reading, terms)
        dropped.update(dict.fromkeys(packer.repeated, "duplicate"))
        dropped.update(dict.fromkeys(packer.without_value, "score"))
    packing = _packing(packer, ranking.order, dropped, anywhere=selection == "passages")
    notes = (_RERANKED,) if ranking.inferred else ()
    return replace(packing, selection=selection, score_order_share=share, notes=notes)


def is_below_min_score(document: Document, policy: DocumentPolicy) -> bool:
    """Return whether a document's score is worse than the worst one that the policy keeps."""
    score = score_of(document)
    if policy.min_score is None or score is None:
        return False
    return score > policy.min_score if policy.score_order == "lower" else score < policy.min_score


def _packing(
    packer: Packer, order: tuple[int, ...], dropped: dict[int, DropReason], *, anywhere: bool = False
) -> Packing:
    """Build the packing; `anywhere`: documents were not taken in their order, so any could have had one more place."""
    kept = packer.kept
    full = len(kept) == packer.policy.max_documents
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
        costs=packer.costs,
        cumulative_score=sum_of_scores(packer.costs.documents[index] for index in kept),
    )
