"""LangChain messages that hold Anthropic's own blocks: raw results in a human message are paired as well."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from anthropic_rows import CACHED, IMAGE, result, text, thinking, use
from langchain_ctxopt import ContextOptimizer
from langchain_ctxopt.message_views import view_of
from langchain_requests import sent_tokens

LONG = "The lamp of Quillmere was lit. " * 60


def exchange(name: str, content: Any, *said: dict[str, Any]) -> list[BaseMessage]:
    """A call and its raw result, as they come from a conversation kept in Anthropic's shape."""
    return [
        AIMessage([thinking("hm"), text("I look."), use(name)], id=f"call-{name}"),
        HumanMessage([result(name, content, **CACHED), *said], id=f"result-{name}"),
    ]


def ids_of(messages: list[BaseMessage]) -> list[str | None]:
    return [message.id for message in messages]


def test_i8_raw_results_in_a_human_message_are_read_as_results() -> None:
    view = view_of(HumanMessage([result("a", "one"), text("and?")]))

    assert [found.call_id for found in view.tool_results] == ["a"]
    assert view.texts == ("one", "and?")
    assert (
        view_of(("human", [result("a", "one")])).tool_results
        == view_of(HumanMessage([result("a", "one")])).tool_results
    )
    assert view_of(AIMessage([result("a", "one")])).tool_results == ()
    assert view_of(ToolMessage([result("a", "one")], tool_call_id="a")).tool_results == ()


@pytest.mark.parametrize("budget", range(90, 900, 90))
def test_i8_raw_results_stay_with_their_calls(budget: int) -> None:
    steps = [message for name in "abcdef" for message in exchange(name, LONG)]
    messages: list[BaseMessage] = [HumanMessage("look at every lamp", id="asked"), *steps]
    before = copy.deepcopy(messages)

    after = ContextOptimizer(max_input_tokens=budget).invoke(messages)
    kept = ids_of(after)

    assert messages == before
    assert sent_tokens(after) <= budget
    assert kept[0] == "asked"
    assert kept[-2:] == ["call-f", "result-f"]
    assert [name for name in "abcdef" if f"call-{name}" in kept] == [
        name for name in "abcdef" if f"result-{name}" in kept
    ]
    for message in after[2::2]:
        assert message.content[0]["cache_control"] == {"type": "ephemeral"}
        assert message.content[0]["content"]
    assert all(message in messages for message in after[1::2])


def test_i8_words_beside_raw_results_are_kept() -> None:
    messages: list[BaseMessage] = [
        HumanMessage("look at every lamp", id="asked"),
        *exchange("a", LONG, text("rather the third"), dict(IMAGE)),
        *exchange("b", [text(LONG), dict(IMAGE)]),
    ]

    after = ContextOptimizer(max_input_tokens=120).invoke(messages)

    assert ids_of(after) == ["asked", "call-a", "result-a", "call-b", "result-b"]
    assert after[2].content[1] == text("rather the third")
    assert after[-1].content[0]["content"][-1] == text("[attachment omitted]")


def test_i8_tool_messages_and_tool_use_blocks_are_paired_as_before() -> None:
    call = {"name": "look", "args": {}, "id": "a", "type": "tool_call"}
    messages: list[BaseMessage] = [
        HumanMessage("old " * 200),
        AIMessage("fine"),
        HumanMessage("look"),
        AIMessage([thinking("hm"), use("a")], tool_calls=[call]),
        ToolMessage([text(LONG)], tool_call_id="a"),
    ]

    after = ContextOptimizer(max_input_tokens=80).invoke(messages)

    assert after[-3:-1] == messages[2:4]
    assert after[-1].tool_call_id == "a"
