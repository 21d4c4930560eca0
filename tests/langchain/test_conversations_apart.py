"""What one optimizer, model or agent of LangChain shares among conversations holds no word of any."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ctxopt_core import summarizer
from langchain_ctxopt import ContextOptimizer, ContextOptimizerMiddleware, pre_model_hook, with_optimizer
from scripted_model import ScriptedModel

USERS = 4
SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow arrives. "
STRATEGIES = ("auto", "turns", "sliding_window", "summarize", "hybrid")


def word(user: int) -> str:
    return f"word-of-user-{user}"


def words_in(messages: list[BaseMessage]) -> set[str]:
    return set(re.findall(r"word-of-user-\d+", " ".join(str(message.content) for message in messages)))


def talk(user: int, turns: int = 12) -> list[BaseMessage]:
    """Return a conversation; questions and answers differ between users in one word alone."""
    found: list[BaseMessage] = []
    for i in range(turns):
        found += [HumanMessage(f"Question {i} of {word(user)}?"), AIMessage(f"{i}, {word(user)}. " + SENTENCE * 4)]
    return [*found, HumanMessage(f"Which one, {word(user)}?")]


def told(transcript: str) -> str:
    """Summarize by the words of users in a transcript."""
    return "They spoke with " + ", ".join(sorted(set(re.findall(r"word-of-user-\d+", transcript)))) + "."


def history(strategy: str) -> dict[str, Any]:
    asked: dict[str, Any] = {"strategy": strategy}
    if strategy in ("summarize", "hybrid"):
        asked["summarizer"] = summarizer(told, name="told")
    return asked


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("front", ["optimizer", "model", "hook"])
def test_l1_threads_of_several_users_get_their_own_words(strategy: str, front: str) -> None:
    settings: dict[str, Any] = {"max_input_tokens": 500, "history": history(strategy)}
    model = ScriptedModel(window=100_000)
    optimizer, guarded = ContextOptimizer(**settings), with_optimizer(model, **settings)
    hook = pre_model_hook(**settings)

    def fitted(user: int) -> list[BaseMessage]:
        if front == "optimizer":
            return list(optimizer.invoke(talk(user)))
        if front == "hook":
            return list(hook.invoke({"messages": talk(user)})["llm_input_messages"])
        guarded.invoke(talk(user))
        return []

    with ThreadPoolExecutor(USERS) as pool:
        found = list(pool.map(fitted, [user for _ in range(3) for user in range(USERS)]))
    if front == "model":
        found = [list(request) for request in model.heard]
    assert len(found) == 3 * USERS
    assert all(len(words_in(messages)) == 1 and len(messages) > 1 for messages in found)
    assert {next(iter(words_in(messages))) for messages in found} == {word(user) for user in range(USERS)}


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_l1_an_agent_with_a_thread_for_each_user_sends_its_words_alone(strategy: str) -> None:
    model = ScriptedModel(window=100_000)
    middleware = ContextOptimizerMiddleware(max_input_tokens=500, history=history(strategy))
    agent: Any = create_agent(model, [], middleware=[middleware], checkpointer=InMemorySaver())
    for turn in range(3):
        for user in range(USERS):
            thread = {"configurable": {"thread_id": str(user)}}
            said = talk(user) if turn == 0 else [HumanMessage(f"And then, {word(user)}?")]
            await agent.ainvoke({"messages": said}, thread)
    assert len(model.heard) == 3 * USERS
    assert all(len(words_in(list(request))) == 1 for request in model.heard)
