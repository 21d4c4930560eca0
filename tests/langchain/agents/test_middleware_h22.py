"""An agent with a checkpointer: what is stored is the whole conversation, and what the model sees a view of it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from ctxopt_core import HistoryPolicy
from langchain_ctxopt import ContextOptimizerMiddleware
from scripted_model import PAGE, TOOLS, ScriptedModel, calling, faults

THREAD: Any = {"configurable": {"thread_id": "1"}}
ANSWERS = [
    calling(("read", {"page": 1}), ("look_up", {"word": "bollard"})),
    calling(("read", {"page": 2}), start=10),
    AIMessage("Forty lanterns."),
]
POLICIES = [
    pytest.param(HistoryPolicy(), id="auto"),
    pytest.param(HistoryPolicy(strategy="turns", recoverable_tool_results=True), id="turns"),
    pytest.param(HistoryPolicy(strategy="relevance", placeholder_content="excerpts"), id="relevance"),
    pytest.param(HistoryPolicy(strategy="sliding_window", max_messages=9), id="window"),
    pytest.param(HistoryPolicy(stable_prefix=True), id="stable prefix"),
]


def conversation(window: int, policy: HistoryPolicy) -> tuple[ScriptedModel, list[BaseMessage]]:
    """Ask an agent four questions, and return the model and what the checkpoint holds in the end."""
    model = ScriptedModel(window=window, answers=ANSWERS * 4)
    middleware = [ContextOptimizerMiddleware(history=policy)]
    agent = create_agent(model, TOOLS, middleware=middleware, checkpointer=InMemorySaver())
    for number in range(4):
        asked = HumanMessage(f"Question {number}: how many lanterns are there?", id=f"q{number}")
        agent.invoke({"messages": [asked]}, THREAD)
    return model, agent.get_state(THREAD).values["messages"]


def said(message: BaseMessage) -> tuple[Any, ...]:
    calls = [(call["name"], call["args"], call["id"]) for call in getattr(message, "tool_calls", ())]
    return message.type, message.content, calls, getattr(message, "tool_call_id", None)


@pytest.mark.parametrize("policy", POLICIES)
def test_h22_every_message_is_stored_and_each_call_sees_a_view(policy: HistoryPolicy) -> None:
    model, stored = conversation(1_200, policy)
    _, unfitted = conversation(1_000_000, policy)
    asked = [n for n, message in enumerate(stored) if isinstance(message, AIMessage)]

    assert [said(message) for message in stored] == [said(message) for message in unfitted]
    assert [message.type for message in stored] == ["human", "ai", "tool", "tool", "ai", "tool", "ai"] * 4
    assert {message.text.count(PAGE.strip()) for message in stored if message.name == "read"} == {40}
    assert len(model.heard) == len(asked) == 12
    assert not model.refused
    views = 0
    for heard, bound, end in zip(model.heard, model.bound, asked, strict=True):
        assert faults(stored[:end], heard, model.limit, bound["tools"]) == []
        views += [said(message) for message in heard] != [said(message) for message in stored[:end]]
    assert views >= 9


def test_h7_a_call_with_invalid_arguments_stays_with_its_result_or_goes_with_it() -> None:
    wrong = {"name": "read", "args": '{"page": ', "id": "call-7", "error": "no JSON", "type": "invalid_tool_call"}
    exchange = [AIMessage("", invalid_tool_calls=[wrong]), ToolMessage("No such page.", tool_call_id="call-7")]
    earlier = [message for n in range(12) for message in (HumanMessage(f"Q{n}? {PAGE}"), AIMessage(f"A{n}. {PAGE}"))]
    seen: set[int] = set()
    for place in range(0, 25, 2):
        history = [*earlier[:place], HumanMessage("Read it."), *exchange, AIMessage("Sorry."), *earlier[place:]]
        model = ScriptedModel(window=600)
        agent = create_agent(model, middleware=[ContextOptimizerMiddleware(history=HistoryPolicy(strategy="turns"))])
        agent.invoke({"messages": [*history, HumanMessage("How many?")]})
        [heard] = model.heard
        called = [n for n, message in enumerate(heard) if getattr(message, "invalid_tool_calls", None)]
        results = [n for n, message in enumerate(heard) if isinstance(message, ToolMessage)]
        assert results == [n + 1 for n in called]
        assert not called or heard[called[0]].invalid_tool_calls == [wrong]
        seen.add(len(called))
    assert seen == {0, 1}
