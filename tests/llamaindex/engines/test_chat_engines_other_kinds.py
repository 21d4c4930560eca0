"""The chat engines whose documents and history are not in one request, and those that an index makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine, SimpleChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.query_engine import RetrieverQueryEngine

from chat_engine_runs import FIVE, Conversation, ScriptedRetriever, Turn, nodes_of, preset_history
from llamaindex_ctxopt import EngineOptimizer, with_optimizer
from made_up_texts import text_of
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM

SYSTEM = text_of("You keep the log.", 300)

models = pytest.mark.parametrize(
    "model",
    [
        pytest.param(ScriptedLLM, id="chat"),
        pytest.param(ScriptedCompletionLLM, id="completion"),
        pytest.param(lambda: ScriptedLLM(model_name="gpt-4o-scripted"), id="o200k"),
        pytest.param(lambda: with_optimizer(ScriptedLLM()), id="guarded"),
    ],
)
attaching = pytest.mark.parametrize("attach", [False, True], ids=["alone", "attached"])
ways = pytest.mark.parametrize("way", ["chat", "stream", "achat", "astream"])


async def held(talk: Conversation, way: str, turns: int) -> list[Turn]:
    """Talk for some turns in one of four ways."""
    stream = way.endswith("stream")
    return await talk.ahold(turns, stream=stream) if way.startswith("a") else talk.hold(turns, stream=stream)


def simple(llm: Any, preset: Sequence[ChatMessage], *, attach: bool, system: str = "") -> Conversation:
    optimizer = EngineOptimizer(llm=llm)
    memory = optimizer.memory()
    memory.set(list(preset))
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt=system or None)
    if attach:
        optimizer.attach(engine)
    past = [(asked.content or "", said.content or "") for asked, said in zip(preset[::2], preset[1::2], strict=True)]
    return Conversation(engine=engine, llm=llm, retriever=ScriptedRetriever(()), past=past)


def condensing(llm: Any, preset: Sequence[ChatMessage], *, attach: bool, streaming: bool = False) -> Conversation:
    optimizer = EngineOptimizer(llm=llm)
    retriever = ScriptedRetriever(FIVE)
    memory = optimizer.memory()
    memory.set(list(preset))
    inner = RetrieverQueryEngine.from_args(
        retriever, llm=llm, streaming=streaming, node_postprocessors=[optimizer.postprocessor()]
    )
    engine = CondenseQuestionChatEngine.from_defaults(query_engine=inner, llm=llm, memory=memory)
    if attach:
        optimizer.attach(engine)
    return Conversation(engine=engine, llm=llm, retriever=retriever)


@ways
@attaching
@models
async def test_i6_a_simple_chat_makes_one_call_with_system_prompt_and_question(
    model: Any, attach: bool, way: str
) -> None:
    talk = simple(model(), preset_history(60), attach=attach, system=SYSTEM)
    turns = await held(talk, way, 6)
    assert [(len(turn.calls), turn.over, turn.error) for turn in turns] == [(1, 0, None)] * 6
    for turn, (question, _) in zip(turns, talk.past[30:], strict=True):
        assert SYSTEM in turn.calls[0].text
        assert question in turn.calls[0].text
        assert turn.turns_whole >= 13
    assert all(text in turns[-1].calls[0].text for pair in talk.past[-4:-1] for text in pair)
    assert len(talk.engine.chat_history) == 72


@ways
@attaching
@models
async def test_i6_a_condensed_question_makes_two_calls_with_all_nodes_in_the_second(
    model: Any, attach: bool, way: str
) -> None:
    talk = condensing(model(), preset_history(60), attach=attach, streaming=way.endswith("stream"))
    turns = await held(talk, way, 4)
    assert [(len(turn.calls), turn.over, turn.error, turn.nodes_whole) for turn in turns] == [(2, 0, None, 5)] * 4
    for turn, (question, _) in zip(turns, talk.past, strict=True):
        assert question in turn.calls[0].text
        assert turn.calls[0].tokens > 2_500 or not attach
    assert len(talk.engine.chat_history) == 68


@attaching
@pytest.mark.parametrize("mode", ["best", "condense_plus_context", "context", "condense_question", "simple"])
def test_i6_i7_an_engine_that_an_index_makes_takes_the_parts(mode: Any, attach: bool) -> None:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)
    memory = optimizer.memory()
    memory.set(preset_history(60))
    index = VectorStoreIndex([item.node for item in nodes_of(*[300] * 9)], embed_model=MockEmbedding(embed_dim=4))
    engine = index.as_chat_engine(
        chat_mode=mode,
        llm=llm,
        memory=memory,
        node_postprocessors=[optimizer.postprocessor()],
        similarity_top_k=9,
    )
    assert isinstance(engine, CondensePlusContextChatEngine) == (mode in {"best", "condense_plus_context"})
    if attach:
        optimizer.attach(engine)
    for number in range(3):
        before = len(llm.calls)
        engine.chat(text_of(f"Question {number}:", 100))
        assert len(llm.calls) - before == (1 if mode in {"context", "simple"} else 2)
    assert llm.over == []
    whole = sum(f"Document {i}:" in llm.calls[-1].text for i in range(9))
    assert whole >= 4 or mode == "simple"


@attaching
@models
@ways
async def test_l5_a_history_for_one_question_is_within_the_window_where_the_engine_is_attached(
    model: Any, attach: bool, way: str
) -> None:
    """The engine never asks its memory then: only a guarded LLM can keep such a request within the window."""
    llm = model()
    talk = condensing(llm, (), attach=attach, streaming=way.endswith("stream"))
    history = preset_history(160)
    chat = {
        "chat": talk.engine.chat,
        "stream": talk.engine.stream_chat,
        "achat": talk.engine.achat,
        "astream": talk.engine.astream_chat,
    }[way]

    async def ask() -> None:
        answer: Any = chat("And the ferry?", chat_history=history)
        answer = await answer if way.startswith("a") else answer
        if way == "stream":
            assert "".join(answer.response_gen)
        elif way == "astream":
            assert [part async for part in answer.async_response_gen()]

    if not attach:
        with pytest.raises(ValueError, match=r"maximum context length|is not cut"):
            await ask()
        return
    await ask()
    condensing_call, answering = talk.llm.calls
    assert not condensing_call.over
    assert not answering.over
    assert condensing_call.tokens > 0.8 * (4_000 - 256)
    assert "And the ferry?" in condensing_call.text
    assert (history[-1].content or "")[-20:] in condensing_call.text
    assert len(history) == 160
