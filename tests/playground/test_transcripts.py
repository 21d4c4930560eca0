"""A pasted plain text is a conversation where it says who speaks, and one message of the user where it does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_playground.readers.history import read_history
from ctxopt_playground.readers.transcripts import NO_SPEAKERS, read_transcript
from drawn_examples import examples
from hostile_text import HOSTILE_SAMPLES, hostile_text, huge_samples

FOUND = [("user", "Which key?"), ("assistant", "Key 777.")]


def said(text):
    """Return who says what in the request that a text becomes."""
    return [(message.role, "".join(message.texts)) for message in read_history(text).request.history]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("User: Which key?\nAssistant: Key 777.", id="a line each"),
        pytest.param("USER : Which key?\n\n\nassistant:Key 777.\n", id="capitals and blanks"),
        pytest.param("Human: Which key?\n\nAI: Key 777.", id="LangChain"),
        pytest.param("Human: Which key?\n\nAssistant: Key 777.", id="Anthropic's old form"),
        pytest.param("User:\nWhich key?\nAssistant:\nKey 777.", id="the text on the next line"),
        pytest.param("User: Which key?\r\nAssistant: Key 777.\r\n", id="line breaks of Windows"),
        pytest.param("\ufeffUser: Which key?\nAssistant: Key 777.", id="a byte order mark"),
        pytest.param("  User: Which key?\n  Assistant: Key 777.", id="indented"),
        pytest.param("**User**: Which key?\n**Assistant**: Key 777.", id="bold"),
        pytest.param("**User:** Which key?\n\n**Assistant:** Key 777.", id="bold with its colon"),
        pytest.param("**User**\nWhich key?\n\n__Assistant__\nKey 777.", id="bold on a line of its own"),
        pytest.param("*User*: Which key?\n_Assistant_: Key 777.", id="italic"),
        pytest.param("### User\nWhich key?\n\n### Assistant\nKey 777.", id="headings"),
        pytest.param("## Human:\nWhich key?\n\n## AI:\nKey 777.", id="headings with a colon"),
        pytest.param("### User\r\nWhich key?\r\n\r\n### Assistant\r\nKey 777.", id="headings with breaks of Windows"),
        pytest.param("[10:32] User: Which key?\n[10:33] Bot: Key 777.", id="times before"),
        pytest.param("User (10:32): Which key?\nAgent [10:33]: Key 777.", id="times behind"),
        pytest.param("[User]: Which key?\n[Assistant]: Key 777.", id="brackets"),
        pytest.param("[User]\nWhich key?\n[Assistant]\nKey 777.", id="brackets on a line of their own"),
        pytest.param("You said:\nWhich key?\nChatGPT said:\nKey 777.", id="copied from a page"),
        pytest.param("Customer: Which key?\nAgent: Key 777.", id="support"),
        pytest.param(
            "================================ Human Message =================================\n\nWhich key?\n"
            "================================== Ai Message ==================================\n\nKey 777.",
            id="as LangChain prints it",
        ),
    ],
)
def test_each_style_of_naming_speakers_is_recognized(text):
    found = read_history(text)

    assert said(text) == FOUND
    assert (found.format, found.notes) == ("transcript", ())


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        pytest.param(
            "System: Be brief.\nUser: Which key?",
            [("system", "Be brief."), ("user", "Which key?")],
            id="the system prompt",
        ),
        pytest.param(
            "User: Which key?\n\n  It is for gate 7.\n\n- or 8\nAI: Key 777.",
            [("user", "Which key?\n\n  It is for gate 7.\n\n- or 8"), ("assistant", "Key 777.")],
            id="several lines",
        ),
        pytest.param(
            "User: Which key?\nUser: Anyone?\nAI: Key 777.",
            [("user", "Which key?"), ("user", "Anyone?"), ("assistant", "Key 777.")],
            id="one speaker twice",
        ),
        pytest.param("User:\nAI: Key 777.", [("user", ""), ("assistant", "Key 777.")], id="a message of nothing"),
        pytest.param("User: What does `AI: x` mean?", [("user", "What does `AI: x` mean?")], id="not at the beginning"),
        pytest.param(
            "User: Split this:\n```\nUser: a\nAI: b\n```\nAI: Done.",
            [("user", "Split this:\n```\nUser: a\nAI: b\n```"), ("assistant", "Done.")],
            id="fenced code",
        ),
        pytest.param(
            "User: Split this:\n```\nAI: Done.",
            [("user", "Split this:\n```"), ("assistant", "Done.")],
            id="a fence that is never closed",
        ),
        pytest.param("User: The **User** asked", [("user", "The **User** asked")], id="bold in a sentence"),
        pytest.param("Assistant: Hello!", [("assistant", "Hello!")], id="the assistant alone"),
    ],
)
def test_a_message_goes_on_to_the_next_speaker(text, messages):
    assert said(text) == messages


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Which key?", id="a question"),
        pytest.param("Gate 7 is shut.\n\nSystem: Linux 6.1\nKey: 777", id="a line that looks like a speaker"),
        pytest.param("Username: orla\nUserId: 7", id="names that begin like a speaker"),
        pytest.param("# Users\nOrla\n# Assistants\nNell", id="headings that begin like a speaker"),
        pytest.param("[10:32] Orla opens gate 7", id="a log"),
        pytest.param("{name} opens {gate}", id="a template"),
    ],
)
def test_a_text_without_speakers_is_one_message_of_the_user(text):
    found = read_history(text)

    assert said(text) == [("user", text)]
    assert (found.format, found.notes) == ("plain text", (NO_SPEAKERS,))


def test_what_is_before_the_first_speaker_is_not_lost():
    found = read_history("Exported on Monday.\n\nUser: Which key?\nAI: Key 777.")

    assert said("Exported on Monday.\n\nUser: Which key?\nAI: Key 777.") == [("user", "Exported on Monday."), *FOUND]
    assert "before the first speaker" in found.notes[0]


def test_what_tools_say_is_read_as_said_by_the_assistant():
    found = read_history("Human: Which key?\nAI: \nTool: 777\nAI: Key 777.")

    assert [message.role for message in found.request.history] == ["user", "assistant", "assistant", "assistant"]
    assert "what tools returned" in found.notes[0]


SPEAKERS = {"user": "User", "assistant": "Assistant", "system": "System"}
STYLES = ("{}: {}", "**{}:** {}", "### {}\n{}", "[09:15] {}: {}", "[{}]:\n{}")


@settings(max_examples=examples(150))
@given(
    turns=st.lists(st.tuples(st.sampled_from(list(SPEAKERS)), hostile_text()), min_size=1, max_size=6),
    style=st.sampled_from(STYLES),
)
def test_any_transcript_is_read_whole_and_in_order(turns, style):
    turns = [(role, said.replace("\r\n", "\n").replace("```", "").strip()) for role, said in turns]
    text = "\n\n".join(style.format(SPEAKERS[role], said) for role, said in turns)

    assert said(text) == turns


@settings(max_examples=examples(150))
@given(text=hostile_text(20))
def test_nothing_but_the_space_around_a_message_is_lost(text):
    rows = read_transcript(f"User: a\n{text}\nAI: b").rows
    kept = "".join(row["content"] for row in rows)

    assert kept.replace("\n", "").endswith("b")
    assert "".join(text.replace("\r\n", "\n").split()) in "".join(kept.split())


@pytest.mark.parametrize("text", [text for text in HOSTILE_SAMPLES if text.strip("\ufeff \t\r\n")])
def test_hostile_text_is_one_message(text):
    assert [message.role for message in read_history(text).request.history] == ["user"]


@pytest.mark.parametrize("text", huge_samples().values(), ids=huge_samples())
def test_a_text_of_a_million_characters_is_read(text):
    rows = read_transcript(f"User: {text}\nAI: {text}\n{text}User: b").rows

    assert [row["role"] for row in rows][:2] == ["user", "assistant"]
