"""OpenAI-shaped messages put together again after a cut, and seen lazily."""

from __future__ import annotations

import copy
from collections import UserDict
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core import TiktokenCounter, Trimming
from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.formats.assembly import put_together
from ctxopt_core.formats.content_blocks import take_apart
from ctxopt_core.formats.openai_messages import OpenAIMessages, fitted_openai, message_from_openai, shortened_openai
from ctxopt_core.messages.placeholder import placeholder_text
from ctxopt_core.shortening.shorten_message import ATTACHMENT_OMITTED, Shortened
from fitted_rows import fit_rows
from hostile_text import openai_messages
from independent_recount import count_message

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}
SOUND = {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "sealed"}
USE = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
OMITTED = {"type": "text", "text": ATTACHMENT_OMITTED}


def text(words, **more):
    return {"type": "text", "text": words, **more}


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
@UNHURRIED
@given(rows=openai_messages())
def test_t2_a_message_counts_what_an_independent_recount_counts(encoding, rows):
    counter = TiktokenCounter(encoding)
    conversation = CountedConversation(OpenAIMessages(rows), counter)

    for index, row in enumerate(rows):
        assert message_tokens(message_from_openai(row), counter) == count_message(row, encoding)
        assert conversation.cost(index) == count_message(row, encoding)
    assert conversation.total_up_to(10**9) == sum(count_message(row, encoding) for row in rows)


@UNHURRIED
@given(openai_messages())
def test_what_is_not_cut_is_put_together_as_it_was(rows):
    given_rows = copy.deepcopy(rows)

    for row in rows:
        same = shortened_openai(row, Shortened(texts=message_from_openai(row).texts, tokens=0))
        assert same == row
        assert list(same) == [*row, *(["content"] if "content" not in row else [])]
        if isinstance(row.get("content"), list):
            assert all(a is b for a, b in zip(same["content"], row["content"], strict=True))
    assert rows == given_rows


@UNHURRIED
@given(openai_messages(), st.randoms(use_true_random=False))
def test_new_texts_are_found_where_they_were_put(rows, dice):
    for row in rows:
        texts = tuple(f"new {index}" if dice.random() < 0.5 else old for index, old in enumerate(view_texts(row)))
        again = message_from_openai(shortened_openai(row, Shortened(texts=texts, tokens=0)))

        assert again.texts == texts
        assert again.tool_calls == message_from_openai(row).tool_calls
        assert again.attachments == message_from_openai(row).attachments


def view_texts(row):
    return message_from_openai(row).texts


@pytest.mark.parametrize(
    ("content", "cut", "result"),
    [
        pytest.param("old", Shortened(texts=("new",), tokens=0), "new", id="text"),
        pytest.param("old", Shortened(texts=("",), tokens=0), "", id="text-emptied"),
        pytest.param(None, Shortened(texts=(), tokens=0), None, id="none"),
        pytest.param("", Shortened(texts=(), tokens=0), "", id="empty"),
        pytest.param(["old", "kept"], Shortened(texts=("new", "kept"), tokens=0), ["new", "kept"], id="bare-texts"),
        pytest.param(
            [text("old", cache_control={"type": "ephemeral"}), text("kept")],
            Shortened(texts=("new", "kept"), tokens=0),
            [text("new", cache_control={"type": "ephemeral"}), text("kept")],
            id="other-keys-stay",
        ),
        pytest.param(
            [text("old"), text(""), text("kept")],
            Shortened(texts=("", "", "kept"), tokens=0),
            [text(""), text("kept")],
            id="an-emptied-part-goes",
        ),
        pytest.param(
            [THOUGHT, text("old"), USE, PICTURE],
            Shortened(texts=("new",), tokens=0),
            [THOUGHT, text("new"), USE, PICTURE],
            id="the-rest-stays",
        ),
        pytest.param(
            [PICTURE, text("kept"), SOUND, THOUGHT],
            Shortened(texts=("kept",), attachments_omitted=True, tokens=0),
            [OMITTED, text("kept"), THOUGHT],
            id="attachments-said-once",
        ),
        pytest.param(
            [{"type": "hologram", "data": "UklG"}, {"type": "redacted_thinking", "data": "sealed"}],
            Shortened(texts=(), attachments_omitted=True, tokens=0),
            [OMITTED, {"type": "redacted_thinking", "data": "sealed"}],
            id="unknown-goes-and-thoughts-stay",
        ),
        pytest.param(
            [
                {"type": "mcp_tool_result", "tool_use_id": "a", "content": [PICTURE]},
                {"type": "file", "text": "read me"},
            ],
            Shortened(texts=(), attachments_omitted=True, tokens=0),
            [
                {"type": "mcp_tool_result", "tool_use_id": "a", "content": [PICTURE]},
                {"type": "file", "text": "read me"},
            ],
            id="results-of-servers-and-text-files-stay",
        ),
        pytest.param(
            [{"type": "tool_result", "tool_use_id": "a", "content": [PICTURE, text("old"), SOUND]}, PICTURE, "kept"],
            Shortened(texts=("new", "kept"), attachments_omitted=True, tokens=0),
            [{"type": "tool_result", "tool_use_id": "a", "content": [OMITTED, text("new")]}, "kept"],
            id="inside-results",
        ),
    ],
)
def test_a_cut_is_put_in_the_places_of_the_texts(content, cut, result):
    kept = copy.deepcopy(content)

    assert put_together(content, cut) == result
    assert content == kept


@pytest.mark.parametrize(
    ("content", "removable", "fixed"),
    [
        pytest.param([PICTURE, SOUND], 2, 0, id="parts"),
        pytest.param([{"type": "hologram", "data": "UklG"}], 1, 0, id="unknown"),
        pytest.param([{"type": "tool_result", "content": [PICTURE, SOUND]}], 2, 0, id="in-a-result"),
        pytest.param([{"type": "mcp_tool_result", "content": [PICTURE, SOUND]}], 0, 2, id="in-a-result-of-a-server"),
        pytest.param([{"type": "redacted_thinking", "data": "sealed"}], 0, 1, id="thought"),
        pytest.param([{"type": "file", "text": "read me"}], 0, 0, id="text-file"),
    ],
)
def test_what_put_together_can_remove_is_what_counts_as_removable(content, removable, fixed):
    attachments = take_apart(content).attachments
    left = put_together(content, Shortened(texts=(), attachments_omitted=True, tokens=0))

    assert sum(not attachment.fixed for attachment in attachments) == removable
    assert sum(attachment.fixed for attachment in attachments) == fixed
    assert take_apart([part for part in left if part != OMITTED]).attachments == attachments[removable:]


@UNHURRIED
@given(openai_messages())
def test_a_lazy_view_agrees_with_the_whole_one(rows):
    views = OpenAIMessages(rows)
    whole = [message_from_openai(row) for row in rows]

    assert len(views) == len(rows)
    assert [views[index] for index in range(len(rows))] == whole
    systems = [index for index, message in enumerate(whole) if message.role in {"system", "developer"}]
    assert list(views.system_indices(0, len(rows))) == systems
    assert list(views.system_indices(1, len(rows))) == [index for index in systems if index]
    for index, message in enumerate(whole):
        plain = views.plain(index)
        if plain is not None:
            assert plain == (message.role, rows[index]["content"])
            assert "".join(message.texts) == plain[1]
            assert not any([message.tool_calls, message.name, message.verbatim, message.attachments])


@pytest.mark.parametrize("kind", [dict, MappingProxyType, UserDict], ids=["dict", "proxy", "user-dict"])
def test_any_mapping_may_be_a_message(kind):
    row = kind({"role": "user", "content": "old"})
    views = OpenAIMessages([row])

    assert views.plain(0) == ("user", "old")
    assert views[0].content == "old"
    assert shortened_openai(row, Shortened(texts=("new",), tokens=0)) == {"role": "user", "content": "new"}


@pytest.mark.parametrize("key", ["role", "type"])
def test_system_messages_are_found_under_either_key(key):
    rows = [{key: role, "content": "lit"} for role in ("system", "user", "developer")]

    assert list(OpenAIMessages(rows).system_indices(0, 3)) == [0, 2]


def test_the_note_of_an_earlier_fit_is_recognized_and_is_not_plain():
    note = {"role": "assistant", "content": placeholder_text(1_200)}
    quoted = {"role": "user", "content": placeholder_text(1_200)}
    views = OpenAIMessages([note, quoted, {"role": "assistant", "content": "[lit]"}])

    assert [views[index].synthetic for index in range(3)] == [True, False, False]
    assert [views.plain(index) is None for index in range(3)] == [True, True, False]


def test_a_trimming_gives_originals_copies_and_the_placeholder():
    rows = [{"role": "user", "content": f"old {number}", "id": number} for number in range(5)]
    trimming = Trimming(
        kept=(0, 3, 4),
        shortened={3: Shortened(texts=("new",), tokens=1)},
        placeholder=placeholder_text(2),
        placeholder_after=0,
        length=5,
    )

    first, note, cut, last = fitted_openai(rows, trimming)
    assert first is rows[0]
    assert last is rows[4]
    assert note == {"role": "assistant", "content": "[2 earlier messages omitted]"}
    assert cut == {"role": "user", "content": "new", "id": 3}
    assert rows[3]["content"] == "old 3"


TOOL_CHAT = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [text("look"), text("there")]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": [text("lit " * 200)]},
    {"role": "assistant", "content": [text("lit"), {"type": "refusal", "refusal": "no more"}]},
    {"role": "user", "content": "and now?"},
]


def test_i8_rows_that_fit_come_back_as_the_same_objects():
    after, fitted = fit_rows(TOOL_CHAT, 10_000)

    assert after is TOOL_CHAT
    assert all(a is b for a, b in zip(fitted_openai(TOOL_CHAT, fitted.history), TOOL_CHAT, strict=True))


def test_i8_developer_role_and_tool_rows_survive_a_cut_and_only_what_is_shortened_is_a_copy():
    kept = copy.deepcopy(TOOL_CHAT)

    after, _ = fit_rows(TOOL_CHAT, 200)

    assert [row["role"] for row in after] == [row["role"] for row in TOOL_CHAT]
    assert [a is b for a, b in zip(after, TOOL_CHAT, strict=True)] == [True, True, True, False, True, True]
    assert after[3]["tool_call_id"] == "a"
    assert kept == TOOL_CHAT
