"""Budgets from a mapping and from the environment."""

from __future__ import annotations

import pytest

from ctxopt_core.budget.config_sources import SETTING_KEYS, budget_from_environment, budget_from_mapping
from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.shares import Shares
from ctxopt_core.errors import ContextBudgetError


def test_a19_every_setting_has_its_effect():
    budget = budget_from_mapping(
        {
            "profile": "manual",
            "model_name": "gpt-4o",
            "max_context_tokens": "2000",
            "system_prompt_budget_pct": 20,
            "query_budget_pct": 10,
            "document_budget_pct": 40.5,
            "history_budget_pct": 29.5,
            "output_reserve": 300,
            "safety_margin": 200,
            "target_tokens": 1400,
            "trigger": 0.5,
        }
    )

    assert budget == ContextBudget.for_model(
        "gpt-4o",
        context_window=2000,
        output_reserve=300,
        safety_margin=200,
        target_tokens=1400,
        shares=Shares(system=20, query=10, documents=40.5, history=29.5),
        trigger=0.5,
    )
    assert (budget.input_budget, budget.effective_target) == (1400, 699)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({"model_name": "gpt-4o"}, ContextBudget.for_model("gpt-4o"), id="auto-by-default"),
        pytest.param({"profile": "auto", "model_name": " gpt-5 "}, ContextBudget.for_model("gpt-5"), id="auto"),
        pytest.param(
            {"model_name": "gpt-4o", "max_context_tokens": 0}, ContextBudget.for_model("gpt-4o"), id="0-is-the-models"
        ),
        pytest.param(
            {"model_name": "gpt-4o", "max_context_tokens": 9000},
            ContextBudget.for_model("gpt-4o", context_window=9000),
            id="auto-with-a-window",
        ),
        pytest.param(
            {"model_name": "gpt-4o", "target_tokens": 0, "output_reserve": None},
            ContextBudget.for_model("gpt-4o"),
            id="unset",
        ),
        pytest.param(
            {"model_name": "gpt-4o", "output_reserve": 0},
            ContextBudget.for_model("gpt-4o", output_reserve=0),
            id="none",
        ),
        pytest.param(
            {"profile": "manual", "max_context_tokens": 9000}, ContextBudget(context_window=9000), id="manual"
        ),
        pytest.param(
            {"profile": "manual", "model_name": "gpt-4", "max_context_tokens": 0},
            ContextBudget.for_model("gpt-4", output_reserve=0),
            id="manual-0-is-the-models",
        ),
        pytest.param({"profile": "test"}, ContextBudget(context_window=1000), id="test"),
        pytest.param(
            {"profile": "test", "max_context_tokens": 1000}, ContextBudget(context_window=1000), id="test-said-twice"
        ),
        pytest.param(
            {"profile": "test", "model_name": "gpt-4"},
            ContextBudget.for_model("gpt-4", context_window=1000, output_reserve=0),
            id="test-counts-as-the-model-does",
        ),
    ],
)
def test_a17_the_three_profiles(settings, expected):
    assert budget_from_mapping(settings) == expected
    assert ContextBudget.from_mapping(settings) == expected


def test_a17_the_test_profile_has_round_figures():
    budget = budget_from_mapping({"profile": "test"})

    assert budget.shares.split(budget.input_budget).as_dict() == {
        "system": 100,
        "query": 150,
        "documents": 500,
        "history": 250,
    }


def test_a19_unknown_keys_are_errors_that_name_the_known_ones():
    with pytest.raises(
        ValueError, match="has no setting `max_tokens`, `temperature`; it has document_budget_pct, "
    ) as caught:
        budget_from_mapping({"temperature": 0, "model_name": "gpt-4o", "max_tokens": 5})

    assert all(key in str(caught.value) for key in SETTING_KEYS)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        pytest.param({}, "`model_name` must be the id of a model", id="auto-without-a-model"),
        pytest.param({"model_name": ""}, "`model_name` must be the id of a model", id="blank-model"),
        pytest.param(
            {"profile": "manual", "model_name": 4}, "`model_name` must be the id of a model", id="number-for-a-model"
        ),
        pytest.param(
            {"profile": "manual"}, "`max_context_tokens` must be above 0 in the profile 'manual'", id="manual-empty"
        ),
        pytest.param(
            {"profile": "test", "max_context_tokens": 5}, "is always 1000 in the profile 'test', got 5", id="test"
        ),
        pytest.param({"profile": "fast"}, "`profile` must be one of auto, manual, test, got 'fast'", id="profile"),
        pytest.param({"profile": ["auto"]}, "`profile` must be one of", id="profile-list"),
        pytest.param(
            {"profile": "test", "output_reserve": -1}, "`output_reserve` must be a whole number", id="reserve"
        ),
        pytest.param({"profile": "test", "safety_margin": "x"}, "`safety_margin` must be a whole number", id="margin"),
        pytest.param(
            {"profile": "test", "target_tokens": 1.5}, "`target_tokens` must be a whole number", id="target_tokens"
        ),
        pytest.param({"profile": "test", "trigger": 2}, "`trigger` must be above 0 and at most 1", id="trigger"),
        pytest.param(
            {"profile": "manual", "max_context_tokens": True}, "`max_context_tokens` must be a whole", id="tokens"
        ),
        pytest.param(
            {"profile": "test", "document_budget_pct": 101}, "`document_budget_pct` must be a percentage", id="share"
        ),
        pytest.param(
            {"profile": "test", "query_budget_pct": "15"}, "`query_budget_pct` must be a percentage", id="share-text"
        ),
    ],
)
def test_a19_a_wrong_setting_is_named(settings, problem):
    with pytest.raises(ValueError, match=problem):
        budget_from_mapping(settings)


def test_a19_a_reserve_that_leaves_nothing_is_a_budget_error():
    with pytest.raises(ContextBudgetError, match="nothing is left for the input"):
        budget_from_mapping({"profile": "test", "output_reserve": 1000})


@pytest.mark.parametrize(
    ("environ", "model", "expected"),
    [
        pytest.param(
            {"CONTEXT_WINDOW_TOKENS": "32768", "PROMPT_BUDGET_TOKENS": "16000", "RESPONSE_RESERVE_TOKENS": "4096"},
            None,
            ContextBudget(context_window=32_768, target_tokens=16_000, output_reserve=4096),
            id="all",
        ),
        pytest.param(
            {"CONTEXT_WINDOW_TOKENS": " 1000 ", "PATH": "/bin"}, None, ContextBudget(context_window=1000), id="window"
        ),
        pytest.param({"PROMPT_BUDGET_TOKENS": "500"}, None, ContextBudget(target_tokens=500), id="target_tokens"),
        pytest.param({}, "gpt-4o", ContextBudget.for_model("gpt-4o"), id="model"),
        pytest.param({"CONTEXT_WINDOW_TOKENS": "0"}, "gpt-4o", ContextBudget.for_model("gpt-4o"), id="0-is-the-models"),
        pytest.param({"PROMPT_BUDGET_TOKENS": ""}, "gpt-4o", ContextBudget.for_model("gpt-4o"), id="blank-is-unset"),
        pytest.param(
            {"RESPONSE_RESERVE_TOKENS": "0"},
            "gpt-4o",
            ContextBudget.for_model("gpt-4o", output_reserve=0),
            id="no-reserve",
        ),
        pytest.param(
            {"CONTEXT_WINDOW_TOKENS": "1000"},
            "gpt-4o",
            ContextBudget.for_model("gpt-4o", context_window=1000),
            id="both",
        ),
    ],
)
def test_a19_the_environment(environ, model, expected):
    assert budget_from_environment(environ, model=model) == expected


def test_a19_the_environment_of_the_process_is_read_at_each_call(monkeypatch):
    monkeypatch.setenv("CONTEXT_WINDOW_TOKENS", "1000")
    monkeypatch.delenv("PROMPT_BUDGET_TOKENS", raising=False)
    monkeypatch.delenv("RESPONSE_RESERVE_TOKENS", raising=False)
    first = ContextBudget.from_environment()
    monkeypatch.setenv("CONTEXT_WINDOW_TOKENS", "2000")

    assert (first.input_budget, ContextBudget.from_environment().input_budget) == (1000, 2000)


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        pytest.param({}, "CONTEXT_WINDOW_TOKENS or PROMPT_BUDGET_TOKENS must be set, or `model` given", id="nothing"),
        pytest.param(
            {"RESPONSE_RESERVE_TOKENS": "5"}, "CONTEXT_WINDOW_TOKENS or PROMPT_BUDGET_TOKENS", id="reserve-only"
        ),
        pytest.param({"CONTEXT_WINDOW_TOKENS": "8k"}, "`CONTEXT_WINDOW_TOKENS` must be a whole number", id="text"),
        pytest.param({"PROMPT_BUDGET_TOKENS": "-5"}, "`PROMPT_BUDGET_TOKENS` must be a whole number", id="negative"),
    ],
)
def test_a19_a_wrong_variable_is_named(environ, problem):
    with pytest.raises(ValueError, match=problem):
        budget_from_environment(environ)
