"""The strategies `summarize` and `hybrid`: a summary stands in the placeholder for what is left out."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError
from itertools import takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import (
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    Document,
    HistoryPolicy,
    Message,
    ToolCall,
    afit,
    fit,
    trim_history,
)
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.summaries.model_summarizer import summarizer
from drawn_examples import examples

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
SUMMARY = "They spoke of lanterns at piers."


class Counting:
    """A function that summarizes, and remembers what it was given."""

    def __init__(self, answer=SUMMARY):
        self.answer = answer
        self.asked = []

    def __call__(self, transcript):
        self.asked.append(transcript)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def chat(turns):
    return [
        message
        for n in range(turns)
        for message in (
            Message(role="user", content=f"Question {n} about lantern {n}?"),
            Message(role="assistant", content=f"Lantern {n} hangs at pier {n} of the harbour."),
        )
    ]


def fitted(function, *, strategy="summarize", messages=None, limit=300, **options):
    request = ContextRequest(history=[*(messages or chat(40)), Message(role="user", content="Where is lantern 7?")])
    policy = HistoryPolicy(strategy=strategy, summarizer=summarizer(function), **options)
    return fit(request, ContextBudget(max_input_tokens=limit), counter=WORDS, history=policy)


def recounted(messages):
    return 3 + sum(4 + sum(len(text.split()) for text in message.texts) for message in messages)


@pytest.mark.parametrize("strategy", ["summarize", "hybrid"])
def test_h16_h17_a_summary_stands_for_what_is_left_out(strategy):
    function = Counting()
    result = fitted(function, strategy=strategy)
    report = result.report

    assert len(function.asked) == 1
    assert SUMMARY in result.history.placeholder
    assert result.messages()[1].content == result.history.placeholder
    assert result.messages()[1].role == "assistant"
    assert (report.strategy, report.fallback) == (strategy, None)
    assert report.tokens_after == recounted(result.messages()) <= 300
    assert report.history.summarized == 81 - report.history.kept > 0
    assert report.history.dropped == 0
    assert 80 in result.history.kept


def test_m2_each_message_is_kept_dropped_or_summarized_once():
    blank = Message(role="assistant", content=" ")
    result = fitted(Counting(), messages=[*chat(20), blank, *chat(20)])
    history, report = result.history, result.report.history

    assert report.kept + report.dropped + report.summarized == 82
    assert not set(history.kept) & set(history.summarized)
    assert history.reason(1) == "summarized"


def test_h16_the_transcript_holds_what_is_left_out_and_nothing_else():
    function = Counting("Long summary. " * 60)  # nothing of its tokens is left for messages
    history = fitted(function).history
    [transcript] = function.asked

    assert "Question 1 about" in transcript
    assert all(f"Question {n} about lantern {n}?" in transcript for n in range(1, 10))
    kept_questions = [n for n in range(40) if 2 * n in history.kept]
    assert not any(f"Question {n} about" in transcript for n in kept_questions)


def test_h16_what_answers_no_call_is_not_in_the_transcript():
    function = Counting()
    call = ToolCall(id="c1", name="look", arguments="{}")
    loose = [
        Message(role="tool", content="A stray result.", tool_call_id="c0"),
        Message(role="assistant", content="I shall see.", tool_calls=(call,)),
    ]
    result = fitted(function, messages=[*chat(20), *loose, *chat(25)])
    [transcript] = function.asked

    assert not any(words in transcript for words in ("stray", "tool", "I shall see", "look"))
    assert not {40, 41} & set(result.history.summarized)
    assert [result.history.reason(n) for n in (40, 41)] == ["orphan", "orphan"]


@pytest.mark.parametrize("strategy", ["summarize", "hybrid"])
def test_h16_h17_a_blank_message_is_neither_summarized_nor_counted(strategy):
    function = Counting()
    blank = Message(role="assistant", content=" ")
    result = fitted(function, strategy=strategy, messages=[*chat(20), blank, *chat(25)])

    assert 40 not in result.history.summarized
    assert f"[{len(result.history.summarized)} earlier messages" in result.history.placeholder
    assert len(result.history.summarized) + len(result.history.kept) == 91


def test_h16_the_summarizer_is_asked_once_for_several_requests():
    function, messages = Counting(), chat(60)
    shared = summarizer(function)
    policy = HistoryPolicy(strategy="summarize", summarizer=shared)
    requests = range(41, 120, 2)
    for end in requests:
        request = ContextRequest(history=messages[:end])
        fit(request, ContextBudget(max_input_tokens=600), counter=WORDS, history=policy)

    assert 1 < len(function.asked) <= len(requests) // 3


def test_h21_h16_the_report_counts_the_summary_that_repeats_as_it_is_sent():
    policy = HistoryPolicy(strategy="summarize", summarizer=summarizer(Counting()))
    messages, before, noted = chat(60), (), 0
    for end in range(41, 120, 2):
        request = ContextRequest(history=messages[:end])
        result = fit(request, ContextBudget(max_input_tokens=600), counter=WORDS, history=policy)
        now = result.messages()
        if result.history.summarized and before:
            same = list(takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))
            assert result.report.reused_prefix_tokens == sum(4 + len(message.content.split()) for message, _ in same)
            noted += any(message.synthetic for message, _ in same)
        before = now
    assert noted


@pytest.mark.parametrize("strategy", ["summarize", "hybrid"])
def test_h16_h17_nothing_is_asked_while_everything_fits(strategy):
    function = Counting()
    assert fitted(function, strategy=strategy, messages=chat(3)).unchanged
    assert function.asked == []


def test_h16_a_longer_summary_is_cut():
    long = " ".join(f"Sentence {n} of many." for n in range(400))
    result = fitted(Counting(long), limit=400, max_summary_tokens=20)

    assert "Sentence 4 of many." in result.history.placeholder
    assert len(result.history.placeholder.split()) <= 20 + 12
    assert result.report.tokens_after <= 400


FAILURES = [
    pytest.param(OSError("secret words"), "OSError", id="raises"),
    pytest.param("", "SummaryError", id="empty"),
    pytest.param(" \n", "SummaryError", id="blank"),
    pytest.param(None, "SummaryError", id="none"),
]


@pytest.mark.parametrize("strategy", ["summarize", "hybrid"])
@pytest.mark.parametrize(("answer", "named"), FAILURES)
def test_h16_a_failure_keeps_the_newest_turns_and_the_report_says_so(strategy, answer, named):
    result = fitted(Counting(answer), strategy=strategy)
    turns = fit(
        result.request,
        ContextBudget(max_input_tokens=300),
        counter=WORDS,
        history=HistoryPolicy(strategy="turns"),
    )

    assert result.history.kept == turns.history.kept
    assert result.report.fallback == "turns"
    assert result.report.notes == (f"the summarizer failed with {named}",)
    assert result.report.history.summarized == 0
    assert "secret" not in str(result.report.to_dict())


@pytest.mark.parametrize(("answer", "named"), FAILURES)
def test_h16_a_failure_can_be_raised(answer, named):
    with pytest.raises((OSError, ValueError) if named == "OSError" else Exception, match=r"secret|text|summari"):
        fitted(Counting(answer), on_summary_failure="raise")


def test_h16_a_failure_can_be_replaced():
    seen = []

    def instead(error):
        seen.append(error)
        return "No summary today. " * 100

    result = fitted(Counting(OSError("down")), on_summary_failure=instead)

    assert isinstance(seen[0], OSError)
    assert "No summary today." in result.history.placeholder
    assert result.report.tokens_after <= 300


def test_h16_a_function_that_replaces_nothing_keeps_the_newest_turns():
    assert fitted(Counting(OSError("down")), on_summary_failure=lambda error: None).report.fallback == "turns"


@pytest.mark.parametrize("error", [CancelledError(), KeyError("not a failure here")], ids=["cancelled", "other"])
def test_h16_other_errors_come_through(error):
    with pytest.raises(type(error)):
        fitted(Counting(error), summary_errors=(OSError,))


def test_i10_h16_awaited_and_not_the_result_is_the_same():
    plain = fitted(Counting())

    async def summarize(transcript):
        await asyncio.sleep(0)
        return SUMMARY

    policy = HistoryPolicy(strategy="summarize", summarizer=summarizer(summarize))
    awaited = asyncio.run(afit(plain.request, ContextBudget(max_input_tokens=300), counter=WORDS, history=policy))

    assert awaited.messages() == plain.messages()


def test_h16_a_conversation_alone_is_summarized_too():
    policy = HistoryPolicy(strategy="summarize", summarizer=summarizer(Counting()))
    trimming = trim_history(chat(40), 300, WORDS, policy=policy)

    assert SUMMARY in trimming.placeholder
    assert trimming.tokens <= 300


@pytest.mark.parametrize("limit", [14, 20, 30, 50, 90])
def test_h16_where_there_is_no_room_for_a_summary_the_report_says_so(limit):
    function = Counting()
    report = fitted(function, limit=limit).report

    assert report.tokens_after <= limit
    assert bool(function.asked) == (report.history.summarized > 0)
    assert report.history.summarized or any("summary" in note or "stable" in note for note in report.notes)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.sampled_from(["summarize", "hybrid"]),
    st.integers(5, 400),
    st.integers(0, 60),
    st.integers(0, 5),
    st.booleans(),
)
def test_a13_h16_a_summary_never_breaks_the_budget(strategy, limit, turns, documents, works):
    answer = "A short account of it. " * 30 if works else OSError("down")
    request = ContextRequest(
        history=[*chat(turns), Message(role="user", content="Where is lantern 7?")],
        documents=[Document(text=f"Lantern {n} is at pier {n}. " * 8, id=str(n)) for n in range(documents)],
    )
    policy = HistoryPolicy(strategy=strategy, summarizer=summarizer(Counting(answer)))
    try:
        result = fit(request, ContextBudget(max_input_tokens=limit), counter=WORDS, history=policy)
    except ContextBudgetError:
        return
    assert result.report.tokens_after <= limit
    if not documents:
        assert recounted(result.messages()) <= limit


POLICIES = [
    pytest.param({"strategy": "summarize"}, "`summarizer` must be given", id="no summarizer"),
    pytest.param({"summarizer": "model"}, "`summarizer` must have", id="a text"),
    pytest.param({"max_summary_tokens": 0}, "`max_summary_tokens`", id="no tokens"),
    pytest.param({"on_summary_failure": "ignore"}, "`on_summary_failure` must be", id="failure"),
    pytest.param(
        {"strategy": "hybrid", "summarizer": summarizer(len), "keep_first_user_message": False},
        "`keep_first_user_message`",
        id="no head",
    ),
]


@pytest.mark.parametrize(("options", "said"), POLICIES)
def test_h16_a_policy_says_what_is_wrong(options, said):
    with pytest.raises(ValueError, match=said):
        HistoryPolicy(**options)
