"""What the next turns of a conversation cost: the conversation goes on as it went, and each request is fitted."""

from __future__ import annotations

import pytest

from ctxopt_core import ContextBudget, ContextRequest, Document, Message, ToolCall, ToolResult, fit
from ctxopt_playground import Playground
from ctxopt_playground.next_turns import next_turns
from ctxopt_playground.settings import PlaygroundSettings
from made_up_texts import text_of


def chat(turns: int = 12, *, tokens: int = 100) -> list[Message]:
    return [
        message
        for n in range(turns)
        for message in (
            Message(role="user", content=f"Question {n}?"),
            Message(role="assistant", content=text_of(f"Answer {n}:", tokens)),
        )
    ]


ASKED = Message(role="user", content="And the last one?")
CALL = ToolCall(id="c1", name="look_up", arguments="{}")
AGENT_TURN = [
    Message(role="user", content="Look it up."),
    Message(role="assistant", tool_calls=(CALL,)),
    Message(role="tool", tool_call_id="c1", content="It burns. " * 20),
    Message(role="assistant", content="It burns."),
]
CLAUDE_TURN = [
    *AGENT_TURN[:2],
    Message(
        role="user",
        content=("It burns. " * 20,),
        verbatim=("c1",),
        tool_results=(ToolResult(call_id="c1", texts=range(1), verbatim=range(1)),),
    ),
    AGENT_TURN[-1],
]
SETTINGS = PlaygroundSettings(model="gpt-4o", target_tokens=4_000, output_reserve=0)
NARROW = PlaygroundSettings(model="gpt-4o", target_tokens=600, output_reserve=0)


@pytest.mark.parametrize(
    ("request_", "requests"),
    [
        pytest.param(ContextRequest(history=[*chat(), ASKED]), 7, id="open question"),
        pytest.param(ContextRequest(history=chat()), 7, id="answered"),
        pytest.param(ContextRequest(history=chat(), query="And the last one?"), 7, id="query apart"),
        pytest.param(ContextRequest(query="Is it lit?"), 7, id="nothing but a query"),
        pytest.param(ContextRequest(query="Is it lit?", documents=[Document(text="It is.")]), 7, id="documents"),
        pytest.param(ContextRequest(history=AGENT_TURN), 14, id="run of an agent"),
        pytest.param(ContextRequest(history=CLAUDE_TURN), 14, id="run of an agent, results beside a user"),
        pytest.param(ContextRequest(history=AGENT_TURN[:3]), 7, id="run of an agent that is going on"),
    ],
)
def test_u11_there_are_as_many_turns_as_asked_for(request_, requests):
    for settings in (SETTINGS, NARROW):
        found = next_turns(request_, settings, 7)

        assert (found.turns, found.requests, found.problem) == (7, requests, "")
        assert [total.strategy for total in found.totals] == list(settings.compared)
        assert {total.requests for total in found.totals} == {requests}
        assert all(total.failed == 0 and total.tokens_after > 0 for total in found.totals)
        assert all(total.cost_with_cache <= total.cost for total in found.totals)


def test_u11_the_first_of_the_next_requests_is_cached_as_far_as_it_repeats_the_present_one():
    history = [*chat(20), ASKED]
    present = fit(ContextRequest(history=history), ContextBudget.for_model("gpt-4o", target_tokens=4_000)).report
    found = next_turns(ContextRequest(history=history), SETTINGS, 1)

    assert present.unchanged
    common = present.tokens_after - 3  # all but the tokens that begin the answer
    assert {total.cached_tokens for total in found.totals} == {common - (common - 1_024) % 128}


def test_u11_strategies_differ_by_what_the_cache_has():
    found = next_turns(ContextRequest(history=[*chat(60), ASKED]), SETTINGS, 20)
    totals = {total.strategy: total for total in found.totals}

    assert totals["stable_prefix"].cached_share > 0.5
    assert totals["sliding_window"].cached_share < 0.1
    assert totals["stable_prefix"].cost_with_cache < totals["sliding_window"].cost_with_cache / 1.3


def test_u11_a_turn_that_is_repeated_is_not_taken_to_be_cached():
    found = next_turns(ContextRequest(history=chat(1, tokens=1_500)), SETTINGS, 9)

    assert next(total for total in found.totals if total.strategy == "sliding_window").cached_share < 0.35


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        pytest.param(ContextRequest(), "no message of a user", id="nothing"),
        pytest.param(ContextRequest(history=[Message(role="assistant", content="Hi")]), "no message", id="no user"),
    ],
)
def test_u11_without_a_user_there_is_nothing_to_go_on(request_, problem):
    found = next_turns(request_, SETTINGS, 3)

    assert problem in found.problem
    assert found.totals == ()


def test_u11_the_page_shows_the_next_turns_and_follows_the_settings():
    rows = [{"role": message.role, "content": str(message.content)} for message in (*chat(60), ASKED)]
    playground = Playground(rows, target_tokens=4_000)
    panel = playground._page.next_turns

    assert "The next 5 turns: 5 requests" in panel.table.value
    panel.turns.value = 8
    assert "The next 8 turns: 8 requests" in panel.table.value
    before = panel.found
    playground._page.panel.window.window.value = 2_000
    assert panel.found.turns == 8
    assert panel.found != before
    assert "Question 3" not in panel.table.value
    playground._page.panel.strategies["auto"].value = False
    assert [total.strategy for total in panel.found.totals] == list(playground.settings.compared)


def test_u11_without_a_price_there_is_the_relative_cost_alone():
    playground = Playground([{"role": "user", "content": "Is it lit?"}], model=None, target_tokens=400)

    assert "relative cost" in playground._page.next_turns.table.value
    assert "USD" not in playground._page.next_turns.table.value
