"""What a LlamaIndex model really sends decides its window and its answer limit; what a server holds is refused."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.llms import ChatMessage
from pydantic import BaseModel, Field

from ctxopt_core import ContextBudgetError, ServerStateError
from llamaindex_ctxopt import EngineOptimizer, with_optimizer
from llamaindex_ctxopt.models.model_settings import sent_answer_of, settings_of
from scripted_llms import ScriptedLLM


class Sending(ScriptedLLM):
    """A model that sends an answer limit, and may let its server hold the conversation."""

    max_tokens: int | None = None
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    track_previous_responses: bool = False
    cached_content: str | None = None
    _previous_response_id: str | None = None
    _generation_config: dict[str, Any] | None = None

    @classmethod
    def holding(cls, **private: Any) -> Sending:
        llm = cls(context_window=8_000)
        for name, value in private.items():
            setattr(llm, name, value)
        return llm


@pytest.mark.parametrize(
    ("llm", "sent"),
    [
        pytest.param(Sending(max_tokens=6_000), 6_000, id="a field"),
        pytest.param(Sending(additional_kwargs={"max_output_tokens": 300}), 300, id="further arguments"),
        pytest.param(Sending(additional_kwargs={"num_predict": 200}), 200, id="Ollama's"),
        pytest.param(Sending.holding(_generation_config={"max_output_tokens": 900}), 900, id="Google's"),
        pytest.param(Sending.holding(_generation_config={"max_output_tokens": None}), None, id="none of Google's"),
        pytest.param(Sending(), None, id="none"),
    ],
)
def test_l25_the_answer_limit_that_is_sent_is_known(llm: Sending, sent: int | None) -> None:
    assert sent_answer_of(llm) == sent
    assert settings_of(llm).answer_is_sent is (sent is not None)


@pytest.mark.parametrize(
    ("llm", "tokens"),
    [
        pytest.param(Sending(context_window=8_000, max_tokens=6_000, num_output=6_000), 2_000, id="sent"),
        pytest.param(Sending(context_window=8_000, num_output=8_000), 4_000, id="only reported"),
        pytest.param(Sending(context_window=8_000, num_output=1_000), 7_000, id="reported, and small"),
    ],
)
def test_l25_the_whole_answer_limit_is_kept_free_and_planned_with(llm: Sending, tokens: int) -> None:
    guarded = with_optimizer(llm)
    assert guarded.guarded_call({}).model_budget.budget.input_budget == tokens
    assert guarded.metadata.context_window - guarded.metadata.num_output == tokens
    assert EngineOptimizer(llm=llm).budget.input_budget == tokens


def test_l25_the_limit_of_a_call_is_kept_free_too() -> None:
    guarded = with_optimizer(ScriptedLLM(context_window=8_000, num_output=256))
    assert guarded.guarded_call({"max_tokens": 6_000}).model_budget.budget.input_budget == 2_000


@pytest.mark.parametrize("answer", [8_000, 9_000])
def test_l25_an_answer_of_the_whole_window_is_a_typed_error_with_both_figures(answer: int) -> None:
    llm = Sending(context_window=8_000, max_tokens=answer, num_output=answer, real_output=1)
    with pytest.raises(ContextBudgetError, match=rf"answer limit of .* is {answer} tokens, .* has 8000"):
        with_optimizer(llm)
    guarded = with_optimizer(ScriptedLLM(context_window=8_000, num_output=256))
    with pytest.raises(ContextBudgetError, match=f"{answer} tokens"):
        guarded.chat([ChatMessage(content="Hi")], max_tokens=answer)


@pytest.mark.parametrize(
    ("llm", "named"),
    [
        pytest.param(Sending(track_previous_responses=True), "track_previous_responses", id="tracking"),
        pytest.param(Sending.holding(_previous_response_id="resp_1"), "previous_response_id", id="a private id"),
        pytest.param(Sending(cached_content="cachedContents/1"), "cached_content", id="cached content"),
    ],
)
def test_l14_what_the_server_holds_is_refused_with_the_remedy(llm: Sending, named: str) -> None:
    for front in (with_optimizer, lambda model: EngineOptimizer(llm=model)):
        with pytest.raises(ServerStateError, match=f"`{named}` makes the server add"):
            front(llm)  # type: ignore[operator]


@pytest.mark.parametrize("argument", ["previous_response_id", "conversation"])
def test_l14_a_call_that_refers_to_it_is_refused(argument: str) -> None:
    with pytest.raises(ServerStateError, match=f"`{argument}`"):
        with_optimizer(ScriptedLLM()).chat([ChatMessage(content="Hi")], **{argument: "x"})
    with pytest.raises(ServerStateError, match=f"`{argument}`"):
        with_optimizer(Sending(additional_kwargs={argument: "x"})).chat([ChatMessage(content="Hi")])


def test_l16_the_window_of_further_arguments_is_the_one_that_is_sent() -> None:
    llm = Sending(context_window=32_768, num_output=256, additional_kwargs={"num_ctx": 4_096})
    assert with_optimizer(llm).guarded_call({}).model_budget.budget.context_window == 4_096
    assert EngineOptimizer(llm=llm).budget.context_window == 4_096


class Answer(BaseModel):
    """An answer."""

    text: str


def test_l25_a_structured_model_sends_the_limit_of_the_model_inside() -> None:
    assert sent_answer_of(Sending(max_tokens=6_000).as_structured_llm(Answer)) == 6_000


def test_l14_further_arguments_of_a_model_are_refused_by_an_engines_optimizer_too() -> None:
    with pytest.raises(ServerStateError, match="`conversation`"):
        EngineOptimizer(llm=Sending(additional_kwargs={"conversation": "c"}))
