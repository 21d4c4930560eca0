"""What of a LangChain message is counted: each kind of block and call once, and never the bytes of media."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    SystemMessage,
    ToolMessage,
    ToolMessageChunk,
)

from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.counting.counters import counter_for
from independent_recount import count_text
from langchain_ctxopt.message_views import LangChainMessages, view_of
from langchain_requests import sent_tokens

BASE64 = "iVBORw0KGgo" * 4_000
COUNTER = counter_for("o200k_base")
SEALED = 8_250  # tokens of what is sealed: three quarters of a byte for each character, and 4 bytes in a token
SEALED_THOUGHT = SEALED - 1  # "I see" is counted as text
CALL = {"name": "inspect", "args": {"lantern": 7}, "id": "call_7", "type": "tool_call"}
ARGUMENTS = '{"lantern": 7}'
CALL_TOKENS = count_text("inspect") + count_text(ARGUMENTS) + count_text("call_7")
RAW_CALL = {"id": "call_7", "type": "function", "function": {"name": "inspect", "arguments": ARGUMENTS}}
USE = {"type": "tool_use", "id": "call_7", "name": "inspect", "input": {"lantern": 7}}
SERVER_CALL = {"type": "server_tool_call", "id": "s", "name": "web_search", "args": {"query": "lanterns"}}
SERVER_RESULT = {"type": "server_tool_result", "tool_call_id": "s", "status": "success", "output": {"found": "three"}}
FRAMING = 4


def cost(message: Any) -> int:
    return message_tokens(view_of(message), COUNTER)


def compact(value: Any) -> int:
    return count_text(json.dumps(value, separators=(",", ":"), ensure_ascii=False))


@pytest.mark.parametrize(
    ("block", "tokens"),
    [
        pytest.param("all lit", count_text("all lit"), id="a text in a list"),
        pytest.param({"type": "text", "text": "all lit"}, count_text("all lit"), id="text"),
        pytest.param({"text": "all lit"}, count_text("all lit"), id="text without a type"),
        pytest.param({"type": "text", "text": None}, 0, id="text that is None"),
        pytest.param({"type": "input_text", "text": "all lit"}, count_text("all lit"), id="input_text"),
        pytest.param({"type": "output_text", "text": "all lit"}, count_text("all lit"), id="output_text"),
        pytest.param({"type": "text-plain", "text": "all lit"}, count_text("all lit"), id="text-plain"),
        pytest.param({"type": "refusal", "refusal": "never"}, count_text("never"), id="refusal"),
        pytest.param({"type": "reasoning", "reasoning": "I see"}, count_text("I see"), id="reasoning"),
        pytest.param(
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I see"}], "encrypted_content": BASE64},
            count_text("I see") + SEALED_THOUGHT,
            id="reasoning with a summary and sealed content",
        ),
        pytest.param(
            {"type": "thinking", "thinking": "I see", "signature": BASE64},
            count_text("I see") + SEALED_THOUGHT,
            id="thinking",
        ),
        pytest.param(SERVER_CALL, compact(SERVER_CALL), id="server_tool_call"),
        pytest.param(SERVER_RESULT, compact(SERVER_RESULT), id="server_tool_result"),
        pytest.param(CALL, CALL_TOKENS, id="tool_call"),
        pytest.param(USE, CALL_TOKENS, id="tool_use"),
        pytest.param(
            {"type": "tool_call_chunk", "id": "call_7", "name": "inspect", "args": ARGUMENTS, "index": 0},
            CALL_TOKENS,
            id="tool_call_chunk",
        ),
        pytest.param(
            {"type": "function_call", "id": "fc_1", "call_id": "call_7", "name": "inspect", "arguments": ARGUMENTS},
            CALL_TOKENS,
            id="function_call",
        ),
        pytest.param(
            {"type": "invalid_tool_call", "id": "call_7", "name": "inspect", "args": ARGUMENTS, "error": None},
            CALL_TOKENS,
            id="invalid_tool_call",
        ),
        pytest.param(
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BASE64}"}}, 850, id="image_url"
        ),
        pytest.param({"type": "image", "base64": BASE64, "mime_type": "image/png"}, 850, id="image"),
        pytest.param({"type": "image", "source": {"type": "base64", "data": BASE64}}, 850, id="image with a source"),
        pytest.param({"type": "image", "file_id": "f"}, 850, id="image by id"),
        pytest.param({"type": "input_image", "image_url": BASE64}, 850, id="input_image"),
        pytest.param({"type": "audio", "base64": BASE64}, 500, id="audio"),
        pytest.param({"type": "input_audio", "input_audio": {"data": BASE64}}, 500, id="input_audio"),
        pytest.param({"type": "video", "base64": BASE64}, 500, id="video"),
        pytest.param({"type": "file", "base64": BASE64, "mime_type": "application/pdf"}, 1000, id="file"),
        pytest.param({"type": "file", "file": {"file_data": BASE64}}, 1000, id="file with its data"),
        pytest.param({"type": "document", "source": {"data": BASE64}}, 1000, id="document"),
        pytest.param({"type": "media", "data": BASE64, "mime_type": "video/mp4"}, 500, id="media"),
    ],
)
def test_t2_a_block_is_counted_as_what_is_sent_of_it(block: Any, tokens: int) -> None:
    assert cost(AIMessage(content=[block])) == FRAMING + tokens


@pytest.mark.parametrize(
    "block",
    [
        pytest.param({"type": "non_standard", "value": {"type": "custom", "data": BASE64}}, id="non_standard"),
        pytest.param({"url": f"data:image/png;base64,{BASE64}"}, id="a data URL without a type"),
        pytest.param({"type": "novel", "part": {"url": f"data:image/png;base64,{BASE64}"}}, id="a nested data URL"),
        pytest.param(
            {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "image", "source": {"data": BASE64}}]},
            id="an image inside a result",
        ),
        pytest.param({"type": ["odd"], "value": {"type": ["odd"], "more": 1}}, id="a type that is no text"),
    ],
)
def test_t13_bytes_inside_a_block_are_never_counted_as_text(block: Any) -> None:
    assert FRAMING < cost(AIMessage(content=[block])) <= FRAMING + 1_000


@pytest.mark.parametrize(
    "block",
    [
        pytest.param({"type": "redacted_thinking", "data": BASE64}, id="redacted thinking"),
        pytest.param(
            {"type": "non_standard", "value": {"type": "redacted_thinking", "data": BASE64}}, id="in a standard block"
        ),
        pytest.param(
            {"type": "web_search_tool_result", "content": [{"title": "Lit", "encrypted_content": BASE64}]},
            id="sealed content inside a result",
        ),
        pytest.param(
            {"type": "server_tool_result", "tool_call_id": "s", "output": [{"encrypted_content": BASE64}]},
            id="sealed content inside a standard result",
        ),
        pytest.param({"type": "text", "text": "Lit", "extras": {"signature": BASE64}}, id="signature of a text"),
        pytest.param(
            {"type": "text", "text": "Lit", "citations": [{"title": "a", "encrypted_index": BASE64}]}, id="citation"
        ),
        pytest.param({**USE, "extras": {"signature": BASE64}}, id="signature of a call"),
        pytest.param({"type": "compaction", "encrypted_content": BASE64}, id="compaction"),
        pytest.param(
            {"type": "reasoning_content", "reasoning_content": {"redacted_content": BASE64}}, id="bedrock's redacted"
        ),
        pytest.param(
            {"type": "reasoning_content", "reasoning_content": {"redactedContent": BASE64}}, id="bedrock's own spelling"
        ),
        pytest.param(
            {"type": "reasoning", "reasoning": "", "extras": {"redacted_content": BASE64}}, id="standard redacted"
        ),
    ],
)
def test_l13_sealed_content_has_an_allowance_by_its_length(block: Any) -> None:
    assert FRAMING + SEALED <= cost(AIMessage(content=[block])) <= FRAMING + SEALED + 60


@pytest.mark.parametrize(
    "extra",
    [
        {"__gemini_function_call_thought_signatures__": {"a": BASE64}},
        {"thought_signatures": [BASE64]},
        {"reasoning": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": BASE64}},
        {"tool_calls": [{**RAW_CALL, "extra_content": {"google": {"thought_signature": BASE64}}}]},
    ],
    ids=["gemini", "list", "reasoning", "call"],
)
def test_l13_what_is_sealed_beside_the_content_is_counted_too(extra: dict[str, Any]) -> None:
    message = AIMessage("lit", additional_kwargs=extra)

    assert SEALED <= cost(message) - cost(AIMessage("lit")) <= SEALED + 30


def test_l13_small_signatures_cost_nothing() -> None:
    signed = {"type": "thinking", "thinking": "I see", "signature": "c2ln" * 100}

    assert cost(AIMessage([signed])) == FRAMING + count_text("I see")


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(AIMessage("", tool_calls=[CALL]), id="tool_calls"),
        pytest.param(AIMessage([USE], tool_calls=[CALL]), id="tool_calls and a tool_use block"),
        pytest.param(AIMessage([CALL], tool_calls=[CALL]), id="tool_calls and a tool_call block"),
        pytest.param(AIMessage("", tool_calls=[CALL], additional_kwargs={"tool_calls": [RAW_CALL]}), id="both fields"),
        pytest.param(AIMessage("", additional_kwargs={"tool_calls": [RAW_CALL]}), id="additional_kwargs alone"),
        pytest.param(
            AIMessage("", invalid_tool_calls=[{"name": "inspect", "args": ARGUMENTS, "id": "call_7", "error": "no"}]),
            id="invalid_tool_calls",
        ),
        pytest.param(
            AIMessageChunk("", tool_call_chunks=[{"name": "inspect", "args": ARGUMENTS, "id": "call_7", "index": 0}]),
            id="a chunk",
        ),
    ],
)
def test_t2_a_call_is_counted_once_wherever_it_stands(message: BaseMessage) -> None:
    assert cost(message) == FRAMING + CALL_TOKENS
    assert [call.id for call in view_of(message).tool_calls] == ["call_7"]


def test_t2_a_legacy_function_call_has_no_id() -> None:
    message = AIMessage("", additional_kwargs={"function_call": {"name": "inspect", "arguments": ARGUMENTS}})
    assert cost(message) == FRAMING + count_text("inspect") + count_text(ARGUMENTS)


def test_t2_calls_of_all_fields_are_added_up() -> None:
    other = {"type": "tool_use", "id": "call_8", "name": "inspect", "input": {"lantern": 7}}
    broken = {"name": "inspect", "args": ARGUMENTS, "id": "call_9", "error": None}
    message = AIMessage([USE, other], tool_calls=[CALL], invalid_tool_calls=[broken])
    assert [call.id for call in view_of(message).tool_calls] == ["call_7", "call_9", "call_8"]


def test_t2_an_artifact_and_metadata_are_not_sent_and_not_counted() -> None:
    plain = ToolMessage("lit", tool_call_id="call_7")
    rich = ToolMessage(
        "lit", tool_call_id="call_7", artifact={"data": BASE64}, id="m", status="error", response_metadata={"a": BASE64}
    )
    assert cost(rich) == cost(plain) == sent_tokens([plain]) - 3
    spoken = AIMessage("lit", usage_metadata={"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}, id="m")
    assert cost(spoken) == cost(AIMessage("lit"))


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (HumanMessage("x"), "user"),
        (HumanMessageChunk(content="x"), "user"),
        (AIMessage("x"), "assistant"),
        (AIMessageChunk(content="x"), "assistant"),
        (SystemMessage("x"), "system"),
        (SystemMessage("x", additional_kwargs={"__openai_role__": "developer"}), "developer"),
        (ToolMessage("x", tool_call_id="1"), "tool"),
        (ToolMessageChunk(content="x", tool_call_id="1"), "tool"),
        (FunctionMessage("x", name="f"), "function"),
        (ChatMessage("x", role="user"), "user"),
        (ChatMessage("x", role="human"), "user"),
        (ChatMessage("x", role="model"), "assistant"),
        (ChatMessage("x", role="system"), "system"),
        (ChatMessage("x", role="developer"), "developer"),
        (ChatMessage("x", role="critic"), "critic"),
        ({"role": "ai", "content": "x"}, "assistant"),
        ({"type": "human", "content": "x"}, "user"),
        (("developer", "x"), "developer"),
        (["ai", "x"], "assistant"),
        ("x", "user"),
    ],
)
def test_i1_every_way_to_write_a_role_is_understood(message: Any, role: str) -> None:
    assert view_of(message).role == role
    assert bool(LangChainMessages([message]).system_indices(0, 1)) is (role in ("system", "developer"))


def test_h6_system_messages_of_every_kind_are_found() -> None:
    items = [
        HumanMessage("x"),
        SystemMessage("x"),
        ChatMessage("x", role="developer"),
        ("system", "x"),
        {"role": "developer", "content": "x"},
        AIMessage("x"),
        {"type": "system", "content": "x"},
    ]
    assert list(LangChainMessages(items).system_indices(0, 7)) == [1, 2, 3, 4, 6]
    assert list(LangChainMessages(items).system_indices(2, 6)) == [2, 3, 4]
    assert list(LangChainMessages(items[:1]).system_indices(0, 1)) == []


class Loud(HumanMessage):
    """A message class of an application."""

    volume: int = 11


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage("lit"),
        AIMessage("lit"),
        SystemMessage("lit"),
        HumanMessage("lit", name="Orla"),
        AIMessage("[3 earlier messages omitted]"),
        AIMessage("[not a placeholder"),
        AIMessage("lit", tool_calls=[CALL]),
        HumanMessage(["lit", {"type": "text", "text": "dark"}]),
        Loud("lit", volume=3),
        {"role": "user", "content": "lit"},
        {"role": "user", "content": "lit", "name": "Orla"},
        ("human", "lit"),
        "lit",
    ],
)
def test_t2_the_quick_view_of_a_message_says_what_the_full_one_says(message: Any) -> None:
    views = LangChainMessages([message])
    plain, full = views.plain(0), views[0]
    if plain is not None:
        assert plain == (full.role, full.content)
        assert full.plain
    assert cost(message) == sent_tokens([message]) - 3


@pytest.mark.parametrize(
    ("message", "synthetic"),
    [
        (AIMessage("[3 earlier messages omitted]"), True),
        (("ai", "[1,200 earlier messages omitted]"), True),
        ({"role": "assistant", "content": "[1 earlier message omitted]"}, True),
        (AIMessage("left out: a greeting", additional_kwargs={"lc_source": "ctxopt"}), True),
        (AIMessage("left out: a greeting", additional_kwargs={"lc_source": "summary"}), False),
        (HumanMessage("[3 earlier messages omitted]"), False),
        (AIMessage("[3 earlier messages omitted] Really?"), False),
        (AIMessage(["[3 earlier messages omitted]", "Really?"]), False),
    ],
)
def test_a16_a_placeholder_of_an_earlier_fit_is_recognized(message: Any, synthetic: bool) -> None:
    assert view_of(message).synthetic is synthetic


PLAIN = (HumanMessage("Hi."), AIMessage("Yes."), SystemMessage("Be brief."), HumanMessage("Ho.", name="Ann"))


@pytest.mark.parametrize(
    "item",
    [
        *PLAIN,
        HumanMessage(" "),
        HumanMessage(""),
        HumanMessage("\n\n"),
        AIMessage("[3 earlier messages omitted]"),
        HumanMessage([{"type": "text", "text": "Hi."}]),
        HumanMessage("Hi.", additional_kwargs={"lc_source": "ctxopt"}),
        SystemMessage("Hi.", additional_kwargs={"__openai_role__": "developer"}),
        AIMessage("Hi.", tool_calls=[CALL]),
        AIMessage("Hi.", invalid_tool_calls=[{"name": "f", "args": "{", "id": "c", "error": None}]),
        ToolMessage("Four.", tool_call_id="call_7"),
        HumanMessageChunk("Hi."),
        {"role": "user", "content": "Hi."},
        ("human", "Hi."),
        "Hi.",
    ],
    ids=repr,
)
def test_messages_that_are_read_together_are_as_when_each_is_read(item: Any) -> None:
    views = LangChainMessages([*PLAIN, item, *PLAIN])
    found = views.plain_range(0, 9)

    if found is None:
        assert not isinstance(item, BaseMessage) or views.plain(4) is None or not str(item.content).strip()
        return
    named = (
        [(None, text) for text in found.texts] if found.names is None else zip(found.names, found.texts, strict=True)
    )
    for index, (role, (name, text)) in enumerate(zip(found.roles, named, strict=True)):
        whole = views[index]
        assert (role, name, text) == (whole.role, whole.name, whole.content)
        assert whole.plain or name
        assert not whole.empty


def test_a_message_that_was_changed_is_read_again() -> None:
    item = AIMessage("Yes.")
    views = LangChainMessages([item])
    assert views.plain_range(0, 1) is not None

    item.tool_calls.append(CALL)
    assert views.plain_range(0, 1) is None
