"""Which whole documents are kept by density or for the best sum of scores, and the values that are added up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from ctxopt_core.documents.knapsack import by_density, most_valuable
from ctxopt_core.documents.policy import DocumentPolicy, Selection
from ctxopt_core.documents.ranking import Ranking, ScoreOrder
from ctxopt_core.relevance.query_terms import QueryTerms

_WHOLE = 2**31 - 1  # value of the best score; prime, so that few scores are rounded halfway (see `values_of`)
# Share of the best score: worse scores that are all nearer to it than that look as if a constant had been added. It has
# many digits so that scores of few digits do not lie on it.
_NARROW = 0.0213141592
Resolved = Literal["score", "passages", "density", "optimal"]


def values_of(scores: Sequence[float | None], score_order: ScoreOrder) -> list[float]:
    """Return the value of each document: its score as a number that may be divided by tokens and added up.

    Scores order documents. Only scores whose zero means "not relevant" can be divided and added up. So a value is the
    distance of a score from a zero, in whole 2,147,483,647ths of the largest:

    1. From 0.0 itself, if that looks like the zero of the scores: higher ones are better, none is as far below 0.0 as
       the best is above, and the worst is not within about 2 % of the best. A score of 0.0 or less then has no value.
       Similarities, probabilities and BM25 are such scores.
    2. Otherwise from a point below the worst score, by the mean step between neighbors, so that evenly spaced scores
       have the values 1, 2, 3 and so on. This is for logits, whose 0.0 has no meaning; for scores with a constant
       added, which would favor the most documents; and for distances, whose zero is the best. Negative numbers divided
       by tokens would favor the longest documents.
    3. Equal scores have equal values. If all are equal, the value is above 0, whatever the score is.

    The best-scored document always has a value. Multiplying all scores by a positive number changes no choice, as long
    as their differences are well above the rounding of floats: the denominator is prime and the 2 % have many digits,
    so that scores of few digits hardly ever lie where rounding or a comparison could go either way.

    Missing scores have less value than any other value above 0, even all together, but not none: such documents take
    the tokens that are left. An infinitely good score outweighs all finite ones together, an infinitely bad one has no
    value. Every value is finite, and 0.0 or more.
    """
    sign = -1.0 if score_order == "lower" else 1.0
    better = [None if score is None or math.isnan(score) else sign * score for score in scores]
    known = {score for score in better if score is not None}
    finite = [score for score in better if score is not None and math.isfinite(score)]
    if len(known) < 2:
        values = dict.fromkeys(known, float(_WHOLE))
    else:
        values = {-math.inf: 0.0, **_finite_values(finite)}
        values[math.inf] = float(_WHOLE) + sum(values[score] for score in finite)
    least = min((value for value in values.values() if value > 0.0), default=float(_WHOLE))
    missing = math.ldexp(least, -len(scores).bit_length())
    return [missing if score is None else values[score] for score in better]


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
    """Return a share of the best as a whole number; 0.0 if it is not above zero."""
    return float(max(1, round(share * _WHOLE))) if share > 0.0 else 0.0


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
