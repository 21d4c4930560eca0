"""What is read from an engine: a request has the tokens that its renderer counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.llms import LLM, ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine, TransformQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer

from chat_engine_runs import FIVE, ScriptedRetriever, nodes_of, preset_history
from ctxopt_core import ContextBudgetError
from ctxopt_core.adapters import count_request
from engine_parts import attached_with_own_memory
from llamaindex_ctxopt import EngineOptimizer
from llamaindex_ctxopt.engines.attached_engine import read_engine
from llamaindex_ctxopt.engines.engine_request import EngineRequest
from llamaindex_ctxopt.storage.message_list_memory import MessageListMemory
from made_up_texts import text_of
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM

QUESTION = "Which lantern is broken?"
SYSTEM = "Be brief and kind."
FOUR = preset_history(4)


def chat_llm(**options: Any) -> ScriptedLLM:
    return ScriptedLLM(context_window=9_000, **options)


def chat_engine(kind: Any, llm: LLM, history: Sequence[ChatMessage], **options: Any) -> Any:
    memory = ChatMemoryBuffer.from_defaults(chat_history=list(history), token_limit=100_000)
    return kind.from_defaults(ScriptedRetriever(FIVE), llm=llm, memory=memory, **options)


def query_engine(mode: Any, llm: LLM, **options: Any) -> RetrieverQueryEngine:
    synthesizer = get_response_synthesizer(llm=llm, response_mode=mode, **options)
    return RetrieverQueryEngine(ScriptedRetriever(FIVE), synthesizer)


def citing(llm: LLM, size: int = 512) -> CitationQueryEngine:
    return CitationQueryEngine(ScriptedRetriever(FIVE), llm=llm, citation_chunk_size=size)


def counted(engine: Any, llm: LLM, history: Sequence[ChatMessage] = ()) -> int:
    """Return the tokens that the renderer of an engine counts for the request as it is sent."""
    optimizer = EngineOptimizer(llm=llm)
    assert attached_with_own_memory(optimizer, engine) is engine
    fitting = optimizer._planner.plan.documents
    assert fitting is not None
    given, renderer = fitting._rendered(EngineRequest(query=QUESTION, nodes=FIVE, messages=history))
    return count_request(given, fitting.model_budget.counter, replace(renderer, rule=None))


def sent(engine: Any, llm: Any) -> int:
    """Return what the last request counts when the engine is asked, in tokens."""
    engine.chat(QUESTION) if hasattr(engine, "chat") else engine.query(QUESTION)
    tokens: int = llm.calls[-1].tokens
    return tokens


@pytest.mark.parametrize("history", [[], FOUR], ids=["no history", "history"])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        pytest.param(ContextChatEngine, {}, id="context"),
        pytest.param(ContextChatEngine, {"system_prompt": SYSTEM}, id="context, system prompt"),
        pytest.param(
            ContextChatEngine,
            {"prefix_messages": [ChatMessage(role="system", content=SYSTEM), *preset_history(2)]},
            id="context, prefix messages",
        ),
        pytest.param(ContextChatEngine, {"prefix_messages": preset_history(2)}, id="context, no system message"),
        pytest.param(ContextChatEngine, {"context_template": "Read: {context_str}"}, id="context, template"),
        pytest.param(CondensePlusContextChatEngine, {}, id="condense plus context"),
        pytest.param(
            CondensePlusContextChatEngine, {"system_prompt": SYSTEM}, id="condense plus context, system prompt"
        ),
        pytest.param(CondensePlusContextChatEngine, {"context_prompt": "{context_str}!"}, id="context prompt"),
        pytest.param(CondensePlusContextChatEngine, {"skip_condense": True}, id="not condensing"),
    ],
)
@pytest.mark.parametrize("role", [MessageRole.SYSTEM, MessageRole.USER])
def test_i7_a_chat_engine_sends_what_its_renderer_counts(
    kind: Any, options: dict[str, Any], role: MessageRole, history: list[ChatMessage]
) -> None:
    llm = chat_llm(system_role=role)
    engine = chat_engine(kind, llm, history, **options)
    assert counted(engine, llm, history) == sent(engine, llm)


@pytest.mark.parametrize("mode", ["compact", "tree_summarize", "simple_summarize", "generation", "refine"])
def test_i7_a_query_engine_sends_what_its_renderer_counts(mode: Any) -> None:
    llm = chat_llm()
    engine = query_engine(mode, llm)
    if mode == "generation":
        assert read_engine(engine).documents is None
    elif mode == "refine":
        # One call for each document, so that none is larger.
        assert counted(engine, llm) > sent(engine, llm)
    else:
        assert counted(engine, llm) == sent(engine, llm)


def test_i7_issue_12613_simple_summarize_sends_its_list_in_the_window() -> None:
    llm = ScriptedLLM(context_window=2_000)
    optimizer = EngineOptimizer(llm=llm)
    engine = query_engine("simple_summarize", llm)
    engine._node_postprocessors = [optimizer.postprocessor()]
    optimizer.attach(engine).query(QUESTION)
    assert "['Document 0:" in llm.calls[0].text
    assert llm.calls[0].text.count("Document ") > 2
    assert llm.over == []


@pytest.mark.parametrize("size", [128, 200, 512])
def test_i7_issue_19268_a_citation_query_engine_splits_again_and_that_is_counted(size: int) -> None:
    llm = chat_llm()
    engine = citing(llm, size)
    # The template of the refining call, which is not made here, is 33 tokens longer and so decides.
    assert counted(engine, llm) == pytest.approx(sent(engine, llm) + 33, abs=3)
    assert llm.calls[-1].text.count("Source ") > 5 * (300 // size)


@pytest.mark.parametrize("window", [1_500, 2_000, 3_000])
def test_i7_the_sources_of_a_citation_query_engine_are_within_the_window(window: int) -> None:
    llm = ScriptedLLM(context_window=window)
    optimizer = EngineOptimizer(llm=llm)
    nodes = nodes_of(*[300] * 20)
    for item in nodes:
        item.node.metadata["shelf"] = text_of(f"Shelf of {item.node.node_id}:", 30)
    engine = CitationQueryEngine(
        ScriptedRetriever(nodes), llm=llm, citation_chunk_size=128, node_postprocessors=[optimizer.postprocessor()]
    )
    optimizer.attach(engine).query(QUESTION)
    assert len(llm.calls) == 1
    assert llm.calls[0].tokens > 0.6 * (window - 256 - 500)
    assert llm.over == []


def test_i7_functions_in_a_template_are_called_and_counted() -> None:
    numbered = PromptTemplate(
        "{rules}\n{context_str}",
        function_mappings={"rules": lambda **_: text_of("Rules:", 200)},
    )
    for kind, name in ((ContextChatEngine, "context_template"), (CondensePlusContextChatEngine, "context_prompt")):
        llm = chat_llm()
        engine = chat_engine(kind, llm, FOUR, **{name: numbered})
        assert counted(engine, llm, FOUR) == sent(engine, llm)
        assert "Rules:" in llm.calls[-1].text


@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
def test_i7_a_completion_model_is_sent_one_text(kind: Any) -> None:
    llm = ScriptedCompletionLLM(context_window=9_000, system_prompt=SYSTEM)
    engine = chat_engine(kind, llm, FOUR)
    # What stands around a message in the text is another thing than the tokens around a message.
    assert sent(engine, llm) <= counted(engine, llm, FOUR) <= llm.calls[-1].tokens + 40


def test_i6_the_prompts_of_a_simple_chat_engine_stand_before_the_history() -> None:
    read = read_engine(SimpleChatEngine.from_defaults(llm=chat_llm(), system_prompt=SYSTEM, memory=MessageListMemory()))
    assert [message.content for message in read.preamble.messages] == [SYSTEM]
    assert (read.documents, read.history) == (None, None)


def test_i7_a_condense_question_engine_has_two_requests() -> None:
    llm = ScriptedLLM(context_window=2_000, answer_tokens=20)
    optimizer = EngineOptimizer(llm=llm)
    inner = query_engine("compact", llm)
    inner._node_postprocessors = [optimizer.postprocessor()]
    engine = CondenseQuestionChatEngine.from_defaults(query_engine=inner, memory=optimizer.memory(), llm=llm)
    engine._memory.set(preset_history(60))
    read = read_engine(optimizer.attach(engine))
    assert read.history is not read.documents
    engine.chat(QUESTION)
    condensing, answering = llm.calls
    assert llm.over == []
    assert condensing.tokens > 0.75 * llm.limit
    assert answering.text.count("Document ") > 3


@pytest.mark.parametrize("printed", [50, 200, 400, 800])
def test_i7_issue_16125_a_condensing_prompt_is_within_the_window_too(printed: int) -> None:
    history = preset_history(20)
    for number, message in enumerate(history):
        message.additional_kwargs["log"] = text_of(f"Log of message {number}:", printed)
    llm = ScriptedLLM(context_window=4_000)
    optimizer = EngineOptimizer(llm=llm)
    memory = optimizer.memory()
    memory.set(history)
    engine = CondensePlusContextChatEngine.from_defaults(
        ScriptedRetriever(FIVE), llm=llm, memory=memory, node_postprocessors=[optimizer.postprocessor()]
    )
    optimizer.attach(engine).chat(QUESTION)
    condensing, answering = llm.calls
    assert llm.over == []
    assert condensing.text.count("Log of message") > 1
    assert answering.text.count("Document ") == 5


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        (TransformQueryEngine(query_engine("compact", chat_llm()), HyDEQueryTransform(llm=chat_llm())), "Transform"),
        (ScriptedRetriever(FIVE), "ScriptedRetriever"),
        (None, "NoneType"),
    ],
)
def test_i7_an_engine_of_an_unknown_kind_is_refused_and_the_known_ones_are_named(engine: object, name: str) -> None:
    optimizer = EngineOptimizer(llm=chat_llm())
    plan = optimizer._planner.plan
    known = "ContextChatEngine, CondenseQuestionChatEngine, SimpleChatEngine, CitationQueryEngine, RetrieverQueryEngine"
    with pytest.raises(
        TypeError, match=f"`engine` must be one of .*CondensePlusContextChatEngine, {known}, got {name}"
    ):
        optimizer.attach(engine)
    assert optimizer._planner.plan is plan


def test_i7_what_is_kept_free_for_llamaindex_must_leave_something() -> None:
    llm = ScriptedLLM(context_window=600)
    engine = chat_engine(ContextChatEngine, llm, [])
    with pytest.raises(ContextBudgetError):
        attached_with_own_memory(EngineOptimizer(llm=llm), engine)
