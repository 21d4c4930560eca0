"""A message that is cut keeps everything but the text that was cut, and nothing of the caller's is changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from ctxopt_core.messages.placeholder import is_placeholder
from langchain_ctxopt import ContextOptimizer
from langchain_requests import sent_tokens

SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow arrives. "
LONG = SENTENCE * 40
ASKED = HumanMessage("Which is lit?")
CALL = {"name": "inspect", "args": {"lantern": 7}, "id": "call_7", "type": "tool_call"}
CALLING = AIMessage("", tool_calls=[CALL], id="calling")
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBO" * 4_000}}
THOUGHT = {"type": "thinking", "thinking": "Seven, then.", "signature": "c2lnbmVk"}
USAGE = {"input_tokens": 900, "output_tokens": 400, "total_tokens": 1300}
COMMON = {"id": "m-1", "name": "Orla", "response_metadata": {"model_name": "gpt-4o"}}


class Loud(HumanMessage):
    """A message class of an application."""

    volume: int = 11


def only_content_differs(message: BaseMessage, other: BaseMessage) -> bool:
    one, two = message.model_dump(), other.model_dump()
    changed = {key for key in one.keys() | two.keys() if one.get(key) != two.get(key)}
    return type(message) is type(other) and changed == {"content"}


@pytest.mark.parametrize(
    "requested",
    [
        pytest.param([HumanMessage(LONG, additional_kwargs={"mark": 1}, **COMMON)], id="the query"),
        pytest.param([Loud(LONG, volume=3, **COMMON)], id="a subclass"),
        pytest.param(
            [HumanMessage([{"type": "text", "text": LONG, "extras": {"k": 1}}], **COMMON)], id="text in a list"
        ),
        pytest.param([HumanMessage([LONG], **COMMON)], id="a list of texts"),
        pytest.param(
            [SystemMessage(LONG, additional_kwargs={"__openai_role__": "developer"}, **COMMON), ASKED], id="system"
        ),
        pytest.param([ASKED, AIMessage(LONG, usage_metadata=USAGE, **COMMON)], id="an answer"),
        pytest.param([ASKED, AIMessageChunk(content=LONG, usage_metadata=USAGE, chunk_position="last")], id="a chunk"),
        pytest.param(
            [ASKED, AIMessage([THOUGHT, {"type": "text", "text": LONG}], **COMMON)], id="an answer with thoughts"
        ),
        pytest.param([ASKED, ChatMessage(LONG, role="critic", id="m-1")], id="another role"),
        pytest.param(
            [
                ASKED,
                CALLING,
                ToolMessage(LONG, tool_call_id="call_7", status="error", artifact={"rows": [1]}, **COMMON),
            ],
            id="a result",
        ),
        pytest.param(
            [ASKED, CALLING, ToolMessage([{"type": "text", "text": LONG}], tool_call_id="call_7", artifact=object())],
            id="a result in a list",
        ),
        pytest.param(
            [
                ASKED,
                AIMessage("", additional_kwargs={"function_call": {"name": "inspect", "arguments": "{}"}}),
                FunctionMessage(LONG, name="inspect", id="m-1"),
            ],
            id="a result of a function",
        ),
        pytest.param([ASKED, AIMessage(LONG, tool_calls=[CALL], usage_metadata=USAGE, **COMMON)], id="a pending call"),
    ],
)
def test_h9_a_shortened_message_differs_in_its_text_alone(requested: list[BaseMessage]) -> None:
    before = [message.model_copy(deep=True) for message in requested]
    fitted = ContextOptimizer(max_input_tokens=200).invoke(requested)
    assert sent_tokens(fitted) <= 200
    assert len(fitted) == len(requested)
    pairs = [(one, other) for one, other in zip(requested, fitted, strict=True) if one is not other]
    assert len(pairs) == 1
    assert only_content_differs(*pairs[0])
    assert [message.content for message in requested] == [message.content for message in before]


def test_i1_the_parts_of_a_list_keep_their_order_and_what_is_no_text_stays() -> None:
    parts: list[Any] = [{"type": "text", "text": LONG}, IMAGE, {"type": "text", "text": "Which?", "extras": {"k": 1}}]
    requested = [HumanMessage(parts)]
    before = copy.deepcopy(requested)
    [fitted] = ContextOptimizer(max_input_tokens=1_000).invoke(requested)
    assert sent_tokens([fitted]) <= 1_000
    assert [part["type"] for part in fitted.content] == ["text", "text", "text"]
    assert fitted.content[1] == {"type": "text", "text": "[attachment omitted]"}
    assert fitted.content[2] == parts[2]
    assert requested == before


@pytest.mark.parametrize("budget", range(60, 400, 20))
def test_h8_thoughts_and_server_tools_are_never_edited(budget: int) -> None:
    sealed = {"type": "redacted_thinking", "data": "c2VhbGVk" * 30}
    call = {"type": "server_tool_call", "id": "s", "name": "web_search", "args": {"query": "lanterns"}}
    result = {"type": "server_tool_result", "tool_call_id": "s", "status": "success", "output": {"url": "https://x.y"}}
    parts = [THOUGHT, sealed, call, result, {"type": "text", "text": LONG}]
    requested = [HumanMessage("First?"), AIMessage(parts), HumanMessage("Second?")]
    fitted = ContextOptimizer(max_input_tokens=budget + 500).invoke(requested)
    answers = [
        message for message in fitted if isinstance(message, AIMessage) and not is_placeholder(str(message.content))
    ]
    for answer in answers:
        assert answer.content[:4] == parts[:4]


def test_h12_the_placeholder_takes_the_form_of_its_neighbors() -> None:
    turns = [(HumanMessage(f"Question {i}?"), AIMessage(SENTENCE * 3)) for i in range(20)]
    requested = [message for turn in turns for message in turn] + [ASKED]
    fitted = ContextOptimizer(max_input_tokens=300).invoke(requested)
    notes = [message for message in fitted if is_placeholder(str(message.content))]
    assert [type(note) for note in notes] == [AIMessage]
    assert notes[0].additional_kwargs == {"lc_source": "ctxopt"}
    assert [message.type for message in fitted] == ["human", "ai"] * (len(fitted) // 2) + ["human"]


def test_a14_a_copy_of_a_part_shares_nothing_that_could_be_changed() -> None:
    part = {"type": "text", "text": LONG}
    requested = [HumanMessage([part])]
    [fitted] = ContextOptimizer(max_input_tokens=100).invoke(requested)
    fitted.content[0]["text"] = "changed"
    assert part["text"] == LONG
