"""Which whole documents are kept by density, or for the best sum of what their scores are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ctxopt_core.documents.knapsack import by_density, most_valuable
from ctxopt_core.documents.policy import DocumentPolicy, Selection
from ctxopt_core.documents.ranking import Ranking
from ctxopt_core.documents.score_values import values_of
from ctxopt_core.relevance.query_terms import QueryTerms

Resolved = Literal["score", "passages", "density", "optimal"]


def resolved_selection(selection: Selection, terms: QueryTerms, *, passages: bool) -> Resolved:
    """Return the selection that `"auto"` means; any other one is returned as it is.

    It is by units, which may be all of a document, where a query says which; otherwise whole documents by score.
    """
    if selection != "auto":
        return selection
    return "passages" if passages and terms.weights else "score"


def choose(
    ranking: Ranking, costs: Mapping[int, int], budget: int, policy: DocumentPolicy
) -> tuple[Sequence[int], Sequence[int], float | None]:
    """Choose documents by density, or the best ones together, as the policy says.

    Where the policy limits their number, the most valuable of the chosen ones are kept. If no document has a score,
    the values are those of the relevance.

    Returns:
        The chosen documents; those whose scores have no value, so that they are not kept in part either; and, for the
        optimal choice, the share of its value that taking the best-scored documents that fit would have reached.
    """
    order = ranking.order
    if ranking.is_scored:
        values = values_of([ranking.scores[index] for index in order], policy.score_order)
    else:
        values = values_of([ranking.relevance[index] for index in order], "higher")
    tokens = [max(1, costs[index]) for index in order]  # what costs nothing would have no density
    solve = by_density if policy.selection == "density" else most_valuable
    best = solve(values, tokens, budget)
    share = None
    if policy.selection == "optimal" and (most := sum(values[n] for n in best)) > 0.0:
        share = sum(values[n] for n in _in_order(values, tokens, budget)) / most
    best_first = sorted(best, key=lambda n: -values[n])
    without_value = [index for index, value in zip(order, values, strict=True) if value <= 0.0]
    return [order[n] for n in best_first[: policy.max_documents]], without_value, share


def _in_order(values: Sequence[float], tokens: Sequence[int], budget: int) -> list[int]:
    taken: list[int] = []
    for number in sorted(range(len(values)), key=lambda number: -values[number]):
        if values[number] > 0.0 and tokens[number] <= budget:
            taken.append(number)
            budget -= tokens[number]
    return taken
