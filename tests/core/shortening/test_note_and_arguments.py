"""What the placeholder says of dropped messages, and huge arguments of old calls."""

from __future__ import annotations

import json

import pytest

from ctxopt_core import ContextBudget, ContextRequest, HistoryPolicy, Message, TiktokenCounter, ToolCall, fit
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.messages.placeholder import is_placeholder, placeholder_text

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
    result = fitted([*CHAT, QUERY], 600, strategy="turns", placeholder_content="excerpts")
    first, *lines, last = result.history.placeholder.removesuffix("]").split("\n")
    dropped = [n for n in range(20) if 2 * n not in result.history.kept]

    assert first == f"[{2 * len(dropped) + 1} earlier messages omitted. Among them:"
    assert [line.split(":")[0] for line in lines] == ["- user"] * len(lines)
    assert f"- user: Question {dropped[-1]}: please" in last
    assert f"assistant: Answer {dropped[-1]} is lantern {dropped[-1]}." in last
    assert 1 < len(lines) + 1 < len(dropped)
    assert result.report.tokens_after <= 600


@pytest.mark.parametrize(("share", "lines"), [(0, 0), (5, 0), (20, 3), (100, 18)])
def test_h19_the_quotes_keep_their_share(share, lines):
    result = fitted(
        [*CHAT, QUERY], 600, strategy="turns", placeholder_content="excerpts", placeholder_max_percent=share
    )
    said = result.history.placeholder or ""

    assert abs(said.count("\n- ") - lines) <= 2 * bool(lines)
    assert len(said.split()) <= 600 * share / 100 + 8


@pytest.mark.parametrize(("share", "lines"), [(0, 0), (1, 0), (5, 1), (10, 3), (20, 5), (50, 13), (100, 20)])
def test_h19_the_quotes_keep_their_share_however_much_room_is_left(share, lines):
    stuck = [Message(role="user", verbatim=("v " * 900,)), Message(role="assistant", content="ok")]
    result = fitted(
        [*CHAT, *stuck, QUERY], 600, strategy="turns", placeholder_content="excerpts", placeholder_max_percent=share
    )
    [_, *quotes] = result.history.placeholder.split("\n")
    room = result.report.components["history"].budget * share // 100
    taken = WORDS.count(result.history.placeholder) - WORDS.count("[41 earlier messages omitted]")

    assert len(quotes) == lines
    assert taken <= room
    assert result.report.tokens_after < 600
    assert lines == 20 or taken + 24 > room


def test_h19_what_is_seen_elsewhere_is_not_named_in_the_note():
    def run(said):
        messages = [Message(role="user", content="The task.")]
        for n in range(12):
            look, result = call(n, "{}")
            seen = Message(role="tool", content=f"TK-{n}481 TK-99999 " + "pad " * 60, tool_call_id=result.tool_call_id)
            messages += [Message(role="user", content=f"Step {n}."), look, seen]
            messages.append(Message(role="assistant", content=said if n == 11 else "Done."))
        return messages

    plain = fitted([*run("Done."), QUERY], 300, strategy="turns").history
    mentioned = fitted([*run("Close TK-1481 now."), QUERY], 300, strategy="turns").history
    asked = fitted([*run("Done."), Message(role="user", content="And TK-1481?")], 300, strategy="turns").history

    assert "TK-1481" in plain.placeholder
    assert "TK-1481" not in mentioned.placeholder
    assert "TK-1481" not in asked.placeholder
    assert all("TK-3481" in history.placeholder for history in (plain, mentioned, asked))


@pytest.mark.parametrize("note", ["identifiers", "count"])
def test_h19_without_the_option_nothing_is_quoted(note):
    said = fitted([*CHAT, QUERY], 600, strategy="turns", placeholder_content=note).history.placeholder
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
    once = fitted([*CHAT, QUERY], 600, placeholder_content=note)
    again = fitted(list(once.messages()), 600, placeholder_content=note)

    assert again.unchanged


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
    assert result.report.tokens_after <= 500
    assert messages[1].tool_calls[0].arguments == HUGE


@pytest.mark.parametrize(("limit", "kept"), [(2_500, "23"), (4_000, "123"), (5_000, "123")])
@pytest.mark.parametrize("strategy", ["auto", "turns"])
def test_h10_arguments_of_the_current_exchange_are_kept(strategy, limit, kept):
    read = [call(2, '{"path": "b.py"}')[0], Message(role="tool", content="a line\n" * 1_500, tool_call_id="c2")]
    messages = [*CHAT, Message(role="user", content="Write it."), *call(1, HUGE), *read, *call(3, '{"path": "c.py"}')]
    result = fitted(messages, limit, COUNTER, strategy=strategy)
    arguments = {"c1": HUGE, "c2": '{"path": "b.py"}', "c3": '{"path": "c.py"}'}

    assert {c.id: c.arguments for m in result.messages() for c in m.tool_calls} == {
        f"c{n}": arguments[f"c{n}"] for n in kept
    }
    assert messages.index(read[1]) in result.history.shortened
    assert result.report.tokens_after <= limit


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


STRATEGIES = [
    pytest.param({"strategy": "auto"}, id="auto"),
    pytest.param({"strategy": "turns"}, id="turns"),
    pytest.param({"strategy": "relevance"}, id="relevance"),
    pytest.param({"stable_prefix": True}, id="stable prefix"),
]


@pytest.mark.parametrize("read", [True, False], ids=["read", "not read yet"])
@pytest.mark.parametrize("options", STRATEGIES)
def test_h24_the_markers_in_shortened_results_carry_a_reference(options, read):
    long = "\n".join(f"line {n} of the log" for n in range(900))
    look = Message(role="assistant", tool_calls=(ToolCall(id="a", name="read", arguments="{}"),))
    messages = [Message(role="user", content="Read."), look, Message(role="tool", content=long, tool_call_id="a")]
    messages += [Message(role="assistant", content="Read it."), QUERY] if read else []
    plain = fitted(messages, 400, COUNTER, **options).messages()
    referring = fitted(messages, 400, COUNTER, recoverable_tool_results=True, **options).messages()

    assert not any("reference" in text for message in plain for text in message.texts)
    assert 'reference "' in referring[2].content
    assert fitted(messages, 400, COUNTER, recoverable_tool_results=True, **options).report.tokens_after <= 400


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"placeholder_content": "names"}, "`placeholder_content` must be"),
        ({"placeholder_max_percent": 101}, "`placeholder_max_percent`"),
    ],
)
def test_h19_a_policy_says_what_is_wrong(options, said):
    with pytest.raises(ValueError, match=said):
        HistoryPolicy(**options)
