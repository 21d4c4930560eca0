"""Conversations with tools: what is shortened first, and what stays for it."""

from __future__ import annotations

import json
import time

import pytest

from ctxopt_core import HistoryPolicy, counter_for, trim_history
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.formats.openai_messages import OpenAIMessages
from ctxopt_core.messages.placeholder import is_placeholder, placeholder_text
from ctxopt_core.runtime.text_cache import CountCache
from fitted_rows import fit_rows, is_note
from independent_recount import recount

WORDS = counter_for(lambda text: len(text.split()))
O200K = counter_for("o200k_base")
STRATEGIES = pytest.mark.parametrize("strategy", ["auto", "turns"])


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def exchange(identity, text, *, said=None):
    call = {"id": identity, "type": "function", "function": {"name": "look", "arguments": json.dumps({"id": identity})}}
    return [
        {"role": "assistant", "content": said, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": identity, "content": text},
    ]


def turn(number, words=400):
    return [
        user(f"question {number}"),
        *exchange(f"c{number}", f"head{number} " + "w " * words + f"tail{number}"),
        assistant(f"answer {number}"),
    ]


@STRATEGIES
def test_h9_read_results_are_shortened_before_any_turn_goes(strategy):
    rows = [row for n in range(6) for row in turn(n)] + [user("so?")]

    after, fitted = fit_rows(rows, 1000, counter=WORDS, history=HistoryPolicy(strategy=strategy))

    assert len(after) == len(rows)
    assert set(fitted.history.shortened) <= {i for i, row in enumerate(rows) if row["role"] == "tool"}


@STRATEGIES
def test_h9_assistant_text_beside_calls_goes_after_results_and_before_turns(strategy):
    rows = [
        user("go"), *exchange("a", "r " * 100, said="s " * 100), assistant("done"), user("and?"),
    ]  # fmt: skip

    texts, results = set(), set()
    for budget in range(110, 240, 5):
        _, fitted = fit_rows(rows, budget, counter=WORDS, history=HistoryPolicy(strategy=strategy))
        results |= {budget} if 2 in fitted.history.shortened else set()
        texts |= {budget} if 1 in fitted.history.shortened else set()

    assert texts < results


@STRATEGIES
def test_h9_what_nobody_has_read_yet_stays_whole_while_older_results_shrink(strategy):
    rows = [*turn(0), user("look"), *exchange("a", "old " * 100), *exchange("b", "new " * 100)]

    after, _ = fit_rows(rows, 240, counter=WORDS, history=HistoryPolicy(strategy=strategy))

    assert after[-1] is rows[-1]
    assert any(row["role"] == "tool" and row not in rows for row in after)


@pytest.mark.parametrize(("words", "whole"), [(100, True), (190, True), (240, True), (260, False)])
@STRATEGIES
def test_h9_the_newest_read_result_stays_whole_up_to_its_share(strategy, words, whole):
    """The older results are full of identifiers: where all of them shared the room, these would take it."""
    named = [turn(n, words=0) for n in range(11)]
    for n, rows in enumerate(named):
        rows[2]["content"] = " ".join(f"LMP-{n}{k:04d} is one" for k in range(80))
    rows = [*[row for rows in named for row in rows], *turn(11, words=words), user("so?")]

    after, fitted = fit_rows(rows, 1_000, counter=WORDS, history=HistoryPolicy(strategy=strategy))

    assert (after[-3] is rows[-3]) is whole
    assert len(rows) - 1 in fitted.history.kept
    assert len(rows) - 7 in fitted.history.shortened


@STRATEGIES
def test_h20_a_long_run_keeps_its_query_and_the_newest_exchanges(strategy):
    rows = [user("the whole job"), *[row for n in range(60) for row in exchange(f"c{n}", f"r{n} " * 60)]]

    after, _ = fit_rows(rows, 600, counter=WORDS, history=HistoryPolicy(strategy=strategy))

    assert after[0] is rows[0]
    assert after[-2:] == rows[-2:]
    assert [row.get("tool_call_id") for row in after if row["role"] == "tool"] == [
        f"c{n}" for n in range(60 - (len(after) - 1) // 2, 60)
    ]


@STRATEGIES
def test_identifiers_of_what_was_dropped_are_named_in_the_placeholder(strategy):
    rows = [user("the task")]
    for n in range(40):
        rows += [
            user(f"q{n}"),
            *exchange(f"c{n}", json.dumps({"ticket": f"TK-{n}481", "text": "pad " * 30})),
            assistant("ok"),
        ]
    rows.append(user("so?"))

    after, _ = fit_rows(rows, 900, history=HistoryPolicy(strategy=strategy))
    notes = [row["content"] for row in after if is_note(row)]

    assert len(notes) == 1
    assert "; named there: " in notes[0]
    assert "TK-" in notes[0]
    assert recount(after) <= 900
    again, _ = fit_rows(after, 900, history=HistoryPolicy(strategy=strategy))
    assert again is after
    without, _ = fit_rows(rows, 900, history=HistoryPolicy(strategy=strategy, placeholder=False))
    assert not any(map(is_note, without))


@pytest.mark.parametrize("named", [(), ("TK-4481",), ("a/b.txt", "2031-05-02")])
def test_a16_the_note_with_names_is_known_as_a_note(named):
    assert is_placeholder(placeholder_text(1_200, named))
    assert not is_placeholder(placeholder_text(3, named) + " and more")


def test_a_conversation_without_tools_is_trimmed_as_ever():
    rows = [message for n in range(40) for message in (user(f"q{n} " * 6), assistant(f"LMP-{n}0771 " * 6))] + [
        user("so?")
    ]

    after, fitted = fit_rows(rows, 200, counter=WORDS, history=HistoryPolicy(strategy="turns"))

    assert all(row in rows or is_note(row) for row in after)
    assert "named" not in (fitted.history.placeholder or "")


def test_a_larger_history_budget_never_keeps_fewer_turns_with_tools():
    rows = [row for n in range(12) for row in turn(n, words=20 * (n % 5))]
    kept = 0
    for budget in range(0, 900, 3):
        trimming = trim_history(OpenAIMessages(rows), budget, WORDS)
        assert trimming.tokens <= budget
        turns = 12 if len(trimming.kept) == len(rows) else trimming.whole_turns
        assert turns >= kept
        kept = turns


def test_h9_a_huge_read_result_is_shortened_in_less_than_a_second():
    rows = [
        user("go"),
        *exchange("a", ("a line with LMP-20771 in it\n" * 24_000)[:668_000]),
        assistant("ok"),
        user("so?"),
    ]

    fit_rows(rows[:1], 2_000)  # loads the vocabulary
    start = time.process_time()
    after, _ = fit_rows(rows, 2_000)

    assert time.process_time() - start < 1
    assert recount(after) <= 2_000
    assert "LMP-20771" in after[2]["content"]


@pytest.mark.parametrize("budget", [2_000, 32_000])
@pytest.mark.parametrize(
    "behind", [[], exchange("b", "short"), [assistant("ok"), user("so?")]], ids=["unread", "current", "read"]
)
@pytest.mark.parametrize("text", ["数据处理系统的性能测试", "x", " "], ids=["cjk", "one-letter", "blanks"])
@pytest.mark.parametrize(
    "policy",
    [
        *(HistoryPolicy(strategy=name) for name in ("auto", "turns", "relevance", "sliding_window")),
        HistoryPolicy(stable_prefix=True),
    ],
    ids=["auto", "turns", "relevance", "sliding_window", "stable_prefix"],
)
def test_h9_a_huge_result_without_a_break_takes_little_time(policy, text, behind, budget):
    rows = [user("go"), *exchange("a", (text * 668_000)[:668_000]), *behind]
    counter = TiktokenCounter(cache=CountCache())

    start = time.process_time()
    after, fitted = fit_rows(rows, budget, counter=counter, history=policy)

    assert time.process_time() - start < 10
    assert recount(after) <= budget
    assert 2 in fitted.history.kept
    assert text != "x" or (2 in fitted.history.shortened and after[2]["content"].startswith("x"))
