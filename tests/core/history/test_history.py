"""What of a conversation stays: the newest turns, the first message, whole exchanges."""

from __future__ import annotations

import copy
from itertools import pairwise

import pytest

from ctxopt_core import ContextBudgetError, HistoryPolicy, Message, counter_for, trim_history
from ctxopt_core.messages.placeholder import placeholder_text
from fitted_rows import fit_rows, is_note
from independent_recount import recount

WORDS = counter_for(lambda text: len(text.split()))
WORDS_PER_ROW = 4
REQUEST = 3


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def system(text):
    return {"role": "system", "content": text}


def call(*ids, text=None, arguments="{}"):
    calls = [{"id": i, "type": "function", "function": {"name": "look", "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": text, "tool_calls": calls}


def result(identity, text):
    return {"role": "tool", "tool_call_id": identity, "content": text}


def turn(number, words=6):
    return [user(" ".join([f"q{number}"] * words)), assistant(" ".join([f"a{number}"] * words))]


def chat(turns, words=6):
    return [row for number in range(turns) for row in turn(number, words)]


def texts(rows):
    return [row["content"].split()[0] for row in rows if not is_note(row)]


def test_h1_the_last_user_message_is_the_query_and_is_never_evicted():
    rows = [*chat(20), user("the query")]
    for budget in range(REQUEST + WORDS_PER_ROW + 1, 120):
        after, _ = fit_rows(rows, budget, counter=WORDS)

        assert after[-1]["content"].startswith("the")
        assert after[-1] is rows[-1] or budget < 16


def test_h2_the_message_that_the_query_answers_is_kept_before_older_ones():
    rows = [user("x " * 200), assistant("Shall I go on?"), user("yes")]

    after, _ = fit_rows(rows, 60, counter=WORDS)

    assert [row["role"] for row in after] == ["user", "assistant", "user"]
    assert after[1:] == rows[1:]


def test_h3_whole_turns_go_oldest_first_and_a_user_message_comes_first():
    rows = [system("rules"), *chat(10), user("now what")]
    policy = HistoryPolicy(keep_first_user_message=False)
    kept_before = 0
    for budget in range(20, 240):
        after, fitted = fit_rows(rows, budget, counter=WORDS, history=policy)
        rest = [row for row in after if row["role"] != "system"]

        assert rest[0]["role"] == "user"
        assert [rows.index(row) for row in after if row in rows] == sorted(
            rows.index(row) for row in after if row in rows
        )
        assert fitted.history.whole_turns >= kept_before or fitted.unchanged
        kept_before = fitted.history.whole_turns


def test_h4_a_huge_first_message_cannot_starve_the_newest():
    rows = [user("paste " * 200), assistant("ok"), user("What is my refund?")]

    after, _ = fit_rows(rows, 60)

    assert after[-2:] == rows[-2:]
    assert recount(after) <= 60


def test_h4_a_huge_first_message_is_capped_when_newer_turns_follow():
    rows = [user("task " * 500), assistant("ok"), *chat(30), user("next?")]

    after, fitted = fit_rows(rows, 400, counter=WORDS)

    assert after[0]["content"].startswith("task")
    assert fitted.history.shortened[0].tokens <= 40
    assert fitted.history.whole_turns >= 15


@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_h5_one_huge_last_item_is_shortened_and_not_lost(role):
    newest = {
        "user": [user("first words " + "x " * 500 + "last words")],
        "assistant": [user("hi"), assistant("first words " + "x " * 500 + "last words")],
        "tool": [user("hi"), call("a"), result("a", "first words " + "x " * 500 + "last words")],
    }[role]

    after, _ = fit_rows(newest, 80, counter=WORDS)

    assert after[-1]["content"].startswith("first words")
    assert after[-1]["content"].endswith("last words")
    assert len(after) == len(newest)


@pytest.mark.parametrize("role", ["system", "developer"])
def test_h6_system_messages_stay_in_place_and_are_charged_to_the_system_share(role):
    rows = [*chat(10), {"role": role, "content": "a rule in between"}, *chat(10), {"role": role, "content": "another"}]
    rows.append(user("so?"))

    after, fitted = fit_rows(rows, 80, counter=WORDS)

    assert [row["content"] for row in after if row["role"] == role] == ["a rule in between", "another"]
    assert fitted.report.components["system"].after == 2 * WORDS_PER_ROW + 4 + 1
    assert after[-2]["role"] == role


EXCHANGES = {
    "complete": ([call("a", "b"), result("a", "one"), result("b", "two")], True),
    "results in another order": ([call("a", "b"), result("b", "two"), result("a", "one")], True),
    "the same id twice": ([call("a", "a"), result("a", "one"), result("a", "two")], True),
    "a result is missing": ([call("a", "b"), result("a", "one")], False),
    "no result": ([call("a")], False),
    "a result of nothing": ([result("z", "one")], False),
    "a result behind another row": ([call("a"), user("are you there"), result("a", "one")], False),
    "an error result": ([call("a"), {**result("a", "boom"), "status": "error"}], True),
}


@pytest.mark.parametrize(("rows", "whole"), EXCHANGES.values(), ids=EXCHANGES)
def test_h7_an_exchange_stays_with_all_its_results_or_not_at_all(rows, whole):
    history = [user("old " * 60), assistant("fine"), user("look it up"), *rows, assistant("done"), user("so what?")]

    after, _ = fit_rows(history, 70, counter=WORDS)
    kept = [row for row in after if row.get("tool_calls") or row["role"] == "tool"]

    assert kept == ([row for row in rows if row["role"] != "user"] if whole else [])
    assert after[-1] is history[-1]


def test_h7_a_call_that_waits_for_its_results_stays():
    rows = [*chat(10), user("look"), call("a", "b"), result("a", "one")]

    after, _ = fit_rows(rows, 50, counter=WORDS)

    assert after[-3:] == rows[-3:]


def test_h7_the_legacy_function_call_is_an_exchange():
    called = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}
    rows = [*chat(10), user("look"), called, {"role": "function", "name": "look", "content": "one"}, user("so?")]

    after, _ = fit_rows(rows, 50, counter=WORDS)

    assert after[-4:] == rows[-4:]


def test_h8_reasoning_stays_with_its_call_and_is_never_edited():
    thought = {"type": "thinking", "thinking": "t " * 30, "signature": "sig"}
    rows = [
        user("go"),
        {**call("a"), "content": [thought, {"type": "text", "text": "words " * 80}]},
        result("a", "r " * 200),
        user("and?"),
    ]
    for budget in range(20, 330, 7):
        after, _ = fit_rows(rows, budget, counter=WORDS)
        calls = [row for row in after if row.get("tool_calls")]

        assert len(calls) == sum(row["role"] == "tool" for row in after)
        assert all(thought in row["content"] for row in calls)


def test_h9_a_long_result_keeps_head_and_tail_and_everything_but_its_text():
    long = {**result("a", "head " + "x " * 5000 + "tail"), "name": "look", "status": "success", "artifact": {"n": 1}}
    rows = [user("look"), call("a"), long]

    after, _ = fit_rows(rows, 100, counter=WORDS)

    assert after[-1]["content"].startswith("head")
    assert after[-1]["content"].endswith("tail")
    assert {k: v for k, v in after[-1].items() if k != "content"} == {k: v for k, v in long.items() if k != "content"}


def test_h9_results_that_were_not_read_yet_shrink_last():
    rows = [user("look"), call("a"), result("a", "old " * 100), call("b"), result("b", "new " * 100)]

    after, _ = fit_rows(rows, 200, counter=WORDS)

    assert after[-1] is rows[-1]
    assert len(after[2]["content"]) < len(rows[2]["content"])


def test_h12_one_placeholder_stands_right_behind_the_first_message():
    rows = [system("rules"), user("the task"), *chat(30)[1:], user("next?")]

    after, fitted = fit_rows(rows, 100, counter=WORDS)
    notes = [position for position, row in enumerate(after) if is_note(row)]

    assert notes == [2]
    assert after[1] is rows[1]
    assert after[2]["content"] == placeholder_text(len(rows) - len(after) + 1)
    assert fitted.report.history.placeholder
    roles = [row["role"] for row in after if row["role"] != "system"]
    assert all(first != second for first, second in pairwise(roles))


def test_h12_an_older_placeholder_is_replaced_and_not_kept_beside_the_new_one():
    rows = [user("the task"), assistant(placeholder_text(12)), *chat(30), user("next?")]

    after, fitted = fit_rows(rows, 100, counter=WORDS)

    assert sum(map(is_note, after)) == 1
    assert after[1]["content"] != rows[1]["content"]
    assert fitted.report.within_budget


def test_h12_the_placeholder_is_left_out_when_it_does_not_fit_or_is_not_wanted():
    rows = [user("the task"), *chat(30), user("next?")]
    for budget in range(12, 60):
        after, _ = fit_rows(rows, budget, counter=WORDS)
        assert sum(map(is_note, after)) <= 1

    after, _ = fit_rows(rows, 100, counter=WORDS, history=HistoryPolicy(placeholder=False))
    assert not any(map(is_note, after))


def test_h13_a_tiny_budget_keeps_nothing_and_no_message_is_ever_empty():
    messages = [Message(role="user", content="one two three four"), Message(role="assistant", content="five six")]

    assert list(trim_history(messages, 0, WORDS).kept) == []
    assert list(trim_history(messages, 3, WORDS).kept) == []
    rows = [system(""), user(""), assistant("  "), *chat(10), user("so?")]
    for budget in range(15, 90):
        after, _ = fit_rows(rows, budget, counter=WORDS)
        assert all(row["content"].strip() for row in after)


def test_h20_a_long_run_of_one_turn_keeps_system_query_and_the_newest_exchanges():
    steps = [row for i in range(60) for row in (call(f"c{i}"), result(f"c{i}", f"r{i} " * 40))]
    rows = [system("rules"), user("do the whole job"), *steps]

    after, _ = fit_rows(rows, 400, counter=WORDS)

    assert after[:2] == rows[:2]
    assert after[-4:] == rows[-4:]
    assert len(after) >= 10


def test_h22_the_stored_conversation_is_not_changed():
    rows = [system("rules"), *chat(30), call("a"), result("a", "x " * 500), user("next?")]
    before = copy.deepcopy(rows)

    fit_rows(rows, 100, counter=WORDS)

    assert rows == before


def test_trim_history_alone_keeps_its_budget_with_system_messages_in_it():
    messages = [
        Message(role="system", content="a b c"),
        *(Message(role="user", content=f"m{i} x y") for i in range(50)),
    ]
    for budget in range(0, 380, 3):
        trimming = trim_history(messages, budget, WORDS)
        kept = sum(
            trimming.shortened[i].tokens if i in trimming.shortened else WORDS_PER_ROW + 3 for i in trimming.kept
        )
        assert kept <= budget
        assert trimming.tokens <= budget
        assert sorted((*trimming.kept, *trimming.dropped)) == list(range(len(messages)))


@pytest.mark.parametrize("share", [-1, 101, True, float("nan")])
def test_policy_is_checked_at_construction(share):
    with pytest.raises(ValueError, match="first_message_max_percent"):
        HistoryPolicy(first_message_max_percent=share)


def test_a_call_in_flight_that_cannot_be_made_small_enough_is_an_error():
    rows = [user("go"), call("a", arguments="x " * 300)]

    with pytest.raises(ContextBudgetError) as caught:
        fit_rows(rows, 60, counter=WORDS)

    assert caught.value.needed > caught.value.available == 60
