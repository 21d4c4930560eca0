"""Chat engines at the edges: small windows, long questions, no nodes, given histories, threads and tasks."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.llms import ChatMessage

from chat_engine_runs import (
    FIVE,
    NODES,
    Conversation,
    Engine,
    ScriptedRetriever,
    conversation,
    nodes_of,
    preset_history,
)
from ctxopt_core import ContextBudgetError
from engine_parts import Kind
from llamaindex_ctxopt import EngineOptimizer, with_optimizer
from made_up_texts import text_of
from request_tokens import count_text
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM

CONTEXT, CONDENSE = "context", "condense_plus_context"
ours = pytest.mark.parametrize("kind", ["ours", "ours, attached"])
engines = pytest.mark.parametrize("engine", [CONTEXT, CONDENSE])
SMALLEST: dict[Engine, int] = {CONTEXT: 830, CONDENSE: 900}
"""A window in which a question of a few words just fits, beside an answer of 256 tokens and the padding of 500."""


class OtherTokenizer(ScriptedLLM):
    """A model whose own tokenizer is none that can be had: what it is sent is recounted with cl100k."""

    @property
    def encoding(self) -> str:
        return "cl100k_base"


@pytest.mark.parametrize("name", ["claude-3-5-sonnet-20241022", "a model that nobody knows"])
@engines
@ours
def test_i7_a_model_without_a_known_tokenizer_gets_one_call_with_room_to_spare(
    kind: Kind, engine: Engine, name: str
) -> None:
    talk = conversation(kind, engine, preset_history(60), llm=OtherTokenizer(model_name=name))
    turns = talk.hold(6)
    assert [(len(turn.answering), turn.over, turn.error) for turn in turns] == [(1, 0, None)] * 6
    assert min(turn.nodes_whole for turn in turns) >= 4
    assert min(turn.turns_visible for turn in turns) >= 4
    assert max(call.tokens for call in talk.llm.calls) < 3_100


@pytest.mark.parametrize("more", [0, 40, 300, 1_000])
@engines
def test_i7_a_window_just_above_the_smallest_holds_something_of_the_nodes(engine: Engine, more: int) -> None:
    llm = ScriptedLLM(context_window=SMALLEST[engine] + more)
    talk = conversation("ours, attached", engine, preset_history(60), llm=llm)
    for number in range(3):
        turn = talk.ask(f"What of the ferry, number {number}?")
        assert (len(turn.answering), turn.over, turn.error) == (1, 0, None)
        assert "Document 0:" in turn.calls[-1].text or more <= 300
        assert turn.calls[-1].tokens >= llm.context_window - 256 - 500 - 60


@pytest.mark.parametrize("tokens", [1_000, 2_000, 2_600])
@engines
def test_i7_a_question_of_most_of_the_window_is_asked_whole_beside_something_of_the_nodes(
    engine: Engine, tokens: int
) -> None:
    question = text_of("Question of many words:", tokens)
    turn = conversation("ours, attached", engine, preset_history(60)).ask(question)
    assert (len(turn.answering), turn.over, turn.error) == (1, 0, None)
    assert question in turn.calls[-1].text
    assert "Document 0:" in turn.calls[-1].text


@pytest.mark.parametrize("way", ["ask", "aask"])
@engines
async def test_i6_a_question_that_the_given_history_ends_with_does_not_take_the_window(
    engine: Engine, way: str
) -> None:
    question = text_of("Asked before:", 100)
    talk = conversation("ours, attached", engine, [*preset_history(60), ChatMessage(content=question)])
    turn = await talk.aask(question) if way == "aask" else talk.ask(question)
    assert (len(turn.answering), turn.over, turn.error) == (1, 0, None)
    assert turn.nodes_whole == NODES
    assert turn.turns_visible >= 5


@engines
def test_i7_a_window_that_the_padding_fills_is_refused_when_the_parts_are_made(engine: Engine) -> None:
    with pytest.raises(ContextBudgetError, match="nothing is left for the input"):
        conversation("ours", engine, llm=ScriptedLLM(context_window=756))


@pytest.mark.parametrize("guarded", [False, True], ids=["plain", "guarded"])
@engines
@ours
@pytest.mark.parametrize("way", ["chat", "stream", "achat", "astream"])
async def test_i7_a_question_longer_than_the_window_is_an_error_after_which_the_conversation_goes_on(
    way: str, kind: Kind, engine: Engine, guarded: bool
) -> None:
    double = ScriptedLLM()
    talk = conversation(kind, engine, preset_history(20), llm=with_optimizer(double) if guarded else double)
    stored = talk.engine.chat_history

    async def asked(question: str | None = None) -> Any:
        stream = way.endswith("stream")
        return await talk.aask(question, stream=stream) if way[0] == "a" else talk.ask(question, stream=stream)

    failed = await asked(text_of("A very long question:", 3_600))
    assert isinstance(failed.error, ContextBudgetError)
    assert failed.error.costs["query"] > 3_200
    assert failed.calls == ()
    assert talk.engine.chat_history == stored
    turn = await asked()
    assert (turn.error, turn.over, len(turn.answering), turn.nodes_whole) == (None, 0, 1, NODES)
    assert turn.turns_visible >= 7


@pytest.mark.parametrize("guarded", [False, True], ids=["plain", "guarded"])
@engines
@ours
async def test_i7_without_nodes_the_engine_answers_for_itself_and_the_next_question_is_whole(
    kind: Kind, engine: Engine, guarded: bool
) -> None:
    """What finds nothing is answered `Empty Response` by LlamaIndex, which asks no model: not ours to change."""
    double = ScriptedLLM()
    llm = with_optimizer(double) if guarded else double
    talk = conversation(kind, engine, preset_history(60), retriever=ScriptedRetriever((), FIVE), llm=llm)
    for _ in range(3):
        empty, full = talk.ask(), await talk.aask()
        assert [turn.error for turn in (empty, full)] == [None, None]
        assert len(empty.answering) == 0
        assert (len(full.answering), full.nodes_whole) == (1, NODES)
    assert talk.llm.over == []


@ours
def test_i7_the_chunks_of_the_last_question_stand_in_for_those_that_were_not_found(kind: Kind) -> None:
    """`prev_chunks` never come to a postprocessor, but they are what one has let through before."""
    talk = conversation(kind, CONTEXT, preset_history(60), retriever=ScriptedRetriever(FIVE, ()))
    engine: Any = talk.engine
    first = engine.chat("What of the ferry?")
    second = engine.chat("And then?", prev_chunks=first.source_nodes)
    assert second.source_nodes == first.source_nodes
    assert len(first.source_nodes) == NODES
    assert talk.llm.over == []
    assert all(item.node.get_content() in talk.llm.calls[-1].text for item in FIVE)


@engines
@ours
@pytest.mark.parametrize("way", ["chat", "stream", "achat", "astream"])
async def test_i7_a_history_given_with_the_question_replaces_the_stored_one(
    way: str, kind: Kind, engine: Engine
) -> None:
    talk, given = conversation(kind, engine, preset_history(8)), preset_history(60)
    before = list(given)
    talk.ask()
    count = len(talk.llm.calls)
    match way:
        case "chat":
            talk.engine.chat("And the ferry?", chat_history=given)
        case "achat":
            await talk.engine.achat("And the ferry?", chat_history=given)
        case "stream":
            streamed = talk.engine.stream_chat("And the ferry?", chat_history=given)
            assert "".join(streamed.response_gen)
        case _:
            astreamed = await talk.engine.astream_chat("And the ferry?", chat_history=given)
            assert [token async for token in astreamed.async_response_gen()]
    assert len(talk.llm.calls) - count == (1 if engine == CONTEXT else 2)
    assert talk.llm.over == []
    assert "Question 1:" not in talk.llm.calls[-1].text
    assert sum(f"Earlier user {i}:" in talk.llm.calls[-1].text for i in range(30)) >= 7
    assert given == before


@ours
def test_i7_two_engines_in_two_threads_do_not_meddle(kind: Kind) -> None:
    talks = [conversation(kind, engine, preset_history(60)) for engine in (CONTEXT, CONDENSE) for _ in range(2)]

    def talk_on(talk: Conversation) -> list[Any]:
        asyncio.set_event_loop(loop := asyncio.new_event_loop())
        turns = talk.hold(8)
        loop.close()
        return turns

    with ThreadPoolExecutor(max_workers=4) as pool:
        for turns in pool.map(talk_on, talks):
            assert [(len(turn.answering), turn.over, turn.error, turn.nodes_whole) for turn in turns] == [
                (1, 0, None, NODES)
            ] * 8
            assert min(turn.turns_visible for turn in turns) >= 7


@pytest.mark.parametrize("guarded", [False, True], ids=["plain", "guarded"])
@engines
@ours
async def test_i7_one_engine_may_be_asked_by_several_tasks_at_once(kind: Kind, engine: Engine, guarded: bool) -> None:
    double = ScriptedLLM()
    llm = with_optimizer(double) if guarded else double
    sets = [tuple(nodes_of(*[size] * 5, name=f"Set {size}, document")) for size in (300, 100, 500, 200)]
    talk = conversation(kind, engine, preset_history(60), retriever=ScriptedRetriever(*sets), llm=llm)
    questions = [text_of(f"Question {number}:", 100) for number in range(12)]
    answers = await asyncio.gather(*(talk.engine.achat(question) for question in questions))
    assert len({str(answer) for answer in answers}) == 12
    assert len(double.calls) == (12 if engine == CONTEXT else 24)
    assert double.over == []
    assert len(talk.engine.chat_history) == 60 + 24
    for answer in answers:
        assert answer.source_nodes
        assert len({item.node.node_id[:8] for item in answer.source_nodes}) == 1


@ours
def test_i7_one_engine_may_be_asked_by_several_threads_at_once(kind: Kind) -> None:
    double = ScriptedLLM()
    talk = conversation(kind, CONTEXT, preset_history(60), llm=double)

    def ask(number: int) -> str:
        asyncio.set_event_loop(loop := asyncio.new_event_loop())
        answer = str(talk.engine.chat(text_of(f"Question {number}:", 100)))
        loop.close()
        return answer

    with ThreadPoolExecutor(max_workers=4) as pool:
        answers = list(pool.map(ask, range(12)))
    assert len(set(answers)) == len(double.calls) == 12
    assert double.over == []


@engines
def test_i7_the_completion_model_of_a_wrapped_prompt_is_within_its_window(engine: Engine) -> None:
    """What `completion_to_prompt` adds is part of what is sent."""
    wrapping = text_of("Follow the instructions.", 150)
    llm = ScriptedCompletionLLM(
        completion_to_prompt=lambda prompt: f"{wrapping}\n{prompt}\n[/INST]", context_window=2_000
    )
    talk = conversation("ours, attached", engine, preset_history(60), llm=llm)  # type: ignore[arg-type]
    turns = talk.hold(3)
    assert [(turn.over, turn.error) for turn in turns] == [(0, None)] * 3
    assert count_text(llm.calls[-1].text, "cl100k_base") > 900


def test_i7_an_optimizer_told_of_the_system_prompt_needs_no_engine() -> None:
    prompt, llm, retriever = text_of("You keep the log.", 400), ScriptedLLM(), ScriptedRetriever(FIVE)
    optimizer = EngineOptimizer(llm=llm, system_prompt=prompt)
    memory = optimizer.memory()
    memory.set(preset_history(60))
    engine = ContextChatEngine.from_defaults(
        retriever=retriever,
        llm=llm,
        memory=memory,
        system_prompt=prompt,
        node_postprocessors=[optimizer.postprocessor()],
    )
    turns = Conversation(engine=engine, llm=llm, retriever=retriever).hold(4)
    assert [(len(turn.calls), turn.over, turn.error, turn.nodes_whole) for turn in turns] == [(1, 0, None, NODES)] * 4
    assert all(prompt in call.text for call in llm.calls)
