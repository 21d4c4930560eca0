"""`summarize` and `hybrid` in a run of one question and many calls, behind each of LangChain's parts."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from ctxopt_core import summarizer
from langchain_ctxopt import ContextOptimizer, ContextOptimizerMiddleware, with_optimizer
from scripted_model import TOOLS, ScriptedModel, calling

ASKED = HumanMessage("Which pages name the lamplighter?")
STEPS = 40
SUMMARY = "Every page names him."


class Counting:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, transcript: str) -> str:
        self.asked.append(transcript)
        return SUMMARY


def settings(function: Counting, strategy: str) -> Any:
    return {"max_input_tokens": 1_500, "history": {"strategy": strategy, "summarizer": summarizer(function)}}


def model() -> ScriptedModel:
    calls = [calling(("read", {"page": page, "times": 3}), start=page) for page in range(STEPS)]
    return ScriptedModel(window=1_600, claimed=400_000, answers=[*calls, AIMessage("All of them.")])


def run() -> list[BaseMessage]:
    found: list[BaseMessage] = [ASKED]
    for page in range(100):
        found.append(calling(("read", {"page": page}), start=page))
        found.append(ToolMessage(f"Page {page}. " + "The lamplighter. " * 10, tool_call_id=f"call-{page}"))
    return found


def check(sent: list[BaseMessage]) -> None:
    assert sent[0] == ASKED
    assert isinstance(sent[1], HumanMessage)
    assert SUMMARY in sent[1].text
    for before, message in pairwise(sent[1:]):
        assert isinstance(message, ToolMessage) == bool(isinstance(before, AIMessage) and before.tool_calls)


@pytest.mark.parametrize("strategy", ["summarize", "hybrid"])
@pytest.mark.parametrize("part", ["middleware", "model"])
@pytest.mark.parametrize("awaited", [False, True], ids=["invoke", "ainvoke"])
def test_l15_a_run_of_an_agent_is_summarized_in_steps(strategy: str, part: str, awaited: bool) -> None:
    function, scripted = Counting(), model()
    given = settings(function, strategy)
    middleware = [ContextOptimizerMiddleware(**given)] if part == "middleware" else []
    used: Any = with_optimizer(scripted, **given) if part == "model" else scripted
    agent = create_agent(used, TOOLS, middleware=middleware)
    asked: Any = {"messages": [ASKED]}
    options: Any = {"recursion_limit": 200}
    answer = asyncio.run(agent.ainvoke(asked, options)) if awaited else agent.invoke(asked, options)

    assert answer["messages"][-1].text == "All of them."
    assert len(answer["messages"]) == 2 + 2 * STEPS
    assert 1 <= len(function.asked) <= STEPS // 4
    assert not scripted.refused
    check(scripted.heard[-1])


@pytest.mark.parametrize("strategy", ["summarize", "hybrid"])
@pytest.mark.parametrize("shape", ["messages", "mappings", "pairs"])
def test_l15_messages_of_each_shape_get_the_summary_in_their_shape(strategy: str, shape: str) -> None:
    function = Counting()
    optimizer = ContextOptimizer(**settings(function, strategy))
    messages: list[Any] = run()
    if shape == "mappings":
        messages[0] = {"role": "user", "content": ASKED.text}
    if shape == "pairs":
        messages[0] = ("human", ASKED.text)
    sent = optimizer.invoke(messages)

    assert sent[0] == messages[0]
    assert type(sent[1]) is type(messages[0])
    assert SUMMARY in str(sent[1])
    assert len(function.asked) == 1


def test_l15_a_stored_summary_is_not_taken_for_the_question() -> None:
    function = Counting()
    optimizer = ContextOptimizer(**settings(function, "summarize"))
    again = optimizer.invoke([*optimizer.invoke(run()), *run()[1:]])

    check(again)
    assert sum(SUMMARY in message.text for message in again) == 1
    assert SUMMARY in function.asked[-1]
