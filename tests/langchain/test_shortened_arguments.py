"""Shorter arguments reach every place where a message holds a call, and nothing else of it changes."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from ctxopt_core import TiktokenCounter
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.shortening.call_arguments import tokens_in_arguments
from ctxopt_core.shortening.shorten_message import Shortened, shorten_message
from langchain_ctxopt.message_views import shortened_item, view_of
from shortened_copies import is_copy

O200K = TiktokenCounter("o200k_base")
LONG = "The lamplighter polishes forty brass lanterns before the first snow. " * 40
BIG: dict[str, Any] = {"path": "harbour/log.md", "content": LONG, "line": 7}
SMALL: dict[str, Any] = {"word": "bollard"}
TEXT = json.dumps(BIG)
FIELDS: dict[str, Any] = {"id": "m-1", "name": "Orla", "response_metadata": {"model_name": "gpt-4o"}}
CALLS = [{"name": "write", "args": BIG, "id": "a"}, {"name": "look_up", "args": SMALL, "id": "b"}]
SAID = {"type": "text", "text": "I write."}
THOUGHT = {"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}


def use(identity: str, given: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "write", "input": given, **more}


def openai_call(identity: str, arguments: str, **more: Any) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": "write", "arguments": arguments}, **more}


OPENAI = {"tool_calls": [openai_call("a", TEXT), openai_call("b", '{"word": "bollard"}')]}
INVALID = {"type": "invalid_tool_call", "name": "write", "args": "{" + LONG, "id": "c", "error": None}
SHAPES = [
    pytest.param(AIMessage("", tool_calls=CALLS, **FIELDS), id="calls"),
    pytest.param(
        AIMessage("I write.", tool_calls=CALLS, additional_kwargs={"k": 1, **OPENAI}), id="beside the raw ones"
    ),
    pytest.param(
        AIMessage([SAID, use("a", BIG), use("b", SMALL)], tool_calls=CALLS, **FIELDS), id="blocks of Anthropic"
    ),
    pytest.param(
        AIMessage([use("a", {}, partial_json=TEXT, index=1)], tool_calls=CALLS[:1]), id="blocks that were streamed"
    ),
    pytest.param(
        AIMessage([{"type": "tool_call", "id": "a", "name": "write", "args": BIG}, SAID], tool_calls=CALLS[:1]),
        id="blocks of version 1",
    ),
    pytest.param(
        AIMessage(
            [{"type": "function_call", "call_id": "a", "id": "fc_1", "name": "write", "arguments": TEXT}],
            tool_calls=CALLS[:1],
        ),
        id="items of the responses API",
    ),
    pytest.param(AIMessage("", invalid_tool_calls=[INVALID]), id="a call that is no JSON"),
    pytest.param(
        AIMessage("", additional_kwargs={"function_call": {"name": "write", "arguments": TEXT}}), id="the legacy form"
    ),
    pytest.param(
        AIMessageChunk(
            content="", tool_call_chunks=[{"name": "write", "args": TEXT, "id": "a", "index": 0}], chunk_position="last"
        ),
        id="a chunk",
    ),
    pytest.param({"role": "assistant", "content": None, **OPENAI}, id="a dict of OpenAI"),
    pytest.param(
        {"role": "assistant", "content": None, "function_call": {"name": "write", "arguments": TEXT}},
        id="a legacy dict of OpenAI",
    ),
    pytest.param({"role": "assistant", "content": [SAID, use("a", BIG), use("b", SMALL)]}, id="a dict of Anthropic"),
    pytest.param(("ai", [SAID, use("a", BIG)]), id="a pair"),
]


def shortened(item: Any, target: int) -> Any:
    view = view_of(item)
    cut = shorten_message(view, message_tokens(view, O200K), target, O200K, arguments_may_go=True)
    assert cut is not None
    assert cut.arguments
    return shortened_item(item, cut)


def dumped(item: Any) -> Any:
    return item.model_dump() if isinstance(item, BaseMessage) else item


def without_arguments(value: Any) -> Any:
    """The value with everything that may hold arguments blanked."""
    keys = {"args", "arguments", "input", "partial_json"}
    if isinstance(value, dict):
        return {key: None if key in keys else without_arguments(inner) for key, inner in value.items()}
    return [without_arguments(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def arguments_in(value: Any) -> list[Any]:
    """Everything that holds arguments of the long call, wherever it stands."""
    if isinstance(value, dict):
        own = [inner for key, inner in value.items() if key in {"args", "arguments", "input", "partial_json"}]
        return own + [found for inner in value.values() for found in arguments_in(inner)]
    return [found for inner in value for found in arguments_in(inner)] if isinstance(value, (list, tuple)) else []


@pytest.mark.parametrize("item", SHAPES)
def test_h10_arguments_are_shorter_everywhere_and_nothing_else_differs(item: Any) -> None:
    before = copy.deepcopy(dumped(item))
    after = shortened(item, 120)
    assert type(after) is type(item)
    assert dumped(item) == before
    assert message_tokens(view_of(after), O200K) <= 120
    assert without_arguments(dumped(after)) == without_arguments(before)
    for left in arguments_in(dumped(after)):
        content = json.dumps(left) if isinstance(left, dict) else left
        assert len(content) < 600
        assert isinstance(json.loads(content), dict)
    assert [(call.id, call.name) for call in view_of(after).tool_calls] == [
        (call.id, call.name) for call in view_of(item).tool_calls
    ]


@pytest.mark.parametrize("target", range(60, 500, 40))
def test_h10_a_shortened_row_is_a_copy_by_the_independent_checker(target: int) -> None:
    row = {"role": "assistant", "content": None, **OPENAI}
    assert is_copy(row, shortened(row, target))


def test_h10_the_same_long_arguments_stand_in_each_place() -> None:
    calls = [{"name": "write", "args": BIG, "id": "a"}]
    content = [use("a", BIG)]
    message = AIMessage(content, tool_calls=calls, additional_kwargs={"tool_calls": [openai_call("a", TEXT)]})
    after = shortened(message, 150)
    shorter = after.tool_calls[0]["args"]
    assert shorter["path"] == BIG["path"]
    assert shorter["line"] == 7
    assert "left out" in shorter["content"]
    assert after.content[0]["input"] == shorter
    assert json.loads(after.additional_kwargs["tool_calls"][0]["function"]["arguments"]) == shorter


def test_h10_calls_of_one_id_are_told_apart_by_their_order() -> None:
    calls = [{"name": "look_up", "args": SMALL, "id": "a"}, {"name": "write", "args": BIG, "id": "a"}]
    message = AIMessage([use("a", SMALL), use("a", BIG)], tool_calls=calls)
    after = shortened_item(message, Shortened(texts=(), arguments={1: '{"short": 1}'}, tokens=0))
    assert [call["args"] for call in after.tool_calls] == [SMALL, {"short": 1}]
    assert [part["input"] for part in after.content] == [SMALL, {"short": 1}]


SIGNED = {"extra_content": {"google": {"thought_signature": "c2lnbmVk"}}}
SEALED = [
    pytest.param(AIMessage([THOUGHT, use("a", BIG)], tool_calls=CALLS[:1]), id="thinking without its text"),
    pytest.param(
        AIMessage([{"type": "redacted_thinking", "data": "c2Vh"}, use("a", BIG)], tool_calls=CALLS[:1]),
        id="redacted thinking",
    ),
    pytest.param(
        AIMessage([{"type": "reasoning", "summary": [], "encrypted_content": "c2Vh"}], tool_calls=CALLS[:1]),
        id="encrypted reasoning",
    ),
    pytest.param(
        AIMessage("", tool_calls=CALLS[:1], additional_kwargs={"reasoning_content": "Seven."}), id="reasoning beside it"
    ),
    pytest.param(
        AIMessage("", tool_calls=CALLS[:1], additional_kwargs={"reasoning": {"id": "rs_1", "summary": []}}),
        id="a reasoning item beside it",
    ),
    pytest.param(
        AIMessage([use("a", BIG, extras={"signature": "c2lnbmVk"})], tool_calls=CALLS[:1]), id="a signature on a block"
    ),
    pytest.param(
        AIMessage("", tool_calls=CALLS[:1], additional_kwargs={"tool_calls": [openai_call("a", TEXT, **SIGNED)]}),
        id="a signature on the raw call",
    ),
    pytest.param({"role": "assistant", "content": None, "tool_calls": [openai_call("a", TEXT, **SIGNED)]}, id="Gemini"),
    pytest.param({"role": "assistant", "content": [THOUGHT, use("a", BIG)]}, id="a dict of Anthropic"),
    pytest.param(
        {"role": "assistant", "content": "", "reasoning_details": [{"type": "x"}], **OPENAI}, id="details of reasoning"
    ),
    pytest.param(
        AIMessage([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": BIG}]), id="a server's tool"
    ),
]


@pytest.mark.parametrize("item", SEALED)
def test_h8_arguments_beside_reasoning_or_a_signature_are_never_edited(item: Any) -> None:
    view = view_of(item)
    assert tokens_in_arguments(view, O200K) == 0
    assert shorten_message(view, message_tokens(view, O200K), 120, O200K, arguments_may_go=True) is None
