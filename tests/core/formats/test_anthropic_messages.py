"""Anthropic-shaped messages: what of them is counted, and how they come back."""

from __future__ import annotations

import copy

import pytest

from anthropic_rows import CACHED, IMAGE, answer, assistant, call, fit_anthropic, result, text, thinking, use, user
from ctxopt_core import ContextBudget, ContextRequest, ToolCall, ToolResult, counter_for, fit
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.formats.anthropic_messages import (
    AnthropicMessages,
    anthropic_system_texts,
    fitted_anthropic,
    fitted_anthropic_system,
    message_from_anthropic,
)
from ctxopt_core.formats.openai_messages import shortened_openai
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.messages.placeholder import placeholder_text
from ctxopt_core.shortening.shorten_message import Shortened

WORDS = counter_for(lambda words: len(words.split()))
FRAMING = 4
CHAT = [
    user("look it up"),
    call("a", "b", before=[thinking("hm"), text("I look")]),
    answer(result("a", "one", **CACHED), result("b", [text("two"), dict(IMAGE)]), text("and now?")),
    assistant(text("lit")),
]


def test_results_beside_words_are_told_apart():
    message = message_from_anthropic(
        answer(result("a", "one"), result("b", [text("two"), dict(IMAGE), text("three")]), text("go on"), dict(IMAGE))
    )

    assert message.role == "user"
    assert message.texts == ("one", "two", "three", "go on")
    assert [(found.call_id, list(found.texts)) for found in message.tool_results] == [("a", [0]), ("b", [1, 2])]
    assert message.spoken == (3,)
    assert message.verbatim == ("a", "b")
    assert [(found.kind, found.cost) for found in message.attachments] == [("image", 1_500)] * 2
    assert not message.plain
    assert message.beside_results.texts == ("go on",)
    assert message.beside_results.verbatim == ()
    assert len(message.beside_results.attachments) == 1
    assert [found.call_id for found in message.beside_results.tool_results] == ["a", "b"]


@pytest.mark.parametrize(
    ("block", "tokens"),
    [
        pytest.param(result("a", "one two three"), 4, id="text"),
        pytest.param(result("a", [text("one two"), "three"]), 4, id="blocks"),
        pytest.param(result("a", None), 1, id="none"),
        pytest.param(result("a", []), 1, id="no-blocks"),
        pytest.param({"type": "tool_result", "tool_use_id": "a"}, 1, id="no-content"),
        pytest.param(result("a", "one", is_error=True, **CACHED), 2, id="error"),
        pytest.param(result("a", [dict(IMAGE)]), 1_501, id="image"),
        pytest.param(result("a", [use("z", at="one")]), 5, id="a-call-in-a-result-is-text"),
        pytest.param(use("a", at="one"), 4, id="call"),
        pytest.param(thinking("one two"), 2, id="thinking"),
        pytest.param({"type": "redacted_thinking", "data": "c2Vh" * 900}, 675, id="redacted"),
        pytest.param({**IMAGE, **CACHED}, 1_500, id="image-of-the-user"),
    ],
)
def test_t13_a_block_costs_what_is_sent_of_it(block, tokens):
    assert message_tokens(message_from_anthropic(user(block)), WORDS) == FRAMING + tokens


@pytest.mark.parametrize("content", [7, {"rows": [1]}, [7]], ids=["number", "mapping", "numbers"])
def test_a_result_of_no_known_shape_is_counted_and_kept(content):
    row = answer(result("a", content), text("so"))

    message = message_from_anthropic(row)
    assert message.texts == ("so",)
    assert '"tool_use_id":"a"' in message.verbatim[0]
    assert shortened_openai(row, Shortened(texts=("s",), tokens=0))["content"] == [row["content"][0], text("s")]


def test_a_result_in_another_role_is_no_answer_of_a_user():
    assert message_from_anthropic({"role": "assistant", "content": [result("a", "one")]}).tool_results == ()
    assert message_from_anthropic({"role": "tool", "content": [result("a", "one")]}).tool_results == ()


def test_a_search_result_is_text_and_no_attachment():
    block = {
        "type": "search_result",
        "source": "pier.txt",
        "title": "Pier",
        "content": [{"type": "text", "text": "w " * 50}],
    }
    message = message_from_anthropic({"role": "user", "content": [block]})

    assert message.attachments == ()
    assert message.texts == ("w " * 50,)
    assert message.verbatim == ("pier.txt", "Pier")


def test_calls_are_read_from_the_blocks():
    assert message_from_anthropic(CHAT[1]).tool_calls == (
        ToolCall(id="a", name="look", arguments="{}", fixed=True),
        ToolCall(id="b", name="look", arguments="{}", fixed=True),
    )


@pytest.mark.parametrize(
    ("cut", "content"),
    [
        pytest.param(
            Shortened(texts=("1", "two", "and now?"), tokens=0),
            [result("a", "1", **CACHED), CHAT[2]["content"][1], text("and now?")],
            id="string",
        ),
        pytest.param(
            Shortened(texts=("one", "2", "now?"), attachments_omitted=True, tokens=0),
            [
                result("a", "one", **CACHED),
                result("b", [text("2"), text("[attachment omitted]")]),
                text("now?"),
            ],
            id="blocks",
        ),
        pytest.param(
            Shortened(texts=("one", "", ""), tokens=0),
            [result("a", "one", **CACHED), result("b", [dict(IMAGE)])],
            id="nothing-left",
        ),
        pytest.param(
            Shortened(texts=("and?",), results_omitted=True, tokens=0), [text("and?")], id="without-the-results"
        ),
    ],
)
def test_i8_results_are_shortened_inside_their_blocks(cut, content):
    before = copy.deepcopy(CHAT[2])

    assert shortened_openai(CHAT[2], cut) == {"role": "user", "content": content}
    assert before == CHAT[2]


def test_i8_what_fits_comes_back_as_the_same_objects():
    after, fitted = fit_anthropic(CHAT, 10_000)
    everything = fitted_anthropic(CHAT, fitted.history)

    assert fitted.unchanged
    assert after is CHAT
    assert all(new is old for new, old in zip(everything, CHAT, strict=True))


def test_i8_only_what_is_shortened_comes_back_as_a_copy():
    rows = [user("go"), call("a"), answer(result("a", "x " * 300)), call("b"), answer(result("b", "one"))]

    after, _ = fit_anthropic(rows, 120, counter=WORDS)

    assert [new is old for new, old in zip(after, rows, strict=True)] == [True, True, False, True, True]
    assert after[2]["content"][0]["tool_use_id"] == "a"
    assert len(rows[2]["content"][0]["content"]) == 600


def test_a_trimming_gives_the_placeholder_and_joins_what_it_makes_neighbors():
    rows = [user("one"), assistant("two"), user("three"), assistant("four"), user(text("five"), text("six"))]
    noted = Trimming(kept=(0, 4), placeholder=placeholder_text(3), placeholder_after=0, length=5)
    joined = Trimming(kept=(0, 2, 4), shortened={2: Shortened(texts=("3",), tokens=1)}, length=5)

    assert fitted_anthropic(rows, noted) == [rows[0], {"role": "assistant", "content": placeholder_text(3)}, rows[4]]
    assert fitted_anthropic(rows, noted)[2] is rows[4]
    assert fitted_anthropic(rows, joined) == [user(text("one"), text("3"), text("five"), text("six"))]
    assert rows[0] == user("one")


def test_neighbors_of_one_role_that_were_given_so_stay_as_they_are():
    rows = [user("one"), user("two"), assistant("three")]

    assert fitted_anthropic(rows, Trimming(kept=(0, 1), length=3)) == rows[:2]


SYSTEM = [text("The rules of the house. " * 6, **CACHED), text("Be brief.")]


@pytest.mark.parametrize(
    ("system", "texts"),
    [
        pytest.param(None, (), id="none"),
        pytest.param("", (), id="empty"),
        pytest.param("Be brief.", ("Be brief.",), id="text"),
        pytest.param(SYSTEM, (SYSTEM[0]["text"], "Be brief."), id="blocks"),
    ],
)
def test_i8_the_system_argument_is_texts_and_comes_back_as_it_was(system, texts):
    assert anthropic_system_texts(system) == texts
    assert fitted_anthropic_system(system, texts) is system


def test_i8_a_cut_system_argument_keeps_its_blocks_and_their_cache_control():
    assert fitted_anthropic_system(SYSTEM, ("The rules.", "Be brief.")) == [text("The rules.", **CACHED), SYSTEM[1]]
    assert fitted_anthropic_system(SYSTEM, ("The rules.", "")) == [text("The rules.", **CACHED)]
    assert fitted_anthropic_system("The rules. Be brief.", ("The rules.",)) == "The rules."
    assert fitted_anthropic_system([text("")], ()) == []


@pytest.mark.parametrize("system", [7, {"type": "text"}, [7]], ids=["number", "mapping", "numbers"])
def test_a_system_argument_of_no_known_shape_is_an_error(system):
    with pytest.raises(TypeError, match="`system` must be a string, a list of text blocks or None"):
        anthropic_system_texts(system)


def test_i8_system_argument_and_messages_are_fitted_together():
    rows = [row for number in range(20) for row in (user(f"q{number} " * 6), assistant(f"a{number} " * 6))]
    request = ContextRequest(
        system=anthropic_system_texts(SYSTEM), history=AnthropicMessages([*rows, user("and then?")])
    )

    fitted = fit(request, ContextBudget(max_input_tokens=80), counter=WORDS)
    system = fitted_anthropic_system(SYSTEM, fitted.system)
    after = fitted_anthropic([*rows, user("and then?")], fitted.history)

    assert system[-1] is SYSTEM[1]
    assert after[-1] == user("and then?")
    assert fitted.report.tokens_after <= 80


def test_messages_of_the_core_say_where_their_results_stand_after_a_cut():
    rows = [
        user("go"),
        call("a", "b"),
        answer(result("a", [dict(IMAGE), text("x " * 90)]), result("b", "one"), text("and?")),
    ]
    fitted = fit(ContextRequest(history=AnthropicMessages(rows)), ContextBudget(max_input_tokens=60), counter=WORDS)
    message = fitted.messages()[2]

    assert [message.texts[found.texts.start] for found in message.tool_results][1] == "one"
    assert [message.texts[i] for i in message.spoken] == ["and?", "[attachment omitted]"]
    assert message.attachments == ()
    assert message.tool_results[0].attachments == range(0)
    assert ToolResult() == ToolResult(call_id=None, texts=range(0))
