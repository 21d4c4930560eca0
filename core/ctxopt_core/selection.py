"""Which way of choosing documents suits a query, and the choices by value and tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ctxopt_core.document_policy import DocumentPolicy, Selection
from ctxopt_core.document_values import values_of
from ctxopt_core.knapsack import by_density, most_valuable
from ctxopt_core.query_terms import QueryTerms
from ctxopt_core.ranking import Ranking, has_scores, score_of
from ctxopt_core.request import Document

_LONG = 25

Resolved = Literal["score", "passages", "density", "optimal"]


def resolved_selection(
    selection: Selection, documents: Sequence[Document], indices: Sequence[int], terms: QueryTerms, *, passages: bool
) -> Resolved:
    """Return the selection that `"auto"` stands for with these documents; any other one is returned as it is.

    A long question finds its sentences; a short one about long documents does not say which of their sentences matter,
    and the rank of a whole document is the better guide. So sentences are chosen where the mean document has at most 25
    times the informative characters of the query. The figure was measured, see docs/why.md; both sides are counted in
    characters, so that it holds in any script.

    Args:
        selection: What the policy says.
        documents: All documents.
        indices: Those that may be kept.
        terms: What the query says.
        passages: Whether documents may be kept in part.
    """
    if selection != "auto":
        return selection
    characters = sum(len(documents[index].text or "") for index in indices)
    short = characters <= _LONG * terms.informative_characters * len(indices)
    return "passages" if passages and short else "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Whole documents that were chosen by what they are worth and what they cost.

    Args:
        documents: The documents.
        worthless: Those whose scores say that they are worth nothing, so that they are not kept in part either.
        score_order_share: For the best choice of all, what taking the best-scored documents that fit would have
            reached of its worth, from 0.0 to 1.0; else None.
    """

    documents: tuple[int, ...]
    worthless: tuple[int, ...] = ()
    score_order_share: float | None = None


def choose(
    documents: Sequence[Document], ranking: Ranking, costs: Mapping[int, int], budget: int, policy: DocumentPolicy
) -> Choice:
    """Choose documents by density, or the best ones together, as the policy says.

    Where the policy limits their number, the most valuable of the chosen ones are kept.

    Args:
        documents: All documents.
        ranking: Those that may be kept, best first.
        costs: Tokens of each.
        budget: Tokens that they may cost together.
        policy: The selection, and which scores are better.
    """
    order = ranking.order
    values = _values(documents, ranking, policy)
    tokens = [costs[index] for index in order]
    solve = by_density if policy.selection == "density" else most_valuable
    best = solve(values, tokens, budget)
    share = None
    if policy.selection == "optimal" and (most := sum(values[n] for n in best)) > 0.0:
        share = sum(values[n] for n in _in_order(values, tokens, budget)) / most
    best_first = sorted(best, key=lambda n: -values[n])
    return Choice(
        documents=tuple(order[n] for n in best_first[: policy.max_documents]),
        worthless=tuple(index for index, value in zip(order, values, strict=True) if value <= 0.0),
        score_order_share=share,
    )


def _values(documents: Sequence[Document], ranking: Ranking, policy: DocumentPolicy) -> list[float]:
    """Return what each ranked document is worth: by its score, or by its relevance where no document has a score."""
    if has_scores(documents, ranking.order):
        return values_of([score_of(documents[index]) for index in ranking.order], policy.score_order)
    return values_of([ranking.relevance[index] for index in ranking.order], "higher")


def _in_order(values: Sequence[float], tokens: Sequence[int], budget: int) -> list[int]:
    taken: list[int] = []
    for number in sorted(range(len(values)), key=lambda number: -values[number]):
        if values[number] > 0.0 and tokens[number] <= budget:
            taken.append(number)
            budget -= tokens[number]
    return taken
