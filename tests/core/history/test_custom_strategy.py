"""Strategies of one's own, and the sliding window."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import ContextBudget, ContextRequest, HistoryPolicy, Message, ToolCall, afit, fit, trim_history
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.history.strategies.custom import HistoryStrategy, run_progress
from drawn_examples import examples

WORDS = CallableCounter(lambda text: len(text.split()), name="words")


def turn(number):
    return [Message(role="user", content=f"ask {number}"), Message(role="assistant", content=f"reply {number}")]


def tool_turn(number):
    call = ToolCall(id=f"c{number}", name="look", arguments="{}")
    return [
        Message(role="user", content=f"look {number}"),
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content=f"seen {number}", tool_call_id=f"c{number}"),
        Message(role="assistant", content=f"done {number}"),
    ]


SYSTEM = Message(role="system", content="Be brief.")
QUERY = Message(role="user", content="And now?")
MESSAGES = [SYSTEM, *turn(1), *tool_turn(2), *turn(3), *turn(4), QUERY]


def fitted(strategy, limit=50, messages=MESSAGES, **options):
    policy = HistoryPolicy(strategy=strategy, **options)
    budget = ContextBudget(max_input_tokens=limit)
    return fit(ContextRequest(history=messages), budget, counter=WORDS, history=policy)


def test_h23_the_view_holds_the_earlier_turns_with_their_tokens():
    seen = []
    fitted(lambda view: seen.append(view) or [])
    [view] = seen

    assert list(view.messages) == MESSAGES
    assert list(view.turns) == [range(1, 3), range(3, 7), range(7, 9), range(9, 11)]
    assert view.tokens == {i: 4 + (4 if i == 4 else 3 if i == 5 else 2) for i in range(1, 11)} | {4: 7}
    assert view.room == 50 - 3 - 6 - 6
    assert view.ranking_query == "And now?"
    assert view.progress == {}


CHOICES = [
    pytest.param([1, 2], [0, 1, 2, 11], 0, id="a whole turn"),
    pytest.param([2, 1], [0, 1, 2, 11], 0, id="any order"),
    pytest.param([7], [0, 7, 11], 0, id="part of a turn"),
    pytest.param([2], [0, 11], 1, id="an answer without its question"),
    pytest.param([3, 4], [0, 3, 11], 1, id="a call without its result"),
    pytest.param([3, 5], [0, 3, 11], 1, id="a result without its call"),
    pytest.param([3, 4, 5], [0, 3, 4, 5, 11], 0, id="a whole exchange"),
    pytest.param([0, 1, 2], [0, 1, 2, 11], 0, id="system messages stay anyway"),
    pytest.param([], [0, 11], 0, id="nothing"),
    pytest.param(range(1, 11), [0, 3, 4, 5, 6, 7, 8, 9, 10, 11], 2, id="more than fits"),
]


@pytest.mark.parametrize(("chosen", "kept", "left_out"), CHOICES)
def test_h23_the_choice_is_checked(chosen, kept, left_out):
    result = fitted(lambda view: chosen, limit=70)
    fits_all = left_out and len(kept) > 8

    assert list(result.history.kept) == kept
    assert result.report.tokens_after <= 70
    assert [note.split()[0] for note in result.report.notes] == ([str(left_out)] if left_out else [])
    assert bool(fits_all) == (len(chosen) > 8)


@pytest.mark.parametrize(
    ("returned", "error", "said"),
    [
        pytest.param(7, TypeError, "must return the indices", id="a number"),
        pytest.param(None, TypeError, "must return the indices", id="none"),
        pytest.param(["1"], TypeError, "must return whole numbers, got str", id="texts"),
        pytest.param([True], TypeError, "must return whole numbers, got bool", id="bools"),
        pytest.param([11], ValueError, "must return indices .* from 0 to 10, got 11", id="the query"),
        pytest.param([-1], ValueError, "must return indices .* from 0 to 10, got -1", id="negative"),
    ],
)
def test_h23_a_wrong_result_is_an_error_that_names_the_strategy(returned, error, said):
    def wrong(view):
        return returned

    with pytest.raises(error, match=rf"`strategy` .*wrong {said}"):
        fitted(wrong)


def test_h23_it_is_not_asked_while_everything_fits():
    def strategy(view):
        raise AssertionError

    assert fitted(strategy, limit=200).unchanged


def test_h23_an_async_strategy_is_awaited():
    async def strategy(view):
        await asyncio.sleep(0)
        return [1, 2]

    request, budget = ContextRequest(history=MESSAGES), ContextBudget(max_input_tokens=50)
    awaited = asyncio.run(afit(request, budget, counter=WORDS, history=HistoryPolicy(strategy=strategy)))

    assert list(awaited.history.kept) == [0, 1, 2, 11]
    with pytest.raises(TypeError, match="can only be awaited"):
        fitted(strategy)


def test_h23_its_progress_is_kept_where_the_run_keeps_it():
    def strategy(view):
        view.progress["calls"] = view.progress.get("calls", 0) + 1
        return []

    progress = {}
    token = run_progress.set(progress)
    try:
        fitted(strategy)
        fitted(strategy)
    finally:
        run_progress.reset(token)

    assert progress == {"calls": 2}


def test_h23_the_report_names_the_strategy():
    class EveryOther:
        def __call__(self, view):
            return []

    assert isinstance(EveryOther(), HistoryStrategy)
    assert fitted(EveryOther()).report.strategy.endswith("EveryOther")


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.integers(0, 10)), st.integers(24, 80))
def test_a13_h23_whatever_is_chosen_the_budget_and_the_pairs_hold(chosen, limit):
    result = fitted(lambda view: chosen, limit=limit)
    kept = result.messages()

    assert result.report.tokens_after <= limit
    assert [c.id for m in kept for c in m.tool_calls] == [m.tool_call_id for m in kept if m.tool_call_id]
    assert kept[-1] == QUERY
    assert next(message.role for message in kept if message.role != "system") == "user"


WINDOWS = [
    pytest.param(None, 57, [0, 7, 8, 9, 10, 11], id="tokens alone"),
    pytest.param(6, 60, [0, 7, 8, 9, 10, 11], id="both"),
    pytest.param(5, 60, [0, 9, 10, 11], id="no half turns"),
    pytest.param(4, 60, [0, 9, 10, 11], id="messages alone"),
    pytest.param(9, 24, [0, 11], id="few tokens"),
    pytest.param(3, 60, [0, 11], id="less than a turn"),
    pytest.param(2, 60, [0, 11], id="system and query"),
    pytest.param(1, 60, [0, 11], id="no more than system messages"),
]


@pytest.mark.parametrize(("messages", "limit", "kept"), WINDOWS)
def test_h14_the_window_is_bounded_by_messages_and_by_tokens(messages, limit, kept):
    result = fitted("sliding_window", limit=limit, max_messages=messages)

    assert list(result.history.kept) == kept
    assert result.history.placeholder is None
    assert result.report.strategy == "sliding_window"
    assert result.report.tokens_after <= limit


@pytest.mark.parametrize(("places", "kept"), [(5, []), (7, []), (8, [7, 8]), (9, [7, 8]), (10, [5, 6, 7, 8])])
def test_h14_calls_and_results_behind_the_query_take_places_of_the_window(places, kept):
    messages = [SYSTEM, *turn(1), *turn(2), *turn(3), *turn(4), QUERY, *tool_turn(8)[1:3], *tool_turn(9)[1:3]]
    result = fitted("sliding_window", limit=88, messages=messages, max_messages=places)

    assert list(result.history.kept) == [0, *kept, 9, 10, 11, 12, 13]
    assert result.history.shortened == {}


def test_h14_what_was_said_last_is_shortened_before_it_is_lost():
    long = [Message(role="user", content="word " * 80), Message(role="assistant", content="Yes, it is.")]
    trimming = trim_history([*turn(1), *long], 60, WORDS, policy=HistoryPolicy(strategy="sliding_window"))

    assert list(trimming.kept) == [2, 3]
    assert trimming.tokens <= 60


@pytest.mark.parametrize(
    ("options", "said"),
    [({"max_messages": 0, "strategy": "sliding_window"}, "1 or more"), ({"max_messages": 3}, "goes with the strategy")],
)
def test_h14_a_policy_says_what_is_wrong(options, said):
    with pytest.raises(ValueError, match=f"`max_messages` .*{said}"):
        HistoryPolicy(**options)
