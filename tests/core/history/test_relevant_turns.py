"""The `relevance` strategy: newest turns, then those that say most about what is asked now."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import ContextBudget, ContextRequest, Message, ToolCall, fit, trim_history
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.history.strategies.relevant_turns import LOOK_BACK_CHARACTERS

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
RELEVANT = HistoryPolicy(strategy="relevance")
ASKED = "When was the orchard kiln lit?"
FACT = "The orchard kiln was lit on the ninth of March."


def turn(number: int, said: str = "") -> list[Message]:
    return [
        Message(role="user", content=said or f"What about lantern {number}?"),
        Message(role="assistant", content=f"Lantern {number} hangs at the pier, and nothing else is to be said of it."),
    ]


def chat(length: int, fact_at: int) -> list[Message]:
    return [m for number in range(length) for m in turn(number, FACT if number == fact_at else "")]


def trimmed(messages, budget, *, ranking_query=ASKED, policy=RELEVANT):
    return trim_history(messages, budget, WORDS, policy=policy, ranking_query=ranking_query)


@pytest.mark.parametrize("fact_at", [0, 1, 12, 20, 38])
def test_h15_the_turn_that_answers_is_kept_with_its_answer(fact_at):
    messages = chat(40, fact_at)
    trimming = trimmed(messages, 200)

    assert {2 * fact_at, 2 * fact_at + 1} <= set(trimming.kept)
    assert {78, 79} <= set(trimming.kept)
    assert 0 in trimming.kept
    assert list(trimming.kept) == sorted(trimming.kept)
    assert trimming.tokens <= 200
    assert trimming.shortened == {}


def test_h15_what_stands_around_a_hit_comes_along():
    kept = trimmed(chat(40, 12), 300).kept

    assert {22, 23, 26, 27} <= set(kept)


def test_h15_the_newest_turns_take_their_share_first():
    messages = chat(40, 12)
    few = trimmed(messages, 400, policy=HistoryPolicy(strategy="relevance", recent_percent=0)).kept
    many = trimmed(messages, 400, policy=HistoryPolicy(strategy="relevance", recent_percent=80)).kept

    assert set(range(60, 80)) <= set(many)
    assert not set(range(60, 80)) <= set(few)
    assert {24, 25} <= set(many) & set(few)


@pytest.mark.parametrize(("words", "whole"), [(45, True), (250, False)], ids=["fits", "in-part"])
def test_h15_what_was_said_last_stays_however_little_it_says_of_the_task(words, whole):
    last = [Message(role="user", content="Zebra? " + "x " * words), Message(role="assistant", content="y " * 20)]
    trimming = trimmed([*chat(20, 3), *last], 200)

    assert 40 in trimming.kept
    assert (40 not in trimming.shortened) is whole
    assert trimming.tokens <= 200


@pytest.mark.parametrize("strategy", ["auto", "relevance"])
@pytest.mark.parametrize("fact_at", [3, 1_500, 2_900])
def test_z6_the_whole_conversation_is_searched_by_default(strategy, fact_at):
    trimming = trimmed(chat(3_000, fact_at), 2_000, policy=HistoryPolicy(strategy=strategy))

    assert {2 * fact_at, 2 * fact_at + 1} <= set(trimming.kept)
    assert {5_998, 5_999} <= set(trimming.kept)
    assert trimming.strategy == "relevance"


@pytest.mark.parametrize(("strategy", "found"), [("auto", False), ("relevance", True)])
def test_h15_auto_looks_back_a_million_tokens_and_relevance_all_the_way(strategy, found):
    page = " and so on" * 2_000
    long = [replace(m, content=m.content + page) if n > 259 else m for n, m in enumerate(chat(300, 2))]
    trimming = trimmed(long, 30_000, policy=HistoryPolicy(strategy=strategy))

    assert sum(len(message.content) for message in long) > LOOK_BACK_CHARACTERS
    assert ({4, 5} <= set(trimming.kept)) is found


def test_h15_the_note_counts_all_that_is_missing():
    messages = chat(40, 12)
    trimming = trimmed(messages, 200)

    assert trimming.placeholder == f"[{80 - len(trimming.kept)} earlier messages omitted]"


def test_h12_h15_a_first_message_that_is_about_the_task_stays_whole_before_the_note():
    first = Message(role="user", content=f"{FACT} " + "And so on and on. " * 8)
    trimming = trimmed([first, *chat(40, -1)], 200)

    assert 0 in trimming.kept
    assert 0 not in trimming.shortened
    assert trimming.placeholder_after == 0


def test_h15_the_note_of_an_earlier_fit_is_replaced():
    note = Message(role="assistant", content="[24 earlier messages omitted]", synthetic=True)
    messages = [Message(role="user", content=FACT), note, *chat(30, -1)]
    trimming = trimmed(messages, 200)

    assert trimming.kept[0] == 0
    assert 1 not in trimming.kept
    assert trimming.placeholder_after == 0


@pytest.mark.parametrize("ranking_query", ["", "  \n"], ids=["empty", "blank"])
def test_h15_without_a_ranking_query_the_newest_turns_are_kept(ranking_query):
    messages = chat(40, 12)

    kept = trimmed(messages, 200, ranking_query=ranking_query)
    assert kept.fallback == "turns"
    assert replace(kept, fallback=None) == trimmed(messages, 200, policy=HistoryPolicy(strategy="turns"))


def test_h15_a_task_of_which_nothing_is_found_keeps_the_newest_turns_too():
    assert set(range(72, 80)) <= set(trimmed(chat(40, 12), 200, ranking_query="zyx?").kept)


def test_h15_a_scorer_is_asked_once_for_every_message():
    asked = []

    def scorer(query, texts):
        asked.append((query, len(texts)))
        return [1.0 if "lantern 7?" in text else 0.0 for text in texts]

    trimming = trimmed(chat(40, 12), 200, policy=HistoryPolicy(strategy="relevance", scorer=scorer))

    assert asked == [(ASKED, 80)]
    assert {14, 15} <= set(trimming.kept)


def test_h15_a_scorer_is_not_asked_when_there_is_nothing_to_choose():
    def scorer(query, texts):
        raise AssertionError

    policy = HistoryPolicy(strategy="relevance", scorer=scorer)
    trimmed(chat(4, 1), 10_000, policy=policy)
    trimmed([], 10, policy=policy)
    trimmed(chat(40, 12), 200, ranking_query="", policy=policy)


def test_h15_words_still_count_beside_a_scorer():
    def scorer(query, texts):
        return [1.0 if "lantern 7?" in text else 0.0 for text in texts]

    kept = trimmed(chat(40, 12), 200, policy=HistoryPolicy(strategy="relevance", scorer=scorer)).kept

    assert {14, 15, 24, 25} <= set(kept)


@pytest.mark.parametrize("score", [-2.5, 0.0, 0.7, float("nan"), float("inf")])
def test_h15_a_scorer_that_says_the_same_of_all_changes_nothing(score):
    policy = HistoryPolicy(strategy="relevance", scorer=lambda query, texts: [score] * len(texts))

    assert trimmed(chat(40, 12), 300, policy=policy) == trimmed(chat(40, 12), 300)


def test_h15_too_few_scores_are_an_error():
    policy = HistoryPolicy(strategy="relevance", scorer=lambda query, texts: [1.0])

    with pytest.raises(ValueError, match="one score for each text"):
        trimmed(chat(40, 12), 200, policy=policy)


def test_h15_calls_and_results_come_along_whole():
    call = ToolCall(id="a", name="read_log", arguments='{"page": 7}')
    exchange = [
        Message(role="user", content="Look it up."),
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content=FACT, tool_call_id="a"),
        Message(role="assistant", content="Noted."),
    ]
    messages = [*chat(10, -1), *exchange, *chat(20, -1)]
    kept = trimmed(messages, 200).kept

    assert {20, 21, 22, 23} <= set(kept)


def test_h15_the_query_of_the_request_decides_and_the_report_says_so():
    request = ContextRequest(query=ASKED, history=chat(40, 12))
    fitted = fit(request, ContextBudget(max_input_tokens=240), counter=WORDS, history=RELEVANT)

    assert {24, 25} <= set(fitted.history.kept)
    assert (fitted.report.strategy, fitted.report.fallback) == ("relevance", None)
    assert fitted.report.within_budget


def test_h15_a_blank_query_falls_back_to_the_newest_turns_and_the_report_says_so():
    request = ContextRequest(query=" ", history=chat(40, 12))
    fitted = fit(request, ContextBudget(max_input_tokens=240), counter=WORDS, history=RELEVANT)

    assert fitted.report.fallback == "turns"


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=25),
    hits=st.sets(st.integers(0, 24)),
    budget=st.integers(0, 300),
    share=st.integers(0, 100),
)
def test_h15_the_budget_holds_and_turns_are_whole(lengths, hits, budget, share):
    messages = []
    for number, length in enumerate(lengths):
        said = FACT if number in hits else f"w{number} " * length
        messages += [Message(role="user", content=said), Message(role="assistant", content=f"Noted {number}.")]
    trimming = trimmed(messages, budget, policy=HistoryPolicy(strategy="relevance", recent_percent=share))

    assert trimming.tokens <= budget
    whole = [index for index in trimming.kept if index not in trimming.shortened]
    for index in whole[1:]:
        assert index % 2 == 0 or index - 1 in trimming.kept


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"strategy": "oldest"}, "`strategy` must be one of 'auto', 'turns'"),
        ({"recent_percent": 101}, "`recent_percent` must be a percentage"),
        ({"scorer": "bm25"}, "`scorer` must be a function"),
    ],
    ids=["strategy", "recent-share", "scorer"],
)
def test_a_policy_says_what_is_wrong(values, message):
    with pytest.raises(ValueError, match=message):
        HistoryPolicy(**values)


def test_a_result_without_its_call_is_left_out_wherever_it_stands():
    messages = [*chat(20, 3), Message(role="user", content=FACT), Message(role="tool", content=FACT), *chat(20, 5)]
    trimming = trimmed(messages, 250)

    assert 40 in trimming.kept
    assert 41 not in trimming.kept
