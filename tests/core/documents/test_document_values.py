"""What scores say that documents are worth, where values are divided by tokens and added up."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.documents.knapsack import by_density, most_valuable
from ctxopt_core.documents.score_values import values_of

INFINITE = math.inf
decimals = st.integers(-1_000, 1_000).map(lambda thousandths: thousandths / 1_000)
scored = st.lists(st.tuples(decimals, st.integers(20, 800)), min_size=1, max_size=12)
selectors = pytest.mark.parametrize("select", [by_density, most_valuable])


def shares(scores, score_order="higher"):
    """Return the values as shares of the largest finite one, rounded."""
    return [round(value / (2**31 - 1), 3) for value in values_of(scores, score_order)]


@pytest.mark.parametrize(
    ("scores", "score_order", "expected"),
    [
        pytest.param([], "higher", [], id="none"),
        pytest.param([1.0, 50.0], "higher", [0.02, 1.0], id="far-apart"),
        pytest.param([0.85, 0.8, 0.8, 0.8], "higher", [1.0, 0.941, 0.941, 0.941], id="similarities"),
        pytest.param([0.8, 0.4, 0.0], "higher", [1.0, 0.5, 0.0], id="zero-is-nothing"),
        pytest.param([0.8, 0.4, -0.2], "higher", [1.0, 0.5, 0.0], id="less-than-zero-is-nothing"),
        pytest.param([0.0, 0.0], "higher", [1.0, 1.0], id="all-zero"),
        pytest.param([-3.0, -3.0], "higher", [1.0, 1.0], id="all-equal-and-negative"),
        pytest.param([-3.0], "higher", [1.0], id="a-single-one"),
        pytest.param([100.85, 100.80], "higher", [1.0, 0.5], id="a-constant-added"),
        pytest.param([-1.0, -2.0, -3.0, -4.0], "higher", [1.0, 0.75, 0.5, 0.25], id="all-negative"),
        pytest.param([0.0, -1.0, -2.0, -3.0], "higher", [1.0, 0.75, 0.5, 0.25], id="none-above-zero"),
        pytest.param([5.0, -10.0, -10.0, -10.0], "higher", [1.0, 0.25, 0.25, 0.25], id="logits"),
        pytest.param([0.40, 0.46], "lower", [1.0, 0.5], id="distances"),
        pytest.param([0.0, 0.1, 0.2, 0.3], "lower", [1.0, 0.75, 0.5, 0.25], id="distance-zero-is-best"),
        pytest.param([-0.9, -0.45], "lower", [1.0, 0.5], id="negated-similarities"),
        pytest.param([0.8, None, 0.4], "higher", [1.0, 0.125, 0.5], id="missing"),
        pytest.param([0.8, math.nan], "higher", [1.0, 0.25], id="not-a-number"),
        pytest.param([None, None], "higher", [0.25, 0.25], id="all-missing"),
        pytest.param([INFINITE, 0.8, 0.4], "higher", [2.5, 1.0, 0.5], id="infinitely-good"),
        pytest.param([-INFINITE, 0.8, 0.4], "higher", [0.0, 1.0, 0.5], id="infinitely-bad"),
        pytest.param([INFINITE, 0.2, 0.4], "lower", [0.0, 1.0, 0.5], id="infinitely-far"),
        pytest.param([INFINITE, -INFINITE, None], "higher", [1.0, 0.0, 0.25], id="both-infinite"),
        pytest.param([1e308, -1.5e308], "higher", [1.0, 0.5], id="largest-floats"),
        pytest.param([1e-323, 5e-324], "higher", [1.0, 0.5], id="smallest-floats"),
    ],
)
def test_d12_values(scores, score_order, expected):
    assert shares(scores, score_order) == expected


@given(scored, st.floats(1e-6, 1e6), st.integers(20, 2_000))
def test_d12_scaling_all_scores_changes_no_choice(documents, factor, budget):
    scores, costs = zip(*documents, strict=True)
    plain, scaled = values_of(scores, "higher"), values_of([score * factor for score in scores], "higher")
    assert by_density(plain, costs, budget) == by_density(scaled, costs, budget)
    assert most_valuable(plain, costs, budget) == most_valuable(scaled, costs, budget)


@given(scored, st.sampled_from(["higher", "lower"]))
def test_d12_a_better_score_is_worth_no_less_and_the_best_is_worth_something(documents, score_order):
    scores = [score for score, _ in documents]
    values = values_of(scores, score_order)
    ranked = sorted(zip(scores, values, strict=True), reverse=score_order == "higher")
    assert ranked[0][1] > 0.0
    assert all(first[1] >= second[1] for first, second in pairwise(ranked))
    assert all(value >= 0.0 and value.is_integer() for value in values)


@selectors
@given(scored, st.integers(0, 2_000))
def test_the_choice_is_not_empty_when_the_best_document_fits(select, documents, budget):
    scores, costs = zip(*documents, strict=True)
    best = min(cost for score, cost in documents if score == max(scores))
    assert select(values_of(scores, "higher"), costs, budget) or best > budget


@selectors
@pytest.mark.parametrize("shift", [-10.0, 100.0])
@pytest.mark.parametrize("lengths", [(100, 110), (110, 100)], ids=["best-is-shorter", "best-is-longer"])
def test_d12_of_two_shifted_scores_the_better_one_is_taken(select, shift, lengths):
    assert select(values_of([0.85 + shift, 0.80 + shift], "higher"), lengths, 110) == (0,)


@selectors
@pytest.mark.parametrize("shift", [-10.0, -1.0, 100.0])
def test_d12_shifted_scores_reward_neither_the_shortest_nor_the_longest(select, shift):
    generator = random.Random(12)
    mean_scores, mean_costs = [], []
    for _ in range(40):
        scores = [generator.uniform(0.1, 0.9) for _ in range(30)]
        costs = [generator.randint(100, 400) for _ in scores]
        chosen = select(values_of([score + shift for score in scores], "higher"), costs, sum(costs) // 4)
        plain = select(values_of(scores, "higher"), costs, sum(costs) // 4)
        mean_scores.append(fmean(scores[index] for index in chosen) - fmean(scores[index] for index in plain))
        mean_costs.append(fmean(costs[index] for index in chosen) - fmean(costs[index] for index in plain))
    # Without a shift the shorter ones are preferred as far as their scores allow; with it no more, nor the longest.
    assert abs(fmean(mean_scores)) < 0.05
    assert abs(fmean(mean_costs)) < 15


@given(scored, st.integers(1, 5))
def test_all_missing_scores_together_are_worth_less_than_any_that_is_worth_something(documents, missing):
    values = values_of([*(score for score, _ in documents), *[None] * missing], "higher")
    least = min(value for value in values[: len(documents)] if value)
    assert 0.0 < sum(values[len(documents) :]) < least
