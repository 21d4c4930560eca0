"""OpenAI-shaped messages, taken apart into what is counted."""

from __future__ import annotations

import copy

import pytest

from ctxopt_core import Attachment, CallableCounter, Message, ToolCall
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.formats.openai_messages import message_from_openai, plain_openai, role_of, shortened_openai
from ctxopt_core.shortening.shorten_message import Shortened
from shape_rows import data_uri

BASE64 = "UklNRVJPQ0s" * 9_000
SEALED_TOKENS = 18_563  # three quarters of a byte for each character, and 4 bytes in a token; what is read goes off
SEALED = Attachment(tokens=18_562, fixed=True)
PICTURE = {"type": "image_url", "image_url": {"url": data_uri("image/png", 90_000)}}
COUNTER = CallableCounter(len)
WITHOUT_ATTACHMENTS = Message(role="user")


def view(content=None, **more):
    return message_from_openai({"role": "user", "content": content, **more})


def cost(content=None, **more):
    """What a message costs beside its framing and its role."""
    return message_tokens(view(content, **more), COUNTER) - message_tokens(WITHOUT_ATTACHMENTS, COUNTER)


@pytest.mark.parametrize(
    ("role", "known_as"),
    [
        *[(role, role) for role in ("system", "developer", "user", "assistant", "tool", "function", "critic")],
        *[("human", "user"), ("ai", "assistant"), ("model", "assistant"), ("chatbot", "assistant")],
    ],
)
def test_a_role_is_known_by_one_name(role, known_as):
    assert message_from_openai({"role": role, "content": "lit"}).role == known_as
    assert plain_openai({"role": role, "content": "lit"}) == (known_as, "lit")
    assert role_of({"type": role}) == known_as


@pytest.mark.parametrize("wrong", ["user", None, ["user", "lit"], {"content": "lit"}, {"role": None}, {"role": 1}])
def test_what_has_no_role_is_an_error(wrong):
    with pytest.raises(TypeError, match="must be a mapping with a string `role`"):
        message_from_openai(wrong)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(7, "a message's `content` must be a string, a list of parts or None, got int", id="number"),
        pytest.param({"text": "lit"}, "must be a string, a list of parts or None, got dict", id="mapping"),
        pytest.param([7], "a part of a message's `content` must be a string or a mapping, got int", id="part"),
    ],
)
def test_a_content_of_no_known_shape_is_an_error(content, problem):
    with pytest.raises(TypeError, match=problem):
        view(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("lit", Message(role="user", content="lit"), id="text"),
        pytest.param("", Message(role="user", content=()), id="empty"),
        pytest.param(None, Message(role="user", content=()), id="none"),
        pytest.param([], Message(role="user", content=()), id="no-parts"),
        pytest.param(["a", {"text": "b"}], Message(role="user", content=("a", "b")), id="bare"),
        pytest.param(
            [{"type": kind, "text": kind} for kind in ("text", "input_text", "output_text")],
            Message(role="user", content=("text", "input_text", "output_text")),
            id="texts",
        ),
        pytest.param([{"type": "text", "text": None}], Message(role="user", content=("",)), id="text-is-none"),
        pytest.param(
            [{"type": "refusal", "refusal": "no"}, {"type": "thinking", "thinking": "hm", "signature": BASE64}],
            Message(role="user", content=(), verbatim=("no", "hm"), attachments=(SEALED,)),
            id="read-and-never-cut",
        ),
        pytest.param(
            [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": BASE64}],
            Message(role="user", content=(), verbatim=("hm",), attachments=(SEALED,)),
            id="reasoning-summary",
        ),
        pytest.param(
            [{"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}}],
            Message(role="user", content=(), tool_calls=(ToolCall(id="a", name="look", arguments='{"at": 1}'),)),
            id="call-in-the-content",
        ),
        pytest.param(
            [{"type": "citation", "of": "ledger", "index": 4, "cache_control": {"type": "ephemeral"}}],
            Message(role="user", content=(), verbatim=('{"type":"citation","of":"ledger"}',)),
            id="unknown-part-as-json",
        ),
    ],
)
def test_a_content_is_taken_apart(content, message):
    assert view(content) == message


@pytest.mark.parametrize(
    ("fields", "calls"),
    [
        pytest.param({"tool_calls": None, "function_call": None}, (), id="none"),
        pytest.param(
            {"tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"at":1}'}}]},
            (ToolCall(id="a", name="look", arguments='{"at":1}'),),
            id="text",
        ),
        pytest.param(
            {"tool_calls": [{"id": "a", "function": {"name": "look", "arguments": {"灯": 1}}}]},
            (ToolCall(id="a", name="look", arguments='{"灯": 1}'),),
            id="mapping",
        ),
        pytest.param(
            {"tool_calls": [{"id": None, "function": {"name": None, "arguments": None}}, "broken"]},
            (ToolCall(),),
            id="nothing",
        ),
        pytest.param(
            {"tool_calls": [{"id": "a", "name": "look", "args": {}}, {"call_id": "b", "id": "fc", "name": "look"}]},
            (ToolCall(id="a", name="look", arguments="{}"), ToolCall(id="b", name="look")),
            id="flat",
        ),
        pytest.param(
            {"tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "run", "input": "print(1)"}}]},
            (ToolCall(id="a", name="run", arguments="print(1)"),),
            id="custom-tool",
        ),
        pytest.param(
            {"function_call": {"name": "look", "arguments": "{}"}},
            (ToolCall(name="look", arguments="{}"),),
            id="legacy",
        ),
        pytest.param(
            {"function_call": {"name": "look", "arguments": None}}, (ToolCall(name="look"),), id="legacy-none"
        ),
    ],
)
def test_calls_are_read_in_every_shape(fields, calls):
    message = view(None, **fields)

    assert message.tool_calls == calls
    assert cost(None, **fields) == sum(len(call.name + call.arguments + (call.id or "")) for call in calls)


def test_a_call_that_stands_in_the_message_and_in_its_content_counts_once():
    part = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    calls = [{"id": "a", "function": {"name": "look", "arguments": "{}"}}]

    assert view([part], tool_calls=calls).tool_calls == (ToolCall(id="a", name="look", arguments="{}"),)
    assert len(view([part, {**part, "id": "b"}], tool_calls=calls).tool_calls) == 2


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({"tool_calls": True}, "`message.tool_calls` must be a list of calls, got bool", id="calls"),
        pytest.param({"function_call": "look"}, "`message.function_call` must be an object", id="a legacy call"),
        pytest.param({"tool_call_id": ["a"]}, "`message.tool_call_id` must be a string, got list", id="answered"),
        pytest.param({"name": 5}, "`message.name` must be a string, got int", id="a name"),
        pytest.param({"refusal": []}, "`message.refusal` must be a string, got list", id="a refusal"),
    ],
)
@pytest.mark.parametrize("content", ["hi", None, [{"type": "text", "text": "hi"}]], ids=["text", "none", "parts"])
def test_fields_of_no_known_shape_are_errors(content, fields, said):
    with pytest.raises(TypeError, match=said):
        message_from_openai({"role": "assistant", "content": content, **fields})


def test_names_and_answered_calls_are_read():
    message = view("lit", name="Orla", tool_call_id="a")

    assert (message.name, message.tool_call_id, message.plain) == ("Orla", "a", False)
    assert view("lit", name="", tool_call_id=None).plain


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        pytest.param(PICTURE, 850, id="picture"),
        pytest.param({"type": "image_url", "image_url": {"url": "https://lamps.example/a.png"}}, 850, id="link"),
        pytest.param({"type": "input_image", "image_url": data_uri("image/png", 90_000)}, 850, id="flat-picture"),
        pytest.param({"type": "image", "source": {"type": "base64", "data": BASE64}}, 850, id="anthropic-picture"),
        pytest.param({"type": "image", "base64": BASE64, "mime_type": "image/png"}, 850, id="langchain-picture"),
        pytest.param({"image": {"format": "png", "source": {"bytes": BASE64.encode()}}}, 850, id="untyped-picture"),
        pytest.param({"type": "image_generation_call", "id": "i", "result": BASE64}, 850, id="drawn-picture"),
        pytest.param({"type": "input_audio", "input_audio": {"data": BASE64, "format": "wav"}}, 500, id="sound"),
        pytest.param({"type": "video", "base64": BASE64}, 500, id="video"),
        pytest.param({"type": "file", "file": {"filename": "a.pdf", "file_data": BASE64}}, 1_000, id="file"),
        pytest.param({"type": "input_file", "file_id": "f"}, 1_000, id="file-id"),
        pytest.param({"type": "document", "source": {"type": "base64", "data": BASE64}}, 1_000, id="pdf"),
        pytest.param({"type": "text-plain", "base64": BASE64}, 1_000, id="text-file-as-bytes"),
        pytest.param({"type": "media", "mime_type": "audio/ogg", "data": BASE64}, 500, id="media"),
        pytest.param({"type": "document", "source": {"type": "text", "data": "x" * 9_000}}, 9_000, id="text-as-file"),
        pytest.param({"type": "file", "source_type": "text", "text": "x" * 9_000}, 9_000, id="file-with-text"),
        pytest.param({"type": "text-plain", "text": "x" * 9_000}, 9_000, id="plain-text-file"),
        pytest.param(
            {"type": "document", "source": {"type": "content", "content": ["x" * 50, {"type": "text", "text": "y"}]}},
            51,
            id="parts-as-file",
        ),
    ],
)
def test_t13_media_cost_a_fixed_allowance_and_text_what_it_counts(part, tokens):
    kept = copy.deepcopy(part)

    assert cost([part]) == tokens
    assert view([part]).plain is False
    assert shortened_openai({"role": "user", "content": [part]}, Shortened(texts=(), tokens=9))["content"][0] is part
    assert part == kept


@pytest.mark.parametrize(
    ("part", "allowance"),
    [
        pytest.param({"type": "hologram", "data": BASE64}, 500, id="unknown"),
        pytest.param({"type": "hologram", "view": data_uri("image/png", 90_000)}, 500, id="data-uri-in-the-unknown"),
        pytest.param({"type": "hologram", "blob": BASE64.encode()}, 500, id="bytes-in-the-unknown"),
        pytest.param({"type": "redacted_thinking", "data": BASE64}, SEALED_TOKENS, id="sealed-thought"),
        pytest.param(
            {"type": "tool_result", "tool_use_id": "a", "content": [PICTURE, PICTURE]}, 1_700, id="in-a-result"
        ),
        pytest.param(
            {"type": "web_search_tool_result", "content": [{"title": "lamps", "encrypted_content": BASE64}]},
            SEALED_TOKENS,
            id="sealed",
        ),
    ],
)
def test_t13_bytes_are_never_counted_as_text_however_deep(part, allowance):
    assert allowance <= cost([part]) < allowance + 150


def test_t13_an_allowance_may_be_replaced_by_a_known_cost():
    kinds = ("image", "file", "audio", "video", "other")

    assert [Attachment(kind=kind).cost for kind in kinds] == [850, 1_000, 500, 500, 500]
    assert Attachment(kind="image", tokens=1_500).cost == 1_500
    assert Attachment(kind="image", tokens=0).cost == 0


def test_text_inside_a_result_counts_in_full():
    part = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "x" * 5_000}]}
    document = {"type": "document", "source": {"type": "text", "data": "y" * 5_000}}

    assert 5_000 < cost([part]) < 5_200
    assert 5_000 < cost([{**part, "content": [document]}]) < 5_200
    assert 5_000 < cost([{"type": "table", "data": {"rows": ["z" * 5_000]}}]) < 5_800
