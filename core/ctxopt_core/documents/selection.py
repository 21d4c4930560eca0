"""Which documents are kept: by score, by density, or the best sum of scores, and the values that they compete by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ctxopt_core.documents.document import Document
from ctxopt_core.documents.knapsack import by_density, most_valuable
from ctxopt_core.documents.policy import DocumentPolicy, Selection
from ctxopt_core.documents.ranking import Ranking, ScoreOrder, has_scores, score_of
from ctxopt_core.relevance.query_terms import QueryTerms

_WHOLE = 2**31 - 1
_NARROW = 0.0213141592
_LONG = 25
Resolved = Literal["score", "passages", "density", "optimal"]


def values_of(scores: Sequence[float | None], score_order: ScoreOrder) -> list[float]:
    """Return what each document is worth, as a number that may be divided by tokens and added up.

    Scores order documents; only some can be divided and added up, those whose zero says "not relevant". So a value is
    what a score is above a zero, in whole 2,147,483,647ths of the largest:

    1. Above 0.0 itself, where the scores look as if that was their zero: higher ones are better, none is as far below
       0.0 as the best is above, and the worst is not within about 2 % of the best. A score of 0.0 or less is then worth
       nothing. Similarities, probabilities and BM25 are such scores.
    2. Else above a point below the worst, by the mean step between neighbors, so that evenly spaced scores are worth
       1, 2, 3 and so on. So are read logits, whose 0.0 means nothing; scores with a constant added, which by tokens
       would all but count documents; and distances, which end at the best. Dividing a negative number by tokens would
       prefer the longest.
    3. Equal scores are worth the same, and when all are equal, whatever they are, each is worth something.

    The best-scored document is always worth something. Multiplying all scores by a positive number changes no choice,
    as long as their differences are well above the rounding of floats: the denominator is prime and the 2 % have many
    digits, so that scores of few digits hardly ever lie where rounding or comparing could tip over.

    A missing score is worth less than any score that is worth something, all missing ones together too, but not
    nothing: such documents take what room is left. A score that is infinitely good outweighs all finite ones together,
    one that is infinitely bad is worth nothing.

    Args:
        scores: The score of each document; None where there is none, or it is not a number.
        score_order: Whether `"higher"` or `"lower"` scores are better.

    Returns:
        A value for each document, finite, 0.0 or more.
    """
    sign = -1.0 if score_order == "lower" else 1.0
    better = [None if score is None or math.isnan(score) else sign * score for score in scores]
    known = {score for score in better if score is not None}
    finite = [score for score in better if score is not None and math.isfinite(score)]
    if len(known) < 2:
        worth = dict.fromkeys(known, float(_WHOLE))
    else:
        worth = {-math.inf: 0.0, **_finite_values(finite)}
        worth[math.inf] = float(_WHOLE) + sum(worth[score] for score in finite)
    least = min((value for value in worth.values() if value > 0.0), default=float(_WHOLE))
    missing = math.ldexp(least, -len(scores).bit_length())
    return [missing if score is None else worth[score] for score in better]


def _finite_values(scores: Sequence[float]) -> dict[float, float]:
    """Return the value of each of some finite scores, the higher the better."""
    if not scores:
        return {}
    # A power of two loses no digit, and the sums and differences of what is left are finite.
    exponent = math.frexp(max(map(abs, scores)))[1]
    sized = [math.ldexp(score, -exponent - 1) for score in scores]
    worst, best = min(sized), max(sized)
    if worst == best:
        return {scores[0]: float(_WHOLE)}
    zero = 0.0
    if best <= 0.0 or worst <= -best or best - worst <= _NARROW * best:
        zero = worst - (best - worst) / (len(sized) - 1)
    return {score: _whole((size - zero) / (best - zero)) for score, size in zip(scores, sized, strict=True)}


def _whole(share: float) -> float:
    """Return a share of the best as a whole number; nothing for what is not above zero."""
    return float(max(1, round(share * _WHOLE))) if share > 0.0 else 0.0


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
