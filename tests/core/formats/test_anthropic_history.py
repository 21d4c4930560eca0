"""What of an Anthropic-shaped conversation stays: calls with the results in the message behind them, and the words."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import pytest

from anthropic_rows import (
    CACHED,
    IMAGE,
    all_blocks,
    alternates,
    answer,
    anthropic_problems,
    assistant,
    call,
    fit_anthropic,
    ids,
    result,
    text,
    thinking,
    use,
    user,
    words_of,
)
from ctxopt_core import ContextBudget, ContextBudgetError, ContextRequest, HistoryPolicy, counter_for, fit, trim_history
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.formats.anthropic_messages import AnthropicMessages, fitted_anthropic, message_from_anthropic
from ctxopt_core.shortening.shorten_message import shorten_message

WORDS = counter_for(lambda words: len(words.split()))


def run(name, words="r", length=40, said=None):
    """An exchange of one call and one result."""
    said_too = () if said is None else (text(said),)
    return [call(name), answer(result(name, f"{words} " * length), *said_too)]


def chat(turns, words=6):
    return [row for number in range(turns) for row in (user(f"q{number} " * words), assistant(f"a{number} " * words))]


EXCHANGES = {
    "complete": ([call("a", "b"), answer(result("a", "one"), result("b", "two"))], "whole"),
    "results in another order": ([call("a", "b"), answer(result("b", "two"), result("a", "one"))], "whole"),
    "results in two messages": ([call("a", "b"), answer(result("a", "one")), answer(result("b", "two"))], "whole"),
    "the same id twice": ([call("a", "a"), answer(result("a", "one"), result("a", "two"))], "whole"),
    "an error": ([call("a"), answer(result("a", "boom", is_error=True))], "whole"),
    "an empty result": ([call("a"), answer(result("a", None))], "whole"),
    "words beside the results": ([call("a"), answer(result("a", "one"), text("quick"))], "whole"),
    "a result is missing": ([call("a", "b"), answer(result("a", "one"))], "gone"),
    "a result is missing beside words": ([call("a", "b"), answer(result("a", "one"), text("quick"))], "words"),
    "no result": ([call("a")], "gone"),
    "a result of nothing": ([answer(result("z", "one"))], "gone"),
    "a result of nothing beside words": ([answer(result("z", "one"), text("quick"))], "words"),
    "a result too many": ([call("a"), answer(result("a", "one"), result("z", "two"))], "gone"),
    "a result behind other words": ([call("a"), user("quick"), answer(result("a", "one"))], "words"),
}


@pytest.mark.parametrize(("rows", "left"), EXCHANGES.values(), ids=EXCHANGES)
def test_i8_calls_stay_with_all_their_results_or_not_at_all(rows, left):
    history = [user("old " * 60), assistant("fine"), user("look it up"), *rows, assistant("done"), user("so what?")]

    after, _ = fit_anthropic(history, 80, counter=WORDS)
    touched = [row for row in after if ids(row, "tool_use") or ids(row, "tool_result")]

    assert touched == (rows if left == "whole" else [])
    assert any("quick" in words_of(row) for row in after) is any("quick" in words_of(row) for row in rows)
    assert after[-1] is history[-1]
    assert alternates(after) or not alternates(history)


def test_i8_a_call_that_waits_for_its_results_stays():
    rows = [*chat(10), user("look"), call("a", before=[thinking("hm")])]

    after, _ = fit_anthropic(rows, 40, counter=WORDS)

    assert after[-2:] == rows[-2:]


def test_i8_a_message_of_results_alone_opens_no_turn():
    rows = [user("the task"), *run("a"), *run("b"), assistant("done"), user("and then?"), *run("c")]

    after, fitted = fit_anthropic(rows, 90, counter=WORDS)
    turns = trim_history(AnthropicMessages(rows), 110, WORDS)

    assert list(anthropic_problems(rows, after, 10_000)) == []
    assert fitted.history.turns == 1
    assert user("and then?") in after
    assert turns.turns == 2


def test_i8_words_beside_results_open_no_turn_and_stay_with_their_exchange():
    rows = [*chat(10), user("do it"), *run("a", said="rather that"), *run("b", length=5)]

    after, fitted = fit_anthropic(rows, 60, counter=WORDS)

    assert [words_of(row) for row in after if row["role"] == "user"][-3:] == [["do it"], ["rather that"], []]
    assert ids(after[-4], "tool_use") == ids(after[-3], "tool_result") == ["a"]
    assert fitted.history.shortened.keys() <= {len(rows) - 3}


def test_i8_what_the_user_said_last_outlives_older_exchanges():
    steps = [row for number in range(30) for row in run(f"c{number}", said=f"word{number}" if number < 9 else None)]
    rows = [user("do the whole job"), *steps]
    for budget in range(60, 900, 40):
        after, _ = fit_anthropic(rows, budget, counter=WORDS)

        assert list(anthropic_problems(rows, after, 10_000)) == []
        assert any("word8" in words_of(row) for row in after)
        assert ids(after[-1], "tool_result") == ["c29"]
        assert after[0] is rows[0]


def test_i8_results_are_cut_before_the_words_beside_them():
    rows = [user("go"), *run("a", length=300, said="what do you make of it " * 5)]

    for budget in range(55, 300, 20):
        after, _ = fit_anthropic(rows, budget, counter=WORDS)
        assert after[2]["content"][1] is rows[2]["content"][1]
        assert after[2]["content"][0]["content"].startswith("r r")


def test_i8_huge_words_beside_a_result_are_cut_and_not_lost():
    rows = [user("go"), *run("a", length=3, said="first words " + "x " * 900 + "last words")]

    after, _ = fit_anthropic(rows, 100, counter=WORDS)
    kept, said = after[2]["content"]

    assert kept["content"].strip()
    assert said["text"].startswith("first words")
    assert said["text"].endswith("last words")


def test_i8_parallel_results_are_cut_to_one_level_and_none_is_emptied():
    long = answer(result("a", "x " * 300), result("b", "y"), result("c", [text("z " * 200), text("z " * 90)], **CACHED))
    rows = [user("go"), call("a", "b", "c"), long]
    for budget in range(40, 400, 20):
        after, _ = fit_anthropic(rows, budget, counter=WORDS)
        first, second, third = after[2]["content"]

        assert first["content"].strip()
        assert second is long["content"][1]
        assert third["content"]
        assert third["cache_control"] == {"type": "ephemeral"}


def test_h11_images_in_results_go_oldest_first_and_those_not_read_yet_last():
    rows = [
        user("go"),
        call("a"),
        answer(result("a", [dict(IMAGE), text("a page")])),
        call("b"),
        answer(result("b", [dict(IMAGE), dict(IMAGE)])),
    ]

    after, _ = fit_anthropic(rows, 3_100, counter=WORDS)
    least, _ = fit_anthropic(rows, 100, counter=WORDS)

    assert after[2]["content"][0]["content"] == [text("[attachment omitted]"), text("a page")]
    assert after[4] is rows[4]
    assert least[-1]["content"][0]["content"] == [text("[attachment omitted]")]
    assert rows[4]["content"][0]["content"] == [IMAGE, IMAGE]


def test_h8_thinking_is_never_edited_nor_parted_from_its_calls():
    steps = [
        row
        for number in range(6)
        for row in (
            call(f"c{number}", before=[thinking(f"t{number} " * 9), text("I go on " * 20)]),
            answer(result(f"c{number}", "r " * 90)),
        )
    ]
    rows = [user("go"), *steps, user(text("and?"))]
    before = copy.deepcopy(rows)
    for budget in range(40, 800, 30):
        after, _ = fit_anthropic(rows, budget, counter=WORDS)

        assert [block["type"] for row in after for block in row["content"] if row["role"] == "assistant"].count(
            "thinking"
        ) == len(all_blocks(after, "tool_use"))
        assert all(any(block is old for old in all_blocks(rows, "thinking")) for block in all_blocks(after, "thinking"))
    assert rows == before


@pytest.mark.parametrize("placeholder", [True, False])
def test_h12_roles_alternate_with_and_without_a_placeholder(placeholder):
    rows = [user("the task"), *chat(30)[1:], user(text("next?", **CACHED))]
    for budget in range(20, 300, 7):
        after, _ = fit_anthropic(rows, budget, counter=WORDS, history=HistoryPolicy(placeholder=placeholder))

        assert alternates(after)
        assert words_of(after[-1])[-1] == "next?"
        assert after[-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
        assert words_of(after[0])[0] == "the task" or budget < 120


def test_a_question_beside_results_of_which_the_calls_are_gone_is_kept_without_them():
    rows = [answer(result("a", "x " * 200), dict(IMAGE), text("why is it lit?"))]

    after, fitted = fit_anthropic(rows, 30, counter=WORDS)

    assert after == [answer(text("[attachment omitted]"), text("why is it lit?"))]
    assert fitted.report.tokens_after <= 30


def test_a_call_that_cannot_be_made_small_enough_is_an_error():
    rows = [user("go"), assistant(use("a", at="x " * 300)), answer(result("a", "one"))]

    with pytest.raises(ContextBudgetError):
        fit_anthropic(rows, 60, counter=WORDS)


class SpiedRows(Sequence):
    """Rows that note which of them are looked at."""

    def __init__(self, rows):
        self.rows = rows
        self.read = set()

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        self.read.add(index)
        return self.rows[index]


class WithoutSystemRows(AnthropicMessages):
    """Views that know that the system prompt is elsewhere, so that nothing is sought."""

    def system_indices(self, start, stop):
        return ()


@pytest.mark.parametrize("turns", [1_000, 10_000])
def test_only_the_rows_that_fill_the_window_are_read(turns):
    turn = [user("look"), *run("a"), assistant("lit")]
    rows = SpiedRows([row for _ in range(turns) for row in turn])

    request, budget = ContextRequest(history=WithoutSystemRows(rows)), ContextBudget(max_input_tokens=600)
    fitted = fit(request, budget, counter=WORDS, history=HistoryPolicy(strategy="turns"))
    read = len(rows.read)

    assert len(fitted_anthropic(rows, fitted.history)) > 20
    assert read < 80


def test_words_beside_a_result_are_left_whole_before_newer_results_are():
    rows = [user("go"), *run("a", length=200, said="w " * 60), *run("b", length=100)]

    after, _ = fit_anthropic(rows, 220, counter=WORDS)

    assert after[2]["content"][1] is rows[2]["content"][1]
    assert len(after[2]["content"][0]["content"]) < 200
    assert after[4] is not rows[4]


def test_each_result_of_a_message_keeps_an_excerpt_or_all_of_them_go():
    old = [call("a", "b", "c"), answer(*(result(name, "x " * 100) for name in "abc"))]
    rows = [user("go"), *old, *run("d", length=100)]

    assert len(fit_anthropic(rows, 300, counter=WORDS)[0]) == 5
    assert len(fit_anthropic(rows, 200, counter=WORDS)[0]) == 3


def test_an_error_says_so_before_what_the_user_said_last_is_lost():
    heavy = [assistant(use("a", at="x " * 300)), answer(result("a", "one"), text("rather that"))]

    with pytest.raises(ContextBudgetError):
        fit_anthropic([user("go"), *heavy, *run("b", length=5)], 100, counter=WORDS)


@pytest.mark.parametrize(("target", "possible"), [(12, True), (8, False)])
def test_a_message_is_not_cut_until_a_result_or_the_words_beside_it_are_gone(target, possible):
    row = answer(result("a", "x " * 50), result("b", "y " * 50), text("why is it lit"))
    message = message_from_anthropic(row)
    cut = shorten_message(message, message_tokens(message, WORDS), target, WORDS)

    assert (cut is not None) is possible
    assert cut is None or all(cut.texts)


def test_a_history_alone_leaves_out_results_that_answer_nothing():
    rows = [user("go"), assistant("yes"), answer(result("z", "x " * 80), text("quick")), assistant("done"), user("so?")]

    after = fitted_anthropic(rows, trim_history(AnthropicMessages(rows), 60, WORDS))

    assert after == [rows[0], rows[1], answer(text("quick")), *rows[3:]]
