"""What LlamaIndex plans requests to a guarded model by."""

from __future__ import annotations

import pytest
from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate

from ctxopt_core.adapters import BudgetSettings
from llamaindex_ctxopt.guard.llm import planned_metadata, with_optimizer
from scripted_llms import ScriptedLLM

PROMPT = PromptTemplate("{context_str}\nAnswer: {query_str}")


@pytest.mark.parametrize(
    ("own", "settings", "planned"),
    [
        pytest.param((4_000, 256), {}, (4_000, 256), id="nothing to change"),
        pytest.param((4_000, -1), {}, (4_000, -1), id="no answer limit"),
        pytest.param((4_000, 2_000), {}, (4_000, 2_000), id="an answer of half the window"),
        pytest.param((4_000, 4_000), {}, (4_000, 2_000), id="#14722 an answer of the whole window"),
        pytest.param((4_000, 9_000), {}, (4_000, 2_000), id="#10470 an answer beyond the window"),
        pytest.param((4_000, 256), {"context_window": 8_000}, (8_000, 256), id="a window of one's own"),
        pytest.param((4_000, 256), {"output_reserve": 500}, (4_000, 500), id="a reserve of one's own"),
        pytest.param((4_000, 256), {"output_reserve": 0}, (4_000, 0), id="no reserve"),
        pytest.param((4_000, 256), {"safety_margin": 44}, (3_956, 256), id="a margin"),
        pytest.param((4_000, 256), {"target_tokens": 1_000}, (1_256, 256), id="a target"),
        pytest.param((4_000, 256), {"max_input_tokens": 1_000}, (1_256, 256), id="an input limit"),
        pytest.param((4_000, 256), {"target_tokens": 9_000}, (4_000, 256), id="a target beyond the window"),
        pytest.param((4_000, -1), {"target_tokens": 1_000}, (1_256, -1), id="a target and no answer limit"),
    ],
)
def test_the_limits_of_the_settings_are_what_llamaindex_plans_by(own, settings, planned):
    metadata = LLMMetadata(context_window=own[0], num_output=own[1], model_name="gpt-4", is_chat_model=True)

    found = planned_metadata(metadata, BudgetSettings(**settings))

    assert (found.context_window, found.num_output) == planned
    assert (found.model_name, found.is_chat_model) == ("gpt-4", True)
    assert (found is metadata) == (own == planned)
    assert (metadata.context_window, metadata.num_output) == own


def test_14722_documents_are_packed_for_a_model_that_reports_an_answer_as_long_as_its_window():
    plain = ScriptedLLM(context_window=2_000, num_output=2_000)
    with pytest.raises(ValueError, match="not non-negative"):
        PromptHelper.from_llm_metadata(plain.metadata).repack(PROMPT, ["word " * 100], llm=plain)

    guarded = with_optimizer(plain)
    packed = PromptHelper.from_llm_metadata(guarded.metadata).repack(PROMPT, ["word " * 100], llm=guarded)

    assert len(packed) == 1


@pytest.mark.parametrize(
    ("settings", "tokens"),
    [
        ({}, 1_000),
        ({"target_tokens": 700}, 700),
        ({"safety_margin": 44}, 956),
        ({"output_reserve": 500}, 1_500),
        ({"context_window": 3_000}, 1_500),
    ],
    ids=str,
)
def test_the_budget_of_a_guarded_model_is_the_one_that_it_reports(settings, tokens):
    guarded = with_optimizer(ScriptedLLM(context_window=2_000, num_output=2_000), **settings)

    assert guarded.guarded_call({}).model_budget.budget.input_budget == tokens
    assert guarded.metadata.context_window - guarded.metadata.num_output == tokens
    assert guarded.within_budget([ChatMessage(content="word " * (tokens - 10))])
    assert not guarded.within_budget([ChatMessage(content="word " * (tokens + 1))])
