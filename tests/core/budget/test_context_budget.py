"""The input budget: what the window leaves, and from which size on a request is cut."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.budget.context_budget import ContextBudget, default_output_reserve
from ctxopt_core.budget.shares import Shares
from ctxopt_core.errors import ContextBudgetError, CtxoptError, UnknownModelError
from ctxopt_core.models.model_window import ModelWindow
from ctxopt_core.models.resolve_window import resolve_window


@pytest.mark.parametrize(
    ("limits", "input_budget"),
    [
        pytest.param(
            {"context_window": 32_768, "output_reserve": 4096, "safety_margin": 2048, "target_tokens": 16_000},
            16_000,
            id="target_tokens",
        ),
        pytest.param(
            {"context_window": 16_384, "output_reserve": 4096, "safety_margin": 2048, "target_tokens": 16_000},
            10_240,
            id="window-less-reserve-and-margin",
        ),
        pytest.param(
            {"context_window": 400_000, "max_input_tokens": 272_000, "output_reserve": 4096}, 272_000, id="max-input"
        ),
        pytest.param(
            {"context_window": 1000, "max_input_tokens": 900, "output_reserve": 200}, 800, id="reserve-below-max-input"
        ),
        pytest.param({"context_window": 1000}, 1000, id="window-alone"),
        pytest.param({"max_input_tokens": 1000, "output_reserve": 400}, 1000, id="max-input-has-no-answer-in-it"),
        pytest.param({"target_tokens": 1000}, 1000, id="target-alone"),
        pytest.param({"context_window": 1000, "output_reserve": 999}, 1, id="one-token-left"),
        pytest.param({"context_window": "1000", "output_reserve": " 100 "}, 900, id="amounts-as-text"),
    ],
)
def test_a2_the_smallest_limit_is_the_input_budget(limits, input_budget):
    budget = ContextBudget(**limits)

    assert budget.input_budget == input_budget
    assert budget.effective_target == input_budget


@pytest.mark.parametrize(
    ("window", "reserve", "margin"),
    [pytest.param(4096, 4096, 0, id="nothing-left"), pytest.param(4096, 4000, 2048, id="less-than-nothing")],
)
def test_a2_an_empty_budget_is_an_error_at_construction(window, reserve, margin):
    with pytest.raises(
        ContextBudgetError, match=r"window of 4096 .* lower these two, or use a model with a larger"
    ) as caught:
        ContextBudget(context_window=window, output_reserve=reserve, safety_margin=margin)

    assert (caught.value.needed, caught.value.available) == (reserve + margin, 4096)
    assert str(reserve) in str(caught.value)
    assert str(margin) in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param(
            {}, "one of `context_window`, `max_input_tokens` and `target_tokens` must be given", id="no-limit"
        ),
        pytest.param({"context_window": 0}, "`context_window` .* at least 1, got 0", id="no-window"),
        pytest.param({"max_input_tokens": -1}, "`max_input_tokens` .* got -1", id="negative"),
        pytest.param({"target_tokens": True}, "`target_tokens` .* got True", id="bool"),
        pytest.param({"target_tokens": 1000.0}, r"`target_tokens` .* got 1000\.0", id="float"),
        pytest.param(
            {"context_window": 9, "output_reserve": -1}, "`output_reserve` .* at least 0, got -1", id="reserve"
        ),
        pytest.param(
            {"context_window": 9, "safety_margin": "x"}, "`safety_margin` .* at least 0, got 'x'", id="margin"
        ),
        pytest.param({"context_window": 9, "output_reserve": None}, "`output_reserve` .* got None", id="reserve-none"),
        pytest.param(
            {"target_tokens": 9, "trigger": 0}, "`trigger` must be above 0 and at most 1, .* got 0", id="trigger-0"
        ),
        pytest.param({"target_tokens": 9, "trigger": 1.01}, r"`trigger` .* got 1\.01", id="trigger-above-1"),
        pytest.param({"target_tokens": 9, "trigger": float("nan")}, "`trigger` .* got nan", id="trigger-nan"),
        pytest.param({"target_tokens": 9, "trigger": "0.8"}, "`trigger` .* got '0.8'", id="trigger-text"),
        pytest.param({"target_tokens": 9, "trigger": True}, "`trigger` .* got True", id="trigger-bool"),
    ],
)
def test_a2_each_argument_is_checked_and_named(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        ContextBudget(**arguments)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param({"shares": {"system": 10}}, "`shares` must be Shares, got dict", id="shares"),
        pytest.param({"window": 1000}, "`window` must be ModelWindow, got int", id="window"),
    ],
)
def test_values_of_another_type_are_errors(arguments, problem):
    with pytest.raises(TypeError, match=problem):
        ContextBudget(target_tokens=1000, **arguments)


def test_a_budget_is_a_value():
    budget = ContextBudget(context_window=1000, shares=Shares(documents=40, history=35), trigger=0.5)

    assert pickle.loads(pickle.dumps(budget)) == budget  # noqa: S301
    assert pickle.loads(pickle.dumps(budget)).effective_target == budget.effective_target == 499  # noqa: S301
    with pytest.raises(FrozenInstanceError):
        budget.input_budget = 5


@pytest.mark.parametrize(
    ("window", "trigger", "count", "acts"),
    [
        pytest.param(100_000, 0.5, 49_999, False, id="below-the-trigger"),
        pytest.param(100_000, 0.5, 50_000, True, id="reaches-the-trigger"),
        pytest.param(62_500, 0.8, 49_999, False, id="below-four-fifths"),
        pytest.param(62_500, 0.8, 50_000, True, id="reaches-four-fifths"),
        pytest.param(1000, 0.07, 69, False, id="exact-below"),
        pytest.param(1000, 0.07, 70, True, id="exact-at"),
        pytest.param(50_000, 1.0, 49_999, False, id="default-below-the-budget"),
        pytest.param(50_000, 1.0, 50_000, True, id="default-at-the-budget"),
        pytest.param(50_000, 1, 0, False, id="empty"),
    ],
)
def test_a18_the_trigger_says_from_which_count_on_a_request_is_looked_at(window, trigger, count, acts):
    assert ContextBudget(context_window=window, trigger=trigger).should_act(count) is acts


@given(st.integers(2, 10**6), st.fractions(0, 1, max_denominator=1000).filter(bool))
def test_a18_what_was_cut_to_the_goal_is_not_cut_again(window, trigger):
    budget = ContextBudget(context_window=window, trigger=trigger)

    assert 1 <= budget.effective_target <= budget.input_budget
    assert trigger == 1 or budget.effective_target == 1 or not budget.should_act(budget.effective_target)
    assert trigger == 1 or budget.effective_target == 1 or budget.effective_target < trigger * budget.input_budget


def test_a17_auto_takes_the_window_of_the_model():
    budget = ContextBudget.for_model("gpt-4o")

    assert (budget.context_window, budget.output_reserve, budget.input_budget) == (128_000, 4096, 123_904)
    assert budget.window.source == "catalog"


def test_a17_auto_respects_an_input_limit():
    assert ContextBudget.for_model("gpt-5").input_budget == 272_000


def test_a17_manual_overrides_the_window_of_a_model():
    budget = ContextBudget.for_model(
        "gpt-4o", context_window=2000, output_reserve=500, safety_margin=300, target_tokens=1500
    )

    assert (budget.input_budget, budget.window.source) == (1200, "explicit")


def test_a17_manual_needs_no_model():
    budget = ContextBudget(context_window=2000, max_input_tokens=1800)

    assert (budget.input_budget, budget.window) == (1800, None)


def test_for_model_takes_a_window_that_is_resolved_already():
    window = resolve_window("gpt-4", context_window=1000)

    assert ContextBudget.for_model(window) == ContextBudget.for_model("gpt-4", context_window=1000)
    with pytest.raises(TypeError, match="`model` is a window already, so live must go to `resolve_window`"):
        ContextBudget.for_model(window, live=500)


def test_for_model_hands_its_options_on():
    with pytest.raises(UnknownModelError):
        ContextBudget.for_model("a17-unknown", on_unknown_model="error")


@pytest.mark.parametrize(
    ("window", "max_output_tokens", "reserve"),
    [
        pytest.param(1_000_000, None, 4096, id="usual"),
        pytest.param(32_768, None, 4096, id="just-an-eighth"),
        pytest.param(8_192, None, 1024, id="an-eighth-of-a-small-window"),
        pytest.param(128_000, 2000, 2000, id="the-longest-answer"),
        pytest.param(7, None, 0, id="tiny"),
        pytest.param(None, 2000, 0, id="input-limit-only"),
    ],
)
def test_a17_the_default_reserve_is_a_small_part_of_the_window(window, max_output_tokens, reserve):
    model_window = ModelWindow(
        model="mine",
        context_window=window,
        max_input_tokens=None if window else 1000,
        max_output_tokens=max_output_tokens,
        encoding="o200k_base",
        exact=True,
    )

    assert default_output_reserve(model_window) == reserve
    assert ContextBudget.for_model(model_window).output_reserve == reserve


def test_budget_errors_belong_to_the_package():
    assert issubclass(ContextBudgetError, CtxoptError)
    assert issubclass(ContextBudgetError, ValueError)
