"""The chat engines with documents and history: one call for a turn, within the window, whatever the conversation is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole

from chat_engine_runs import (
    NODES,
    VARYING,
    Conversation,
    Engine,
    ScriptedRetriever,
    Turn,
    conversation,
    preset_history,
)
from engine_parts import Kind
from llamaindex_ctxopt.guard.llm import with_optimizer
from made_up_texts import text_of
from request_tokens import count_text
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM, calling

CONTEXT, CONDENSE = "context", "condense_plus_context"
ours = pytest.mark.parametrize("kind", ["ours", "ours, attached"])
engines = pytest.mark.parametrize("engine", [CONTEXT, CONDENSE])
presets = pytest.mark.parametrize(
    "preset", [(), preset_history(30, tokens=98), preset_history(60)], ids=["new", "30-before", "60-before"]
)


def calls_of(engine: Engine, turn: Turn, history: bool) -> int:
    """Return how many calls a turn takes: one, and one more where the question is condensed with the history."""
    return len(turn.calls) - (engine == CONDENSE and history)


def faults_of(
    talk: Conversation, engine: Engine, turns: Iterable[Turn], before: Sequence[ChatMessage] = ()
) -> list[str]:
    """Name what is wrong with the turns of a conversation: calls beside the one, calls over the window, errors."""
    found = []
    for number, turn in enumerate(turns):
        if calls_of(engine, turn, bool(before) or number > 0) != 1:
            found.append(f"turn {number}: {len(turn.calls)} calls")
        if turn.error is not None or turn.over:
            found.append(f"turn {number}: {turn.over} over the window, {turn.error}")
    stored = [message.content for message in talk.engine.chat_history]
    said = [text for pair in talk.past for text in pair]
    return found if stored == said else [*found, "what is stored is not what was said"]


@presets
@engines
@ours
def test_i7_one_call_within_the_window_with_all_nodes_and_seven_past_turns(
    kind: Kind, engine: Engine, preset: Sequence[ChatMessage]
) -> None:
    talk = conversation(kind, engine, preset)
    turns = talk.hold(60)
    assert faults_of(talk, engine, turns, preset) == []
    assert {turn.nodes_whole for turn in turns} == {NODES}
    assert min(turn.turns_visible for turn in turns[-20:]) >= 7
    assert min(turn.turns_whole for turn in turns[-20:]) >= 6


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@engines
@ours
async def test_i7_async_and_streams_are_no_different(kind: Kind, engine: Engine, stream: bool) -> None:
    before = preset_history(60)
    talk = conversation(kind, engine, before)
    turns = await talk.ahold(8, stream=stream)
    assert faults_of(talk, engine, turns, before) == []
    assert {turn.nodes_whole for turn in turns} == {NODES}
    assert min(turn.turns_visible for turn in turns) >= 7
    assert {call.method for turn in turns for call in turn.answering} == {"astream_chat" if stream else "achat"}


@engines
@ours
def test_i7_a_stream_is_no_different(kind: Kind, engine: Engine) -> None:
    before = preset_history(60)
    talk = conversation(kind, engine, before)
    turns = talk.hold(8, stream=True)
    assert faults_of(talk, engine, turns, before) == []
    assert {turn.nodes_whole for turn in turns} == {NODES}
    assert {call.method for turn in turns for call in turn.answering} == {"stream_chat"}


@pytest.mark.parametrize(
    ("llm", "visible"),
    [
        pytest.param(lambda: ScriptedLLM(model_name="gpt-4o-scripted"), 7, id="o200k"),
        pytest.param(lambda: ScriptedLLM(system_role=MessageRole.USER), 7, id="no system role"),
        pytest.param(lambda: with_optimizer(ScriptedLLM()), 7, id="guarded"),
        pytest.param(lambda: with_optimizer(ScriptedLLM(model_name="gpt-4o-scripted")), 7, id="guarded, o200k"),
        pytest.param(ScriptedCompletionLLM, 7, id="completion model"),
        pytest.param(lambda: with_optimizer(ScriptedCompletionLLM()), 7, id="guarded completion model"),
        pytest.param(lambda: ScriptedLLM(context_window=16_000), 60, id="large window"),
    ],
)
@engines
@ours
def test_i7_with_other_models(kind: Kind, engine: Engine, llm: Any, visible: int) -> None:
    before = preset_history(60)
    talk = conversation(kind, engine, before, llm=llm())
    turns = talk.hold(8)
    assert faults_of(talk, engine, turns, before) == []
    assert {turn.nodes_whole for turn in turns} == {NODES}
    assert min(turn.turns_visible for turn in turns) >= min(visible, 30)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@engines
@ours
def test_i7_with_nodes_of_all_sizes(kind: Kind, engine: Engine, stream: bool) -> None:
    before = preset_history(60)
    talk = conversation(kind, engine, before, retriever=ScriptedRetriever(*VARYING))
    turns = talk.hold(3 * len(VARYING), stream=stream)
    assert faults_of(talk, engine, turns, before) == []
    for turn, nodes in zip(turns, VARYING * 3, strict=True):
        tokens = sum(count_text(node.text, "cl100k_base") for node in nodes)
        assert turn.nodes_whole == len(nodes) or (tokens > 1_500 and turn.nodes_whole >= 1)
        assert turn.turns_visible >= 3


def history_with_calls(exchanges: int = 20) -> list[ChatMessage]:
    """Return a history whose answers looked something up first, once in parallel."""
    history: list[ChatMessage] = []
    for turn in range(exchanges):
        history.append(ChatMessage(role="user", content=text_of(f"Earlier user {turn}:", 60)))
        numbers = range(1 + turn % 2)
        history.append(calling(*(("page", {"number": number}) for number in numbers), start=10 * turn))
        history += [
            ChatMessage(
                role="tool",
                content=text_of(f"Page {turn} {number}:", 150),
                additional_kwargs={"tool_call_id": f"call-{10 * turn + number}"},
            )
            for number in numbers
        ]
        history.append(ChatMessage(role="assistant", content=text_of(f"Earlier assistant {turn}:", 60)))
    return history


@engines
@ours
def test_i7_with_a_history_of_calls(kind: Kind, engine: Engine) -> None:
    before = history_with_calls()
    talk = conversation(kind, engine, before)
    turns = talk.hold(6)
    assert [calls_of(engine, turn, history=True) for turn in turns] == [1] * 6
    assert [(turn.error, turn.over, turn.nodes_whole >= 2) for turn in turns] == [(None, 0, True)] * 6
    for turn in turns:
        rows = turn.calls[-1].rows
        asked = {call["id"] for row in rows for call in row.get("tool_calls", ())}
        answered = {row["tool_call_id"] for row in rows if row["role"] == "tool"}
        assert asked == answered
    assert any(row["role"] == "tool" for row in turns[0].answering[0].rows)
    assert talk.engine.chat_history[: len(before)] == before


@engines
def test_i7_with_a_long_system_prompt(engine: Engine) -> None:
    before, prompt = preset_history(60), text_of("You keep the log.", 600)
    talk = conversation("ours, attached", engine, before, system_prompt=prompt)
    turns = talk.hold(6)
    assert faults_of(talk, engine, turns, before) == []
    assert all(prompt in turn.calls[-1].text for turn in turns)
    assert {turn.nodes_whole for turn in turns} == {NODES}
    assert min(turn.turns_visible for turn in turns) >= 4


def test_i7_with_prefix_messages() -> None:
    before = preset_history(60)
    prefix = [
        ChatMessage(role="system", content=text_of("You keep the log.", 200)),
        ChatMessage(role="user", content=text_of("An example.", 100)),
        ChatMessage(role="assistant", content=text_of("As in the example.", 100)),
    ]
    talk = conversation("ours, attached", CONTEXT, before, prefix_messages=prefix)
    turns = talk.hold(6)
    assert faults_of(talk, CONTEXT, turns, before) == []
    assert all(message.content in turn.calls[-1].text for turn in turns for message in prefix if message.content)
    assert {turn.nodes_whole for turn in turns} == {NODES}


@pytest.mark.parametrize("kind", ["ours", "ours, attached"])
def test_i7_a_question_that_is_not_condensed_takes_one_call(kind: Kind) -> None:
    talk = conversation(kind, CONDENSE, preset_history(60), skip_condense=True)
    turns = talk.hold(6)
    assert [(len(turn.calls), turn.over, turn.error, turn.nodes_whole) for turn in turns] == [(1, 0, None, NODES)] * 6
    assert min(turn.turns_visible for turn in turns) >= 7
