"""Replay of LangChain messages: any input of a chat model, and a model with its window and its tools."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, convert_to_openai_messages
from langchain_core.prompt_values import ChatPromptValue
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from ctxopt_core import replay as replay_mappings
from langchain_ctxopt import replay, with_optimizer

KEY = SecretStr("none")
CALL = {"name": "look_up", "args": {"lamp": "L7"}, "id": "c1"}
CHAT: list[Any] = [
    SystemMessage("You look after lamps."),
    HumanMessage("Light lamp L7."),
    AIMessage("", tool_calls=[CALL]),
    ToolMessage("It burns. " * 50, tool_call_id="c1"),
    AIMessage("Done."),
    *(message for n in range(30) for message in (HumanMessage(f"Is lamp {n} lit?"), AIMessage("It burns. " * 30))),
]
SETTINGS = {"newest": "turns", "in steps": {"stable_prefix": True}}


def look_up(lamp: str) -> str:
    """Look a lamp up."""
    return lamp


def test_u10_messages_of_langchain_give_the_rows_of_the_same_mappings():
    found = replay(CHAT, SETTINGS, "gpt-4o", budget=900, evidence="Is lamp 3 lit?")

    assert len(found.totals) == 2
    assert found.totals[0].requests == 32
    rows = convert_to_openai_messages(CHAT)
    assert found == replay_mappings(rows, SETTINGS, "gpt-4o", budget=900, evidence="Is lamp 3 lit?")


@pytest.mark.parametrize(
    "conversation",
    [
        pytest.param(tuple(CHAT), id="tuple"),
        pytest.param(ChatPromptValue(messages=CHAT), id="prompt value"),
        pytest.param(convert_to_openai_messages(CHAT), id="mappings"),
    ],
)
def test_u10_it_takes_what_a_chat_model_takes(conversation):
    assert replay(conversation, "turns", budget=900) == replay(CHAT, "turns", budget=900)


def test_u10_the_window_and_the_tools_are_those_of_the_model():
    plain = ChatOpenAI(model="gpt-4o", api_key=KEY, max_tokens=1_000)
    with_tools = replay(CHAT, SETTINGS, plain.bind_tools([look_up]))
    without = replay(CHAT, SETTINGS, plain)

    assert without.model == "gpt-4o"
    assert without.rows[0].budget == 127_000
    saved = {a.tokens_after - b.tokens_after for a, b in zip(with_tools.rows, without.rows, strict=True)}
    assert len(saved) == 1
    assert saved.pop() > 10
    assert replay(CHAT, SETTINGS, with_optimizer(plain)).rows == without.rows


def test_u10_the_messages_are_not_changed():
    before = [message.model_copy(deep=True) for message in CHAT]
    replay(CHAT, SETTINGS, budget=600)

    assert before == CHAT


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"model": 3}, TypeError, "`model` must be a model name or a LangChain language model"),
        ({"conversation": 3}, TypeError, "int"),
        ({"budget": None}, ValueError, "give `model` or `budget`"),
        ({"conversation": [AIMessage("Hi")]}, ValueError, "must have a user message"),
    ],
)
def test_u10_bad_input_is_a_typed_error(arguments, error, match):
    with pytest.raises(error, match=match):
        replay(**({"conversation": CHAT, "strategies": "turns", "budget": 500} | arguments))
