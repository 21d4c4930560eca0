"""What a document's score is worth: a number that can be added up, compared and divided by tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

ScoreOrder = Literal["higher", "lower"]
_WHOLE = 2**31 - 1  # value of the best score; prime, so that few scores are rounded halfway (see `values_of`)
# Share of the best score: worse scores that are all nearer to it than that look as if a constant had been added. It has
# many digits so that scores of few digits do not lie on it.
_NARROW = 0.0213141592


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
