"""A history strategy of one's own in an agent: its progress is kept in the state of the run, and nowhere else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ctxopt_core import HistoryPolicy, HistoryView
from langchain_ctxopt import ContextOptimizerMiddleware
from scripted_model import PAGE, TOOLS, ScriptedModel, calling


class NewestTurn:
    """Keeps the newest turn, and counts how often it was asked."""

    def __init__(self, *, remembers: bool = True) -> None:
        self.seen: list[int] = []
        self.remembers = remembers

    def __call__(self, view: HistoryView) -> list[int]:
        self.seen.append(view.progress.get("calls", 0))
        if self.remembers:
            view.progress["calls"] = view.progress.get("calls", 0) + 1
        return [index for turn in view.turns[-1:] for index in turn]


def agent_with(strategy: Any, answers: list[AIMessage]) -> tuple[ScriptedModel, Any]:
    model = ScriptedModel(window=900, answers=answers)
    middleware = ContextOptimizerMiddleware(history=HistoryPolicy(strategy=strategy))
    return model, create_agent(model, TOOLS, middleware=[middleware], checkpointer=InMemorySaver())


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def asked(agent: Any, text: str, name: str) -> dict[str, Any]:
    return agent.invoke({"messages": [HumanMessage(text)]}, thread(name))


LONG = PAGE * 20


def test_h23_the_progress_survives_from_call_to_call_and_is_kept_per_thread():
    strategy = NewestTurn()
    model, agent = agent_with(strategy, [AIMessage("Noted.")])
    for name in ("one", "one", "one", "two", "two", "one"):
        output = asked(agent, LONG, name)
        assert "ctxopt_progress" not in output

    assert strategy.seen == [0, 1, 0, 2]
    assert agent.get_state(thread("one")).values["ctxopt_progress"] == {"calls": 3}
    assert agent.get_state(thread("two")).values["ctxopt_progress"] == {"calls": 1}
    assert not model.refused


def test_h22_h23_the_state_keeps_every_message():
    _, agent = agent_with(NewestTurn(), [calling(("read", {"page": 1})), AIMessage("Noted.")])
    for _ in range(4):
        asked(agent, LONG, "one")
    kept = agent.get_state(thread("one")).values["messages"]

    assert [message.text for message in kept if message.type == "human"] == [LONG] * 4


def test_h23_awaited_the_progress_is_kept_too():
    strategy = NewestTurn()
    _, agent = agent_with(strategy, [AIMessage("Noted.")])

    async def run() -> None:
        for _ in range(3):
            await agent.ainvoke({"messages": [HumanMessage(LONG)]}, thread("one"))

    asyncio.run(run())
    assert strategy.seen == [0, 1]


@pytest.mark.parametrize("strategy", [NewestTurn(remembers=False), "turns"], ids=["remembers nothing", "by name"])
def test_h23_where_nothing_is_remembered_the_state_has_no_progress(strategy):
    _, agent = agent_with(strategy, [AIMessage("Noted.")])
    for _ in range(3):
        asked(agent, LONG, "one")

    assert "ctxopt_progress" not in agent.get_state(thread("one")).values


def test_h23_what_a_strategy_does_wrong_is_an_error_that_names_it():
    _, agent = agent_with(lambda view: [10_000], [AIMessage("Noted.")])
    asked(agent, PAGE * 30, "one")
    with pytest.raises(ValueError, match="must return indices"):
        asked(agent, PAGE * 30, "one")
