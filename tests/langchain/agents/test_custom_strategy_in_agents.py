"""A history strategy of one's own in an agent: its progress is kept in the state of the run, and nowhere else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ctxopt_core import HistoryPolicy, HistoryView
from langchain_ctxopt import ContextOptimizerMiddleware
from scripted_model import PAGE, TOOLS, ScriptedModel, calling


class NewestTurn:
    """Keeps the newest turn, or some of them, and counts how often it was asked."""

    def __init__(self, *, remembers: bool = True, turns: int = 1) -> None:
        self.seen: list[int] = []
        self.remembers = remembers
        self.turns = turns

    def __call__(self, view: HistoryView) -> list[int]:
        self.seen.append(view.progress.get("calls", 0))
        if self.remembers:
            view.progress["calls"] = view.progress.get("calls", 0) + 1
        return [index for turn in view.turns[-self.turns :] for index in turn]


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


def test_h23_input_and_output_of_the_agent_have_no_progress():
    strategy = NewestTurn()
    _, agent = agent_with(strategy, [AIMessage("Noted.")])
    for _ in range(3):
        given: Any = {"messages": [HumanMessage(LONG)], "ctxopt_progress": {"calls": 70}}
        output = agent.invoke(given, thread("one"))

    assert strategy.seen == [0, 1]
    assert set(output) == {"messages"}
    schemas = (agent.get_input_jsonschema(), agent.get_output_jsonschema())
    assert not any("ctxopt_progress" in schema["properties"] for schema in schemas)


def test_h23_without_a_strategy_of_ones_own_response_and_state_schema_are_left_alone():
    plain = ContextOptimizerMiddleware(history={"strategy": "turns"})
    agent = create_agent(ScriptedModel(window=900), TOOLS, middleware=[plain], checkpointer=InMemorySaver())

    assert ContextOptimizerMiddleware.state_schema is plain.state_schema is AgentMiddleware.state_schema
    assert "ctxopt_progress" not in agent.channels


def test_h23_the_response_is_handed_on_as_it_is_where_the_progress_stays():
    request = ModelRequest(
        model=ScriptedModel(window=900),
        messages=[HumanMessage(LONG), AIMessage("Noted."), HumanMessage(LONG)],
        state={"messages": [], "ctxopt_progress": {"calls": 3}},
    )
    response = ModelResponse(result=[AIMessage("Noted.")])
    for strategy in ("turns", NewestTurn(remembers=False)):
        middleware = ContextOptimizerMiddleware(history=HistoryPolicy(strategy=strategy))
        assert middleware.wrap_model_call(request, lambda _: response) is response

    remembering = ContextOptimizerMiddleware(history=HistoryPolicy(strategy=NewestTurn()))
    extended = remembering.wrap_model_call(request, lambda _: response)
    assert extended.model_response is response
    assert extended.command.update == {"ctxopt_progress": {"calls": 4}}
    assert request.state["ctxopt_progress"] == {"calls": 3}


def test_h23_what_is_nested_in_the_state_is_not_changed_by_a_strategy():
    def noting(view: HistoryView) -> list[int]:
        view.progress["seen"].append(len(view.messages))
        return []

    state = {"messages": [], "ctxopt_progress": {"seen": [1]}}
    messages = [HumanMessage(LONG), AIMessage("Noted."), HumanMessage(LONG)]
    request = ModelRequest(model=ScriptedModel(window=900), messages=messages, state=state)
    middleware = ContextOptimizerMiddleware(history=HistoryPolicy(strategy=noting))
    extended = middleware.wrap_model_call(request, lambda _: ModelResponse(result=[AIMessage("Noted.")]))

    assert extended.command.update == {"ctxopt_progress": {"seen": [1, 3]}}
    assert state["ctxopt_progress"] == {"seen": [1]}


@pytest.mark.parametrize("awaited", [True, False], ids=["awaited", "called"])
def test_h23_of_a_request_that_was_refused_no_progress_is_kept(awaited):
    strategy = NewestTurn(turns=99)
    model = ScriptedModel(window=900, claimed=1_100, answers=[AIMessage("Noted.")])
    middleware = ContextOptimizerMiddleware(history=HistoryPolicy(strategy=strategy))
    agent = create_agent(model, TOOLS, middleware=[middleware], checkpointer=InMemorySaver())
    earlier = [message for _ in range(9) for message in (HumanMessage(PAGE * 4), AIMessage(PAGE * 4))]
    messages: Any = {"messages": [*earlier, HumanMessage("And now?")]}
    if awaited:
        asyncio.run(agent.ainvoke(messages, thread("one")))
    else:
        agent.invoke(messages, thread("one"))

    assert len(model.refused) == 1
    assert strategy.seen == [0, 0]
    assert agent.get_state(thread("one")).values["ctxopt_progress"] == {"calls": 1}


async def test_h23_i10_an_async_strategy_is_awaited_on_the_agents_loop_with_its_progress():
    seen: list[Any] = []

    async def awaited(view: HistoryView) -> list[int]:
        await asyncio.sleep(0)
        seen.append((asyncio.get_running_loop(), view.progress.get("calls", 0)))
        view.progress["calls"] = view.progress.get("calls", 0) + 1
        return []

    _, agent = agent_with(awaited, [AIMessage("Noted.")])
    for _ in range(3):
        await agent.ainvoke({"messages": [HumanMessage(LONG)]}, thread("one"))

    assert seen == [(asyncio.get_running_loop(), 0), (asyncio.get_running_loop(), 1)]


def test_h23_within_one_run_the_progress_goes_from_call_to_call():
    strategy = NewestTurn()
    pages = [calling(("read", {"page": n}), start=n) for n in range(3)]
    model, agent = agent_with(strategy, [AIMessage("Noted."), *pages, AIMessage("Done.")])
    asked(agent, LONG, "one")
    asked(agent, "Read the first three pages.", "one")

    assert len(model.heard) == 5
    assert strategy.seen == [0, 1, 2]
    assert not model.refused


def test_h23_what_a_strategy_does_wrong_is_an_error_that_names_it():
    _, agent = agent_with(lambda view: [10_000], [AIMessage("Noted.")])
    asked(agent, PAGE * 30, "one")
    with pytest.raises(ValueError, match="must return indices"):
        asked(agent, PAGE * 30, "one")
