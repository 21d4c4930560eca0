"""A setting that does not exist is an error that names the nearest one and all that there are, in every front."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from ctxopt_core import ContextBudget, ContextRequest, fit, fit_messages
from langchain_ctxopt import (
    ContextOptimizer,
    ContextOptimizerCompressor,
    ContextOptimizerMiddleware,
    pre_model_hook,
    with_optimizer,
)
from llamaindex_ctxopt import ContextOptimizerPostprocessor, EngineOptimizer

BUDGET = ContextBudget(max_input_tokens=90)
ASKED = [{"role": "user", "content": "Why?"}]


def _wrapped(**given: Any) -> object:
    return with_optimizer(FakeListChatModel(responses=["x"]), **given)


FRONTS = [
    pytest.param(ContextOptimizer, id="ContextOptimizer"),
    pytest.param(ContextOptimizerMiddleware, id="middleware"),
    pytest.param(_wrapped, id="with_optimizer"),
    pytest.param(pre_model_hook, id="pre_model_hook"),
    pytest.param(EngineOptimizer, id="EngineOptimizer"),
    pytest.param(lambda **given: fit_messages(ASKED, "gpt-5", **given), id="fit_messages"),
]


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("max_tokens", "max_input_tokens"),
        ("max_input_token", "max_input_tokens"),
        ("Context_window", "context_window"),
        ("num_ctx", "context_window"),
        ("safty_margin", "safety_margin"),
        ("histroy", "history"),
        ("tokenizer", "token_counter"),
    ],
)
def test_u4_an_unknown_setting_names_the_nearest(front: Callable[..., object], name: str, nearest: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"did you mean `{nearest}`") as caught:
        front(**{name: 2000})

    assert f"has no setting `{name}`; it has " in str(caught.value)
    assert "target_tokens" in str(caught.value)


@pytest.mark.parametrize("front", [ContextOptimizerCompressor, ContextOptimizerPostprocessor])
def test_u4_parts_for_documents_name_their_own_settings(front: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="did you mean `max_tokens`"):
        front(max_token=2000)


@pytest.mark.parametrize(
    ("call", "nearest"),
    [
        pytest.param(lambda: fit(ContextRequest(query="x"), BUDGET, histry="turns"), "history", id="fit"),
        pytest.param(
            lambda: fit(ContextRequest(query="x"), BUDGET, history={"stratgy": "turns"}), "strategy", id="history"
        ),
        pytest.param(lambda: ContextOptimizer(model="gpt-5", shares={"document": 9}), "documents", id="shares"),
        pytest.param(
            lambda: ContextBudget.from_mapping({"model_nam": "gpt-5"}), "model_name", id="configuration mapping"
        ),
    ],
)
def test_u4_mappings_name_the_nearest_too(call: Callable[[], object], nearest: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"did you mean `{nearest}`"):
        call()


@pytest.mark.parametrize("strategy", ["auto", "turns", "sliding_window", "relevance"])
def test_u4_a_strategy_may_be_its_name(strategy: str) -> None:
    assert fit(ContextRequest(query="x"), BUDGET, history=strategy).report.within_budget
    assert fit_messages(ASKED, "gpt-5", history=strategy).unchanged
    assert ContextOptimizer(model="gpt-5", history=strategy).history.strategy == strategy
    assert ContextOptimizerMiddleware(max_input_tokens=90, history=strategy)
    assert EngineOptimizer(max_input_tokens=90, history=strategy)


def test_u4_an_unknown_strategy_is_an_error() -> None:
    with pytest.raises(ValueError, match="strategy"):
        ContextOptimizer(model="gpt-5", history="turn")
