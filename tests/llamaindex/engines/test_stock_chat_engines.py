"""What the memories of LlamaIndex do in the set-up that ours is measured in: the baseline of every comparison."""

from __future__ import annotations

from statistics import fmean

import pytest

from chat_engine_runs import VARYING, Engine, ScriptedRetriever, conversation, preset_history
from engine_parts import Kind

NO_ROOM = ("Calculated available context size", "Chunk size", "This model's maximum context length")


@pytest.mark.parametrize(
    ("kind", "engine", "mean", "most", "failed", "visible"),
    [
        pytest.param("Memory", "context", 1.67, 5, 0, 5.95, id="memory-context"),
        pytest.param("Memory", "condense_plus_context", 2.72, 6, 0, 5.95, id="memory-condense"),
        pytest.param("ChatMemoryBuffer", "context", 2.20, 9, 45, 0, id="buffer-context"),
        pytest.param("ChatMemoryBuffer", "condense_plus_context", 3.53, 15, 45, 0, id="buffer-condense"),
    ],
)
def test_i7_the_stock_memories_cost_calls_or_fail(
    kind: Kind, engine: Engine, mean: float, most: int, failed: int, visible: float
) -> None:
    with conversation(kind, engine) as talk:
        turns = talk.hold(60)
    errors = [str(turn.error) for turn in turns if turn.error is not None]
    calls = [len(turn.calls) for turn in turns if turn.error is None]
    assert len(errors) == failed
    assert all(error.startswith(NO_ROOM) for error in errors)
    shown = fmean(0 if turn.error else turn.turns_visible for turn in turns[-20:])
    assert (fmean(calls), max(calls), shown) == (pytest.approx(mean, abs=0.005), most, pytest.approx(visible))


def test_i7_a_history_that_all_but_fills_the_window_costs_dozens_of_calls() -> None:
    turn = conversation("ChatMemoryBuffer", "context", preset_history(30, tokens=98)).ask()
    assert (len(turn.calls), turn.nodes_whole, turn.error) == (46, 0, None)


@pytest.mark.parametrize("engine", ["context", "condense_plus_context"])
@pytest.mark.parametrize("kind", ["Memory", "ChatMemoryBuffer"])
def test_i7_a_history_of_60_messages_fails_in_every_turn(kind: Kind, engine: Engine) -> None:
    with conversation(kind, engine, preset_history(60)) as talk:
        turns = talk.hold(3)
    assert [str(turn.error).startswith(NO_ROOM) for turn in turns] == [True] * 3


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_every_way_to_talk_is_recorded_alike(stream: bool) -> None:
    turns = await conversation("ChatMemoryBuffer").ahold(3, stream=stream)
    said = [(len(turn.calls), turn.over, turn.nodes_whole, turn.turns_visible) for turn in turns]
    assert said == [(1, 0, 5, number) for number in range(3)]
    assert {call.method for turn in turns for call in turn.calls} == {"astream_chat" if stream else "achat"}


def test_sets_of_nodes_come_in_turn() -> None:
    talk = conversation("ChatMemoryBuffer", retriever=ScriptedRetriever(*VARYING))
    assert [turn.nodes_whole for turn in talk.hold(3)] == [len(nodes) for nodes in VARYING[:3]]
