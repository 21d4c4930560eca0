"""Where the user gives a limit in tokens, a model is asked for nothing: it may be unknown, or its server off."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, LLMMetadata, MessageRole
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.llms.ollama import Ollama
from llama_index.llms.openai import OpenAI

from llamaindex_ctxopt import (
    ContextOptimizerMemory,
    ContextOptimizerPostprocessor,
    ContextOptimizerRetriever,
    EngineOptimizer,
    with_optimizer,
)
from llamaindex_ctxopt.models.model_settings import is_chat_model
from made_up_texts import text_of
from node_inputs import FixedRetriever, texts_with_scores
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM

QUERY = "Which kiln cracked?"
CHAT = [ChatMessage(role="user" if n % 2 == 0 else "assistant", content=text_of(f"Line {n}:", 900)) for n in range(21)]
LIMITS = [
    pytest.param({"context_window": 4_096}, id="context_window"),
    pytest.param({"max_input_tokens": 3_000}, id="max_input_tokens"),
    pytest.param({"context_window": 4_096, "max_input_tokens": 3_000, "output_reserve": 200}, id="all-of-them"),
]


class Silent(ScriptedLLM):
    """A model that is never asked for its metadata."""

    error: type[Exception] = AssertionError

    @property
    def metadata(self) -> LLMMetadata:
        raise self.error


class SilentCompletion(ScriptedCompletionLLM):
    """The same, of a model that completes."""

    error: type[Exception] = AssertionError

    @property
    def metadata(self) -> LLMMetadata:
        raise self.error


def gateway() -> OpenAI:
    return OpenAI("a-gateway-name", api_key="none", api_base="http://127.0.0.1:9/v1", max_tokens=300)


def server_that_is_off() -> Ollama:
    return Ollama(model="llama3.1", base_url="http://127.0.0.1:9")


MODELS = [
    pytest.param(gateway, id="unknown-name-of-OpenAI"),
    pytest.param(server_that_is_off, id="Ollama-that-is-off"),
    pytest.param(Silent, id="never-asked"),
    pytest.param(SilentCompletion, id="completion-model-never-asked"),
    pytest.param(lambda: Silent().as_structured_llm(LLMMetadata), id="structured-never-asked"),
]


@pytest.fixture(autouse=True)
def no_warnings() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("made", MODELS)
def test_l8_an_engine_optimizer_needs_a_limit_alone(made: Callable[[], Any], limits: dict[str, Any]) -> None:
    optimizer = EngineOptimizer(llm=made(), **limits)
    assert 0 < optimizer.budget.input_budget <= 4_096
    memory = optimizer.memory()
    memory.set(CHAT)
    assert optimizer.postprocessor().postprocess_nodes(texts_with_scores(*[0.5] * 90), query_str=QUERY)
    assert 0 < len(memory.get(QUERY)) < len(CHAT)
    assert optimizer.fits_one_call(texts_with_scores(0.5), QUERY)
    assert optimizer.last_report is not None
    assert optimizer.last_report.within_budget


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("made", MODELS)
async def test_l8_a_memory_needs_a_limit_alone(made: Callable[[], Any], limits: dict[str, Any]) -> None:
    memory = ContextOptimizerMemory.from_defaults(llm=made(), chat_history=CHAT, **limits)
    assert 0 < len(memory.get()) < len(CHAT)
    assert memory.get() == await memory.aget()
    assert ContextOptimizerMemory.from_dict(memory.to_dict()).get() == memory.get()


@pytest.mark.parametrize("made", MODELS)
def test_l8_a_postprocessor_and_a_retriever_need_a_limit_alone(made: Callable[[], Any]) -> None:
    found = texts_with_scores(*[0.5] * 90)
    kept = ContextOptimizerPostprocessor(llm=made(), max_tokens=300).postprocess_nodes(found, query_str=QUERY)
    assert 0 < len(kept) < 90
    retriever = ContextOptimizerRetriever(FixedRetriever(found), llm=made(), max_tokens=300)
    assert [item.node.node_id for item in retriever.retrieve(QUERY)] == [item.node.node_id for item in kept]


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("made", [*MODELS[:4]])
def test_l8_a_guard_needs_a_limit_alone(made: Callable[[], Any], limits: dict[str, Any]) -> None:
    llm = with_optimizer(made(), **limits)
    assert not llm.within_budget(CHAT)
    assert llm.count_tokens(CHAT[:1]) < 2_000
    assert llm.with_changes(safety_margin=100).count_tokens(CHAT[:1]) == llm.count_tokens(CHAT[:1])


@pytest.mark.parametrize("made", [Silent, SilentCompletion])
async def test_l8_a_guarded_model_answers_where_its_server_says_nothing(made: Callable[..., Any]) -> None:
    """LlamaIndex itself asks for the metadata, for its log."""
    silent = made(error=ConnectionError)
    for llm in (with_optimizer(silent, context_window=3_900), EngineOptimizer(silent, context_window=3_900).guard()):
        assert llm.chat(CHAT).message.content
        assert (await llm.achat(CHAT)).message.content
        assert llm.complete("Why?").text
        assert llm.last_report is not None
        assert llm.last_report.within_budget


@pytest.mark.parametrize("error", [ValueError, KeyError, ConnectionError, TimeoutError, RuntimeError])
def test_l8_a_guard_says_what_its_limit_says_where_the_model_cannot(error: type[Exception]) -> None:
    metadata = with_optimizer(Silent(error=error), context_window=4_096, output_reserve=96).metadata
    assert (metadata.context_window, metadata.num_output) == (4_096, 96)
    assert metadata.is_chat_model
    assert metadata.is_function_calling_model


def test_l8_a_target_is_a_limit_too_for_a_guard() -> None:
    metadata = with_optimizer(Silent(error=ValueError), target_tokens=3_000, output_reserve=96).metadata
    assert (metadata.context_window, metadata.num_output) == (3_096, 96)


@pytest.mark.parametrize("made", [gateway, server_that_is_off, lambda: Silent(error=ConnectionError)])
def test_l8_engines_plan_with_a_guarded_model_that_cannot_say_its_window(made: Callable[[], Any]) -> None:
    llm = with_optimizer(made(), context_window=4_096)
    optimizer = EngineOptimizer(llm=llm, context_window=4_096)
    query_engine = RetrieverQueryEngine.from_args(
        FixedRetriever(texts_with_scores(0.5)), llm=llm, node_postprocessors=[optimizer.postprocessor()]
    )
    optimizer.attach(query_engine)
    assert optimizer.fits_one_call(texts_with_scores(0.5), QUERY)


def test_l8_an_attached_engine_answers_although_its_model_says_nothing() -> None:
    llm = Silent(error=ConnectionError, context_window=4_096)
    optimizer = EngineOptimizer(llm=llm, context_window=4_096)
    memory = optimizer.memory()
    memory.set(CHAT)
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    assert optimizer.attach(engine).chat(QUERY).response
    assert llm.calls[-1].tokens <= 4_096 - 256

    other = EngineOptimizer(llm=llm, context_window=4_096)
    context = ContextChatEngine.from_defaults(
        FixedRetriever(texts_with_scores(*[0.5] * 200)),
        llm=llm,
        memory=other.memory(),
        node_postprocessors=[other.postprocessor()],
    )
    assert other.attach(context).chat(QUERY).response
    assert llm.calls[-1].tokens <= 4_096 - 256


def test_l8_without_a_limit_an_unknown_name_is_known_by_its_name() -> None:
    with pytest.raises(UserWarning, match="the context window of 'a-gateway-name' is not known"):
        with_optimizer(gateway())


@pytest.mark.parametrize(
    ("llm", "is_chat"),
    [
        pytest.param(with_optimizer(SilentCompletion(), context_window=999), False, id="a-custom-model"),
        pytest.param(with_optimizer(Silent(), context_window=999), True, id="a-model-that-calls-tools"),
        pytest.param(with_optimizer(MockLLM()), False, id="what-it-says"),
    ],
)
def test_l8_the_class_says_whether_a_model_that_is_not_asked_reads_messages(llm: Any, is_chat: bool) -> None:
    assert is_chat_model(llm) is is_chat


def test_l8_the_answer_that_the_model_is_limited_to_is_kept_free() -> None:
    assert EngineOptimizer(llm=gateway(), context_window=16_000).budget.input_budget == 16_000 - 300
    assert Silent().system_role == MessageRole.SYSTEM
