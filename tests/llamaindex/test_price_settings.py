"""Prices, allowances and what to do about unknown models are settings of the adapter, too."""

from __future__ import annotations

import pytest
from llama_index.core.llms import ChatMessage

from ctxopt_core import UnknownModelError
from llamaindex_ctxopt import ContextOptimizerMemory, EngineOptimizer, with_optimizer
from scripted_llms import ScriptedLLM

LONG = [ChatMessage(content="Which lantern burns longest? " * 5) for _ in range(400)]


def test_t15_a_price_of_ones_own_is_in_the_report():
    guarded = with_optimizer(ScriptedLLM(context_window=2_000), prices={"gpt-4-scripted": 10.0})
    guarded.chat(LONG)
    report = guarded.last_report

    assert report.cost is not None
    assert report.cost.input == pytest.approx(report.tokens_after * 10 / 1_000_000)


def test_t15_a_memory_has_the_price_of_its_model():
    memory = ContextOptimizerMemory.from_defaults(
        llm="gpt-4", target_tokens=500, prices={"gpt-4": 1.0}, chat_history=LONG
    )
    memory.get()
    assert memory.last_report.cost.input == pytest.approx(memory.last_report.tokens_after / 1_000_000)


def test_t9_an_unknown_model_is_an_error_where_that_is_wanted():
    with pytest.raises(UnknownModelError, match="no-such-model-here"):
        EngineOptimizer(llm="no-such-model-here", on_unknown_model="error")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prices": {"gpt-4": "free"}}, "gpt-4"),
        ({"attachment_tokens": {"smell": 5}}, "`attachment_tokens` must map kinds"),
        ({"on_unknown_model": "guess"}, "on_unknown_model"),
    ],
    ids=str,
)
def test_settings_out_of_their_range_are_named(settings, said):
    with pytest.raises(ValueError, match=said):
        EngineOptimizer(llm="gpt-4", **settings)
