"""The stable prefix: the cut moves in steps, and each request begins with the one before it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import ContextBudget, ContextBudgetError, ContextRequest, HistoryPolicy, Message, ToolCall, fit
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.history.strategies.steps import (
    LEAST_FREE_SHARE,
    MOST_FREE_SHARE_WITH_TOOLS,
    Step,
    StepUnit,
    free_share,
    steps,
)
from drawn_examples import examples

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
STABLE = HistoryPolicy(stable_prefix=True)
WITHOUT_RECALL = HistoryPolicy(stable_prefix=True, recall_percent=0)


def user(words: int, number: int) -> Message:
    return Message(role="user", content=f"ask{number} " + "u " * (words - 1))


def answer(words: int, number: int) -> Message:
    return Message(role="assistant", content=f"reply{number} " + "a " * (words - 1))


def exchange(words: int, number: int) -> list[Message]:
    call = ToolCall(id=f"c{number}", name="look", arguments="{}")
    result = " ".join(f"r{number}.{n}" for n in range(words))
    return [
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content=result, tool_call_id=f"c{number}"),
    ]


def chat(turns: int, words: int = 16) -> list[Message]:
    return [m for n in range(turns) for m in (user(words, n), answer(words, n))]


def agent_run(turns: int, calls: int, words: int) -> list[Message]:
    found: list[Message] = []
    for turn in range(turns):
        found.append(user(6, turn))
        for call in range(calls):
            found += exchange(words, turn * calls + call)
        found.append(answer(6, turn))
    return found


def requests_of(messages):
    return [messages[:end] for end in range(1, len(messages)) if messages[end].role == "assistant"]


def fitted_messages(messages, limit, policy=STABLE):
    return fit(ContextRequest(history=messages), ContextBudget(max_input_tokens=limit), counter=WORDS, history=policy)


def tokens(message: Message) -> int:
    called = sum(len(call.name.split()) + len(call.arguments.split()) + 1 for call in message.tool_calls)
    return 4 + sum(len(text.split()) for text in message.texts) + called + (1 if message.tool_call_id else 0)


def common_start(before, now):
    same = []
    for one, other in zip(before, now, strict=False):
        if one != other:
            break
        same.append(one)
    return same


SESSIONS = [
    pytest.param(chat(120), 1_200, 0.75, id="chat"),
    pytest.param(agent_run(1, 60, 12), 400, 0.85, id="one long turn"),
    pytest.param(agent_run(20, 4, 12), 400, 0.75, id="turns with tools"),
    pytest.param(agent_run(6, 5, 150), 800, 0.5, id="large results"),
    pytest.param([Message(role="system", content="Be brief."), *chat(120)], 1_200, 0.75, id="system message"),
]


@pytest.mark.parametrize(("messages", "limit", "wanted"), SESSIONS)
def test_h21_most_of_a_request_repeats_the_one_before(messages, limit, wanted):
    before, sent, repeated = (), 0, 0
    for request in requests_of(messages):
        fitted = fitted_messages(request, limit)
        now = fitted.messages()
        assert fitted.report.tokens_after <= limit
        sent += sum(map(tokens, now))
        repeated += sum(map(tokens, common_start(before, now)))
        before = now
    assert repeated / sent >= wanted


@pytest.mark.parametrize(("messages", "limit", "wanted"), SESSIONS)
def test_h21_the_report_says_what_repeats(messages, limit, wanted):
    before = ()
    for request in requests_of(messages):
        fitted = fitted_messages(request, limit, WITHOUT_RECALL)
        now = fitted.messages()
        if not fitted.unchanged and before:
            assert fitted.report.reused_prefix_tokens == sum(map(tokens, common_start(before, now)))
        before = now


@pytest.mark.parametrize(("messages", "limit", "wanted"), SESSIONS)
def test_h21_the_report_never_says_that_more_repeats_than_does(messages, limit, wanted):
    before = ()
    for request in requests_of(messages):
        fitted = fitted_messages(request, limit)
        now = fitted.messages()
        if not fitted.unchanged and before:
            assert fitted.report.reused_prefix_tokens <= sum(map(tokens, common_start(before, now)))
        before = now


def test_h21_a_lowered_result_is_reported_with_what_it_counts():
    messages = agent_run(3, 6, 0)
    text = "".join(f"This is sentence number {n} of a result that was read.\n" for n in range(30))
    messages = [replace(m, content=text) if m.role == "tool" else m for m in messages]
    before, below = (), 0
    for request in requests_of(messages):
        fitted = fitted_messages(request, 1_500)
        now = fitted.messages()
        below += any(tokens(m) < 100 for m in now if m.role == "tool")
        if not fitted.unchanged and before:
            assert fitted.report.reused_prefix_tokens == sum(map(tokens, common_start(before, now)))
        before = now
    assert below


@pytest.mark.parametrize(("messages", "limit", "wanted"), SESSIONS)
def test_h21_what_stays_behind_the_cut_is_not_edited_between_steps(messages, limit, wanted):
    """Between two steps a request is the one before it, and what is new; only the last results may be lowered yet."""
    before, moved, requests = (), 0, requests_of(messages)
    for request in requests:
        now = fitted_messages(request, limit).messages()
        moved += len(common_start(before, now)) < len(before) - 2
        before = now
    assert 0 < moved < len(requests) / 3


def test_h21_the_question_the_first_message_and_whole_exchanges_stay():
    messages = agent_run(12, 4, 30)
    for request in requests_of(messages):
        fitted = fitted_messages(request, 300)
        kept = fitted.messages()
        calls = [call.id for message in kept for call in message.tool_calls]
        assert calls == [message.tool_call_id for message in kept if message.tool_call_id]
        question = max(i for i, message in enumerate(request) if message.role == "user")
        assert question in fitted.history.kept
        assert 0 in fitted.history.kept
        assert next(m.role for m in kept) == "user"


def test_h21_a_result_that_nobody_has_read_is_whole_if_it_can_be():
    messages = [*agent_run(3, 3, 60), user(6, 99), *exchange(120, 99)]
    fitted = fitted_messages(messages, 400)

    assert len(messages) - 1 not in fitted.history.shortened
    assert fitted.report.strategy == "turns"


def test_h21_where_nothing_stable_fits_the_newest_turns_are_kept_and_the_report_says_so():
    messages = [*chat(3), user(20, 9), *exchange(900, 9)]
    fitted = fitted_messages(messages, 120)

    assert fitted.report.tokens_after <= 120
    assert fitted.report.reused_prefix_tokens is None
    assert "the prefix could not be kept stable within the budget" in fitted.report.notes


@pytest.mark.parametrize("strategy", ["relevance", "sliding_window"])
def test_h21_strategies_that_choose_anew_cannot_be_stable(strategy):
    with pytest.raises(ValueError, match="`stable_prefix` goes with the strategies 'auto' and 'turns'"):
        HistoryPolicy(strategy=strategy, stable_prefix=True)


def units(*costs: int) -> list[StepUnit]:
    return [StepUnit(cost, cost, n, False) for n, cost in enumerate(costs)]


def test_h21_a_step_frees_a_ninth_and_then_the_cut_stands_still():
    found = list(steps(units(*[10] * 150), 1_000, first=0, head=10))

    assert found[99] == Step(0, 0)
    assert found[100] == Step(13, 100)
    assert found[111] == Step(13, 100)
    assert found[112] == Step(25, 112)
    assert 1_000 * LEAST_FREE_SHARE == 110


@pytest.mark.parametrize(
    ("growth", "window", "share"),
    [
        pytest.param(60, 64_000, (2 * 0.9 * 60 / 6_400) ** 0.5, id="the-cheapest"),
        pytest.param(60, 1_000_000, 0.11, id="large-windows-free-a-ninth"),
        pytest.param(60, 4_000, 0.25, id="small-windows-keep-three-quarters"),
        pytest.param(500, 4_000, 0.5, id="long-turns-have-room-for-four"),
        pytest.param(5_000, 4_000, 0.5, id="never-more-than-half"),
        pytest.param(0, 4_000, 0.11, id="nothing-is-known"),
        pytest.param(60, 0, 0.5, id="no-room"),
    ],
)
def test_h21_a_step_frees_what_is_worth_most_for_its_price(growth, window, share):
    assert free_share(growth, window) == pytest.approx(share)
    assert free_share(growth, window, with_tools=True) == 0.5


def price(share, growth, window):
    """Return the mean price of a request, in which a token that is not held counts as twice the price of a cached one.

    The window grows by `growth` and frees `share` when it is full.
    """
    tokens, cached, spent, requests = window * (1 - share), 0.0, 0.0, 0
    while requests < 20_000:
        spent += 0.1 * cached + (tokens - cached) + 0.2 * (window - tokens)
        requests += 1
        cached, tokens = tokens, tokens + growth
        if tokens > window:
            tokens, cached = window * (1 - share), 0.0
    return spent / requests


@pytest.mark.parametrize(("growth", "window"), [(60, 32_000), (100, 64_000), (300, 128_000)])
def test_h21_no_other_step_is_worth_more(growth, window):
    chosen = price(free_share(growth, window), growth, window)

    assert all(price(other / 100, growth, window) >= chosen * 0.99 for other in range(3, 60))


def test_h21_a_step_makes_room_for_four_more_requests():
    found = list(steps([StepUnit(50, 50, n - n % 2, False) for n in range(20)], 700, first=0, head=0))

    assert found[13] == Step(0, 0)
    assert found[14] == Step(8, 14)


def test_h21_with_tools_results_are_lowered_before_anything_goes():
    read = [StepUnit(40, 5, 0, True) for _ in range(6)]
    found = list(steps([StepUnit(10, 10, 0, False), *read], 150, first=0, head=10))

    assert found[3] == Step(0, 0)
    assert found[4] == Step(0, 4)
    assert int(150 * MOST_FREE_SHARE_WITH_TOOLS) == 75


SMALL, LARGE = StepUnit(20, 10, 0, True), StepUnit(90, 10, 0, True)
LARGE_RESULTS = [
    pytest.param([StepUnit(60, 10, 0, True)] * 10, [(0, 0)] * 3 + [(3, 3)] * 8, id="each one"),
    pytest.param(
        [*[SMALL] * 4, LARGE, *[SMALL] * 6, LARGE, *[SMALL] * 4],
        [(0, 0)] * 5 + [(5, 5)] * 7 + [(12, 12)] * 5,
        id="now and then",
    ),
]


@pytest.mark.parametrize(("exchanges", "wanted"), LARGE_RESULTS)
def test_h21_a_large_result_is_lowered_as_soon_as_another_unit_follows(exchanges, wanted):
    found = list(steps([StepUnit(10, 10, 0, False), *exchanges], 150, first=0, head=10))

    assert found == [Step(*step) for step in wanted]


@pytest.mark.parametrize("words", [600, 1_100, 3_000])
def test_h21_a_result_that_is_not_read_yet_has_all_the_room_that_there_is(words):
    messages = [user(6, 0), *exchange(words, 0)]
    fitted = fitted_messages(messages, 1_000)

    assert fitted.report.tokens_after == min(fitted.report.tokens_before, 1_000)
    read = fitted_messages([*messages, *exchange(5, 1)], 1_000)
    assert words < 1_000 or read.report.tokens_after < 200


@pytest.mark.parametrize("messages", [chat(20), agent_run(20, 2, 30)], ids=["chat", "agent"])
@pytest.mark.parametrize("limit", [300, 500])
def test_the_note_says_how_many_messages_are_gone(messages, limit):
    history = fitted_messages(messages, limit).history

    assert 0 < len(history.kept) < len(messages)
    assert history.placeholder == f"[{len(messages) - len(history.kept)} earlier messages omitted]"


def test_h21_results_that_are_not_read_yet_share_the_room():
    both = [*exchange(3_000, 0), *exchange(300, 1), *exchange(2_000, 2)]
    calls = Message(role="assistant", tool_calls=tuple(call for message in both for call in message.tool_calls))
    results = [message for message in both if message.role == "tool"]
    fitted = fitted_messages([user(6, 0), calls, *results], 1_000)

    left = [len(shortened.texts[0].split()) for shortened in fitted.history.shortened.values()]
    assert fitted.report.tokens_after <= 1_000
    assert sorted(fitted.history.shortened) == [2, 4]
    assert min(left) > 250


COSTS = st.lists(
    st.tuples(st.integers(4, 60), st.integers(0, 40), st.booleans(), st.booleans()), min_size=1, max_size=60
)


@settings(max_examples=examples(200))
@given(COSTS, st.integers(20, 400), st.integers(0, 15))
def test_h21_a_step_always_fits_and_the_cut_never_goes_back(rows, limit, head):
    opener, found = 0, []
    for n, (low, more, opens, tool) in enumerate(rows):
        opener = n if opens else opener
        found.append(StepUnit(low + (more if tool and not opens else 0), low, opener, tool and not opens))
    walked = list(steps(found, limit, first=0, head=head))

    assert len(walked) == len(found)
    cuts = [step.cut for step in walked if step]
    assert cuts == sorted(cuts)
    for end, step in enumerate(walked):
        if step is not None:
            stays = found[step.cut : end + 1]
            least = sum(unit.least if step.cut + n < step.pruned else unit.full for n, unit in enumerate(stays))
            early = [
                u.saved
                for n, u in enumerate(stays[:-1])
                if step.cut + n >= step.pruned and u.saved > int(limit * 0.15) and step.pruned
            ]
            unread = 0 if step.newest_limit is None else found[end].full - step.newest_limit
            assert least - sum(early) - unread <= limit
    for end in range(1, len(found)):
        assert list(steps(found[:end], limit, first=0, head=head)) == walked[:end]


@pytest.mark.parametrize("limit", [60, 70, 85, 100, 130])
def test_h3_h21_a_cut_made_before_the_first_user_message_moves_on_to_it(limit):
    leading = [answer(30, n) for n in range(4)]
    messages = [*leading, user(2, 0), answer(2, 0), user(1, 1)]

    kept = list(
        fitted_messages(messages, limit, HistoryPolicy(stable_prefix=True, keep_first_user_message=False)).history.kept
    )
    assert kept[0] == len(leading)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(1, 12), st.integers(0, 4), st.integers(1, 60), st.integers(10, 500))
def test_a13_h21_a_stable_prefix_keeps_the_budget(turns, calls, words, limit):
    messages = agent_run(turns, calls, words)[:-1]
    try:
        fitted = fitted_messages(messages, limit)
    except ContextBudgetError:
        return
    assert 3 + sum(map(tokens, fitted.messages())) <= limit
    assert fitted.report.tokens_after <= limit
