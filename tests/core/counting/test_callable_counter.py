"""Counters around a function, and counters that stop at a ceiling."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core import ContextBudget, ContextRequest, EstimateCounter, fit
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.counting.counter_wrappers import CappedCounter
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.counting.token_counter import TokenCounter, cached_counts_of
from ctxopt_core.runtime.text_cache import CountCache

LONG = "x" * 9_000


def words(text):
    return len(text.split())


@pytest.mark.parametrize(
    ("function", "text", "limit", "head", "tail"),
    [
        pytest.param(len, "abcdef", 4, "abcd", "cdef", id="characters"),
        pytest.param(words, "one two three", 2, "one two ", " two three", id="words"),
        pytest.param(lambda text: len(text) * 10, "abcdef", 25, "ab", "ef", id="ten-per-character"),
        pytest.param(lambda text: 99, "abcdef", 25, "", "", id="nothing-fits"),
        pytest.param(lambda text: 1 if text == "abcdef" else 9, "abcdef", 1, "abcdef", "abcdef", id="only-the-whole"),
    ],
)
def test_the_longest_part_within_a_limit_is_found(function, text, limit, head, tail):
    counter = CallableCounter(function)

    assert text[: counter.prefix_length(text, limit)] == head
    assert text[len(text) - counter.suffix_length(text, limit) :] == tail


@given(st.text(max_size=40), st.integers(-1, 60), st.integers(1, 7))
def test_no_part_counts_more_than_was_asked_even_where_longer_texts_count_less(text, limit, step):
    def jumps(part):
        return len(part) * step % 11

    counter = CallableCounter(jumps)
    head, tail = counter.prefix_length(text, limit), counter.suffix_length(text, limit)

    assert jumps(text[:head]) <= max(0, limit)
    assert jumps(text[len(text) - tail :]) <= max(0, limit)
    if 0 < limit >= counter.count(text):
        assert head == tail == len(text)


def test_a_result_is_remembered():
    asked = []
    counter = CallableCounter(lambda text: asked.append(text) or len(text))

    assert [counter.count("lantern"), counter.count("lant" + "ern"), counter.exceeds("lantern", 6)] == [7, 7, True]
    assert asked == ["lantern"]


def test_two_counters_do_not_share_what_they_remember():
    assert [CallableCounter(len).count("two words"), CallableCounter(words).count("two words")] == [9, 2]


def test_a_name_and_whether_it_is_exact_are_the_callers():
    counter = CallableCounter(len, name="characters", exact=False)

    assert (counter.name, counter.exact, repr(counter)) == ("characters", False, "CallableCounter('characters')")
    assert counter_for(words).name == "words"
    assert counter_for(counter) is counter


@pytest.mark.parametrize(
    ("result", "error", "problem"),
    [
        pytest.param(-1, ValueError, r"must return .* 0 or more, got -1 from 'callable'", id="negative"),
        pytest.param(-0.5, ValueError, r"must return .* 0 or more, got -0.5", id="negative-fraction"),
        pytest.param(float("nan"), ValueError, "0 or more, got nan", id="nan"),
        pytest.param(float("inf"), ValueError, "0 or more, got inf", id="infinite"),
        pytest.param(None, TypeError, "must return the number of tokens .* got NoneType from 'callable'", id="none"),
        pytest.param(True, TypeError, "got bool", id="bool"),
        pytest.param("lan tern", TypeError, "got str", id="string"),
        pytest.param(b"lantern", TypeError, "got bytes", id="bytes"),
        pytest.param({"tokens": [1]}, TypeError, "got dict", id="mapping-without-ids"),
        pytest.param(object(), TypeError, "got object", id="object"),
    ],
)
def test_l22_a_function_that_does_not_count_is_an_error(result, error, problem):
    counter = CallableCounter(lambda text: result)

    with pytest.raises(error, match=problem):
        counter.count("lantern")


@pytest.mark.parametrize("function", [None, 4, "gpt-4"])
def test_what_cannot_be_called_is_no_function(function):
    with pytest.raises(TypeError, match=r"`function` must be callable .* got"):
        CallableCounter(function)


@pytest.mark.parametrize(
    ("text", "ceiling", "tokens"),
    [
        pytest.param("x" * 100, 10, 100, id="short-texts-are-always-counted"),
        pytest.param(LONG, 9_000, 9_000, id="at-the-ceiling"),
        pytest.param(LONG, 8_999, 9_000, id="one-over"),
        pytest.param(LONG, 100, 101, id="far-over"),
        pytest.param(LONG, 0, 1, id="no-ceiling"),
        pytest.param(LONG, -5, 1, id="negative-ceiling"),
        pytest.param("", 10, 0, id="empty"),
    ],
)
def test_a_long_text_counts_no_more_than_one_over_the_ceiling(text, ceiling, tokens):
    counter = CappedCounter(CallableCounter(len, name="characters", exact=False), ceiling)

    assert isinstance(counter, TokenCounter)
    assert [counter.count(text), counter.count(text)] == [tokens, tokens]
    assert (counter.name, counter.exact) == ("characters", False)
    assert counter.prefix_length(text, 50) == counter.suffix_length(text, 50) == min(50, len(text))


def test_a_capped_text_over_the_ceiling_is_read_once():
    asked = []
    counter = CappedCounter(CallableCounter(lambda text: asked.append(text) or len(text)), 10)

    assert [counter.count(LONG) for _ in range(3)] == [11, 11, 11]
    assert asked == [LONG]


def test_a_counter_without_a_memory_remembers_nothing():
    counter = CallableCounter(len)
    counter.count("lantern")

    assert cached_counts_of(counter)("lantern") is None


@pytest.mark.parametrize("text", [LONG, "x" * 50, "x"])
@pytest.mark.parametrize("ceiling", [0, 10, 5_000, 10_000])
def test_a_capped_counter_gives_one_figure_whether_the_count_is_remembered_or_not(text, ceiling):
    whole = TiktokenCounter("cl100k_base", cache=CountCache())
    before = CappedCounter(whole, ceiling).count(text)
    whole.count(text)
    after = CappedCounter(whole, ceiling)

    assert [before, before] == [after.count(text), cached_counts_of(after)(text)]


async def awaited(text):
    return len(text)


class AwaitedObject:
    async def __call__(self, text):
        return len(text)


AWAITED = [
    pytest.param(awaited, id="coroutine function"),
    pytest.param(AwaitedObject(), id="object"),
    pytest.param(AwaitedObject().__call__, id="method"),
    pytest.param(partial(awaited), id="partial"),
    pytest.param(partial(partial(AwaitedObject())), id="partial of an object"),
]


@pytest.mark.parametrize("function", AWAITED)
def test_l22_a_function_that_has_to_be_awaited_is_named_at_once(function):
    with pytest.raises(TypeError, match=r"`function` must be a plain function .* has to be awaited"):
        CallableCounter(function)
    with pytest.raises(TypeError, match=r"`tokenizer` must be a plain function .* has to be awaited.*'approximate'"):
        counter_for(function)
    budget, request = ContextBudget(max_input_tokens=9), ContextRequest(query="Why?")
    with pytest.raises(TypeError, match="`counter` must be a plain function"):
        fit(request, budget, counter=function)


def test_l22_a_coroutine_that_a_plain_function_returns_is_named_and_closed():
    with pytest.raises(TypeError, match="got coroutine from 'words'"):
        CallableCounter(lambda text: awaited(text[1:]), name="words").count("lantern")


@pytest.mark.parametrize(
    "function",
    [
        lambda messages: sum(len(message.content) for message in messages),
        lambda messages: sum(len(message["content"]) for message in messages),
        lambda messages: messages.pop(),
    ],
    ids=["attributes", "keys", "list"],
)
def test_l22_a_function_that_counts_messages_is_named_when_it_is_used(function):
    counter = counter_for(function)
    with pytest.raises(TypeError, match=r"must take a string, and '<lambda>' raises .* counts messages") as found:
        counter.count("lantern")
    assert found.value.__cause__ is not None


def test_l22_other_errors_of_a_function_come_through():
    def broken(text):
        raise FileNotFoundError(text)

    with pytest.raises(OSError, match="lantern"):
        counter_for(broken).count("lantern")


@pytest.mark.parametrize("named", ["get_num_tokens_from_messages", "count_tokens_approximately"])
def test_l22_what_counts_messages_by_its_name_is_named_at_once(named):
    def function(messages):
        return len(messages)

    function.__name__ = named
    for counting in (function, partial(function), partial(partial(function, 1))):
        with pytest.raises(TypeError, match=f"`tokenizer` must be a function .* got {named}.*'approximate'"):
            counter_for(counting)


def test_l22_approximate_is_the_estimate_without_a_tokenizer():
    counter = counter_for("approximate")
    assert (counter.exact, counter.name) == (False, EstimateCounter().name)
    assert counter.count("The capital of Italy is Rome.") == EstimateCounter().count("The capital of Italy is Rome.")
    fitted = fit(ContextRequest(query="Why? " * 9), ContextBudget(max_input_tokens=20), counter="approximate")
    assert fitted.report.tokens_after <= 20
