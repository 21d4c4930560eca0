"""What the placeholder says of dropped messages, and huge arguments of old calls."""

from __future__ import annotations

import json

import pytest

from ctxopt_core import ContextBudget, ContextRequest, HistoryPolicy, Message, TiktokenCounter, ToolCall, fit
from ctxopt_core.placeholder import is_placeholder, placeholder_text
from ctxopt_core.tokens import CallableCounter

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
COUNTER = TiktokenCounter("o200k_base")


def turn(number):
    return [
        Message(role="user", content=f"Question {number}: " + "please " * 30),
        Message(role="assistant", content=f"Answer {number} is\n\nlantern {number}. " + "so " * 30),
    ]


CHAT = [m for n in range(20) for m in turn(n)]
QUERY = Message(role="user", content="And now?")


def fitted(messages, limit, counter=WORDS, **options):
    policy = HistoryPolicy(**options)
    return fit(ContextRequest(history=messages), ContextBudget(max_input_tokens=limit), counter=counter, history=policy)


def test_h19_the_newest_dropped_questions_and_answers_are_quoted_shortly():
    result = fitted([*CHAT, QUERY], 600, strategy="turns", note="excerpts")
    first, *lines, last = result.history.placeholder.removesuffix("]").split("\n")
    dropped = [n for n in range(20) if 2 * n not in result.history.kept]

    assert first == f"[{2 * len(dropped) + 1} earlier messages omitted. Among them:"
    assert [line.split(":")[0] for line in lines] == ["- user"] * len(lines)
    assert f"- user: Question {dropped[-1]}: please" in last
    assert f"assistant: Answer {dropped[-1]} is lantern {dropped[-1]}." in last
    assert 1 < len(lines) + 1 < len(dropped)
    assert result.report.output_tokens <= 600


@pytest.mark.parametrize(("share", "lines"), [(0, 0), (5, 0), (20, 3), (100, 18)])
def test_h19_the_quotes_keep_their_share(share, lines):
    result = fitted([*CHAT, QUERY], 600, strategy="turns", note="excerpts", note_share=share)
    said = result.history.placeholder or ""

    assert abs(said.count("\n- ") - lines) <= 2 * bool(lines)
    assert len(said.split()) <= 600 * share / 100 + 8


@pytest.mark.parametrize("note", ["identifiers", "count"])
def test_h19_without_the_option_nothing_is_quoted(note):
    said = fitted([*CHAT, QUERY], 600, strategy="turns", note=note).history.placeholder
    assert said.endswith("earlier messages omitted]")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (placeholder_text(3), True),
        (placeholder_text(3, excerpts=["user: a assistant: b", "user: c"]), True),
        (placeholder_text(3, ["A-17", "2026-01-01"]), True),
        (placeholder_text(3, excerpts=["user: a"]) + " And more.", False),
        ("[3 earlier messages omitted. Among them:]", False),
        ("[3 earlier messages omitted. Among them:\nuser: a]", False),
    ],
)
def test_a16_h19_the_note_of_an_earlier_fit_is_known_again(text, is_one):
    assert is_placeholder(text) is is_one


@pytest.mark.parametrize("note", ["identifiers", "excerpts", "count"])
def test_a16_h19_fitting_what_was_fitted_changes_nothing(note):
    once = fitted([*CHAT, QUERY], 600, note=note)
    again = fitted(list(once.messages()), 600, note=note)

    assert again.untouched


def call(number, arguments):
    return [
        Message(role="assistant", tool_calls=(ToolCall(id=f"c{number}", name="write", arguments=arguments),)),
        Message(role="tool", content="written", tool_call_id=f"c{number}"),
    ]


HUGE = json.dumps({"path": "/srv/lantern.py", "content": "light = on\n" * 800, "mode": 420})


def test_h10_huge_arguments_of_an_old_call_are_shortened_to_valid_json():
    messages = [Message(role="user", content="Write it."), *call(1, HUGE), Message(role="assistant", content="Done.")]
    result = fitted([*messages, QUERY], 500, COUNTER)
    [left] = [json.loads(c.arguments) for m in result.messages() for c in m.tool_calls]

    assert list(left) == ["path", "content", "mode"]
    assert (left["path"], left["mode"]) == ("/srv/lantern.py", 420)
    assert 0 < len(left["content"]) < 4_000
    assert result.messages()[1].tool_calls[0].id == "c1"
    assert result.report.output_tokens <= 500
    assert messages[1].tool_calls[0].arguments == HUGE


def test_h10_arguments_of_the_current_exchange_are_kept():
    messages = [Message(role="user", content="Write it."), *call(1, HUGE), *call(2, '{"path": "/srv/b.py"}')]
    result = fitted(messages, 4_000, COUNTER)
    kept = {c.id: c.arguments for m in result.messages() for c in m.tool_calls}

    assert set(kept) <= {"c1", "c2"}
    assert kept["c2"] == '{"path": "/srv/b.py"}'
    assert kept.get("c1", HUGE) == HUGE


def test_h10_small_arguments_are_never_edited():
    small = json.dumps({"path": "/srv/lantern.py", "lines": list(range(30))})
    messages = [m for n in range(30) for m in (Message(role="user", content="Write it."), *call(n, small))]
    result = fitted([*messages, QUERY], 1_000, COUNTER)

    assert {c.arguments for m in result.messages() for c in m.tool_calls} == {small}


def test_h10_arguments_beside_signed_reasoning_are_never_edited():
    signed = Message(role="assistant", verbatim=("thought",), tool_calls=(ToolCall(id="c1", name="w", arguments=HUGE),))
    result = Message(role="tool", content="written", tool_call_id="c1")
    fit_ = fitted([Message(role="user", content="Write it."), signed, result, QUERY], 500, COUNTER)

    assert all(c.arguments == HUGE for m in fit_.messages() for c in m.tool_calls)


def test_h24_the_markers_in_shortened_results_carry_a_reference():
    long = "\n".join(f"line {n} of the log" for n in range(900))
    look = Message(role="assistant", tool_calls=(ToolCall(id="a", name="read", arguments="{}"),))
    messages = [Message(role="user", content="Read."), look, Message(role="tool", content=long, tool_call_id="a")]
    messages += [Message(role="assistant", content="Read it."), QUERY]
    plain = fitted(messages, 400, COUNTER).messages()
    referring = fitted(messages, 400, COUNTER, references=True).messages()

    assert not any("reference" in text for message in plain for text in message.texts)
    assert any('reference "' in text for message in referring for text in message.texts)
    assert fitted(messages, 400, COUNTER, references=True).report.output_tokens <= 400


@pytest.mark.parametrize(
    ("options", "said"), [({"note": "names"}, "`note` must be"), ({"note_share": 101}, "`note_share`")]
)
def test_h19_a_policy_says_what_is_wrong(options, said):
    with pytest.raises(ValueError, match=said):
        HistoryPolicy(**options)
