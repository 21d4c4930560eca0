"""The checker itself is checked: its count against published numbers, its findings one violation at a time."""

from __future__ import annotations

import json
import os

import pytest

from hostile_text import HOSTILE_SAMPLES, huge_samples
from independent_recount import MEDIA_ALLOWANCE, count_text, langchain_to_dict, load_encoding, recount
from shape_rows import call, calling, filler, result, user

# The example request of the OpenAI cookbook, "How to count tokens with tiktoken", with the number of prompt tokens
# that the cookbook reports from the API: 129 for gpt-4 and gpt-3.5-turbo, 124 for gpt-4o.
COOKBOOK_REQUEST = [
    {
        "role": "system",
        "content": "You are a helpful, pattern-following assistant that translates corporate jargon "
        "into plain English.",
    },
    {"role": "system", "name": "example_user", "content": "New synergies will help drive top-line growth."},
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Things working well together will increase revenue.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth to touch base on opportunities "
        "for increased leverage.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Let's talk later when we're less busy about how to do better.",
    },
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the client deliverable.",
    },
]


@pytest.mark.parametrize(("encoding", "tokens"), [("cl100k_base", 129), ("o200k_base", 124)])
def test_t2_the_published_chat_example_gives_the_published_number(encoding: str, tokens: int) -> None:
    assert recount(COOKBOOK_REQUEST, encoding=encoding) == tokens


@pytest.mark.parametrize(
    ("rows", "tools", "tokens"),
    [
        pytest.param([], [], 0, id="nothing"),
        pytest.param([user("")], [], 3 + 1 + 3, id="role only"),
        pytest.param([user(None)], [], 3 + 1 + 3, id="no content"),
        pytest.param([user("one two")], [], 3 + 1 + 2 + 3, id="role and content"),
        pytest.param([user(["one", " two"])], [], 3 + 1 + 2 + 3, id="bare strings in a list"),
        pytest.param([{**user("one"), "name": "two"}], [], 3 + 1 + 1 + 2 + 3, id="a name costs one more"),
        pytest.param([result("one", "two")], [], 3 + 1 + 1 + 1 + 3, id="call id of a result"),
        pytest.param([calling(call("one", "two", "three"))], [], 3 + 1 + 3 + 3, id="id, name and arguments of a call"),
        pytest.param([calling(call("one", "two", {}))], [], 3 + 1 + 3 + 3, id="arguments as an object"),
        pytest.param([calling(call(None, "two", None))], [], 3 + 1 + 1 + 3, id="call without id and arguments"),
        pytest.param([user("<|endoftext|>")], [], 3 + 1 + 7 + 3, id="special token as ordinary text"),
        pytest.param([], [{"a": "灯", "b": []}], 3 + count_text('[{"a":"灯","b":[]}]'), id="schemas as compact JSON"),
    ],
)
def test_t2_each_part_of_a_request_is_counted(rows: list, tools: list, tokens: int) -> None:
    assert recount(rows, tools) == tokens


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        pytest.param({"type": "image_url", "image_url": {"url": "data:," + "A" * 90_000}}, "image", id="picture"),
        pytest.param({"type": "input_image", "image_url": "data:," + "A" * 90_000}, "image", id="flat picture"),
        pytest.param({"type": "input_audio", "input_audio": {"data": "A" * 90_000}}, "audio", id="sound"),
        pytest.param({"type": "file", "file": {"file_data": "A" * 90_000}}, "file", id="file"),
        pytest.param({"type": "hologram", "data": "A" * 90_000}, "other", id="unknown"),
    ],
)
def test_t13_media_cost_an_allowance_and_not_their_base64(part: dict, kind: str) -> None:
    assert recount([user([part])]) == 3 + 1 + MEDIA_ALLOWANCE[kind] + 3
    assert recount([user([part])], media={**MEDIA_ALLOWANCE, kind: 10}) == 3 + 1 + 10 + 3


@pytest.mark.parametrize("text", HOSTILE_SAMPLES, ids=range(len(HOSTILE_SAMPLES)))
def test_t4_hostile_text_is_counted(text: str) -> None:
    readable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert count_text(text) == len(load_encoding("o200k_base").encode(readable, disallowed_special=()))


@pytest.mark.parametrize("text", huge_samples().values(), ids=huge_samples().keys())
def test_t4_a_million_characters_are_counted(text: str) -> None:
    assert 1_000 < count_text(text) <= len(text.encode())


def test_loading_an_encoding_leaves_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "chosen")
    load_encoding.cache_clear()
    assert load_encoding("cl100k_base").name == "cl100k_base"
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "chosen"


def test_langchain_messages_become_the_rows_that_are_sent() -> None:
    messages = pytest.importorskip("langchain_core.messages")
    wrong = {"name": "inspect", "args": "{", "id": "b", "error": "no JSON", "type": "invalid_tool_call"}
    rows = [
        messages.SystemMessage("Be brief.", additional_kwargs={"__openai_role__": "developer"}),
        messages.HumanMessage("灯?", name="Orla"),
        messages.AIMessage(
            "", tool_calls=[{"name": "inspect", "args": {"灯": 7}, "id": "a"}], invalid_tool_calls=[wrong]
        ),
        messages.ToolMessage("lit", tool_call_id="a", artifact=filler(50)),
        messages.ChatMessage(role="critic", content=["dull"]),
        messages.FunctionMessage(name="inspect", content="lit"),
    ]
    assert [langchain_to_dict(message) for message in rows] == [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "灯?", "name": "Orla"},
        calling(call("a", arguments=json.dumps({"灯": 7}, ensure_ascii=False)), call("b", arguments="{"), text=""),
        result("a", "lit"),
        {"role": "critic", "content": ["dull"]},
        {"role": "function", "name": "inspect", "content": "lit"},
    ]
