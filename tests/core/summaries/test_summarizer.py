"""Summaries: what comes back is a text within its limit, or a clear error, called or awaited."""

from __future__ import annotations

import asyncio
import threading
from inspect import CORO_CLOSED, getcoroutinestate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counting_summaries import WORDS, AwaitedAnswer, AwaitedModel, CountingAnswer, PlainModel, chat
from ctxopt_core import counter_for
from ctxopt_core.errors import CtxoptError, SummaryError
from ctxopt_core.runtime.event_loop import awaiting_on, in_worker
from ctxopt_core.summaries.model_summarizer import summarizer
from ctxopt_core.summaries.summarizer import Summarizer, check_summarizer, summarize

MESSAGES = chat("Where is Rome?", "In Italy.")
O200K = counter_for("o200k_base")


class Own:
    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def summarize(self, messages, counter, max_tokens):
        self.asked.append((messages, counter, max_tokens))
        return self.answer


class OwnAwaited(Own):
    async def summarize(self, messages, counter, max_tokens):
        await asyncio.sleep(0)
        return super().summarize(messages, counter, max_tokens)


def later(text):
    return AwaitedAnswer()(text)


def brief(by, limit=20):
    return summarize(MESSAGES, WORDS, summarizer=by, max_summary_tokens=limit)


def test_a_summarizer_gets_messages_counter_and_limit():
    own = Own("  They talked of Rome. \n")
    assert brief(own) == "They talked of Rome."
    assert own.asked == [(MESSAGES, WORDS, 20)]


@pytest.mark.parametrize("make", [Own, lambda answer: summarizer(lambda text: answer)], ids=["own", "of_a_function"])
@pytest.mark.parametrize(
    ("answer", "limit", "summary"),
    [
        ("One two. Three four. Five.", 5, "One two. Three four. Five."),
        ("One two. Three four. Five.", 4, "One two. Three four."),
        ("One two. Three four. Five.", 3, "One two."),
        ("One two. Three four. Five.", 1, "One"),
        ("a \ud800 b", 9, "a \ufffd b"),
    ],
    ids=["fits", "at_the_border", "inside_a_sentence", "no_sentence_fits", "surrogate"],
)
def test_h16_a_summary_is_cut_to_its_limit(make, answer, limit, summary):
    assert brief(make(answer), limit) == summary


@settings(deadline=None)
@given(st.text(min_size=1).filter(str.strip), st.integers(10, 60))
def test_h16_no_summary_is_longer_than_its_limit(answer, limit):
    found = summarize(MESSAGES, O200K, summarizer=summarizer(lambda text: answer), max_summary_tokens=limit)
    assert O200K.count(found) <= limit
    assert found == found.strip() != ""


@pytest.mark.parametrize("make", [Own, lambda answer: summarizer(lambda text: answer)], ids=["own", "of_a_function"])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", "a string with a summary in it, got an empty one"),
        (" \n\t ", "a string with a summary in it, got an empty one"),
        (None, "a string, got NoneType"),
        (b"bytes", "a string, got bytes"),
        (["a", "list"], "a string, got list"),
    ],
    ids=["empty", "blank", "none", "bytes", "list"],
)
def test_h16_no_summary_is_an_error(make, answer, said):
    with pytest.raises(SummaryError, match=f"must return {said}") as raised:
        brief(make(answer))
    assert isinstance(raised.value, CtxoptError)


def test_h16_a_summary_of_which_nothing_fits_is_an_error():
    with pytest.raises(SummaryError, match="nothing fits in 1 tokens; allow more"):
        summarize(MESSAGES, O200K, summarizer=Own("👩‍👩‍👧‍👦👩‍👩‍👧‍👦"), max_summary_tokens=1)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, None], ids=repr)
def test_a_limit_out_of_its_range_is_refused(limit):
    with pytest.raises(ValueError, match=f"`max_summary_tokens` must be a whole number of tokens, 1 .*got {limit}"):
        brief(Own("Rome."), limit)


def test_h16_what_a_model_raises_comes_through_unchanged():
    failure = ConnectionError("away")

    def failing(text):
        raise failure

    with pytest.raises(ConnectionError) as raised:
        brief(summarizer(failing))
    assert raised.value is failure


AWAITED = {
    "own": lambda: OwnAwaited("They talked."),
    "function": lambda: summarizer(AwaitedAnswer()),
    "returns_an_awaitable": lambda: summarizer(later),
    "model": lambda: summarizer(AwaitedModel()),
}


@pytest.mark.parametrize("make", AWAITED.values(), ids=AWAITED.keys())
async def test_h16_what_is_awaited_gives_the_same(make):
    assert await in_worker(brief, make()) == "They talked."
    with awaiting_on(asyncio.get_running_loop()):
        assert await asyncio.to_thread(brief, make()) == "They talked."


@pytest.mark.parametrize("make", AWAITED.values(), ids=AWAITED.keys())
def test_h16_what_can_only_be_awaited_says_so_without_a_loop(make):
    with pytest.raises(TypeError, match=r"can only be awaited.*`afit` or `ainvoke`"):
        brief(make())


@pytest.mark.parametrize("make", AWAITED.values(), ids=AWAITED.keys())
async def test_h16_what_can_only_be_awaited_says_so_on_the_loop_itself(make):
    with awaiting_on(asyncio.get_running_loop()), pytest.raises(TypeError, match="can only be awaited"):
        brief(make())


async def test_a_model_is_awaited_on_the_loop_that_waits():
    model = AwaitedModel()
    await in_worker(brief, summarizer(model))
    assert model.answer.loops == [asyncio.get_running_loop()]


async def test_calls_and_awaited_calls_share_what_is_remembered():
    class Both(PlainModel):
        def invoke(self, text):
            return super().invoke(text)

        async def ainvoke(self, text):
            return super().invoke(text)

    model = Both()
    by = summarizer(model)
    assert await in_worker(brief, by) == brief(by) == "They talked."
    assert len(model.answer.asked) == 1


async def test_an_awaitable_that_comes_when_nobody_waits_any_more_is_closed():
    loop, started, left = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    given = []

    def late(text):
        loop.call_soon_threadsafe(started.set)
        left.wait(10)
        given.append(AwaitedAnswer()(text))
        return given[0]

    with awaiting_on(loop):
        running = asyncio.create_task(asyncio.to_thread(brief, summarizer(late)))
        await started.wait()
    left.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert getcoroutinestate(given[0]) == CORO_CLOSED


@pytest.mark.parametrize(
    ("value", "said"),
    [(len, "got len"), ("gpt-4o", "got str"), (PlainModel(), "got PlainModel"), (Own, "got Own")],
    ids=["function", "name", "model", "class"],
)
def test_what_is_no_summarizer_is_refused_with_the_remedy(value, said):
    with pytest.raises(ValueError, match=rf"`summarizer` must have a `summarize` method.*{said}.*summarizer\(model\)"):
        check_summarizer(value)


def test_summarizers_are_known_by_their_method():
    for value in (None, Own("x"), OwnAwaited("x"), summarizer(CountingAnswer())):
        check_summarizer(value)
        assert value is None or isinstance(value, Summarizer)
