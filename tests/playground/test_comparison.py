"""Side by side, each strategy gives what a fit with it gives; settings are checked, and the request is left alone."""

from __future__ import annotations

import json
import logging
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counting_summaries import CountingAnswer
from ctxopt_core import (
    ContextBudget,
    ContextRequest,
    DocumentPolicy,
    HistoryPolicy,
    Message,
    Shares,
    fit,
    summarizer,
)
from ctxopt_core.budget.shares import BudgetWarning
from ctxopt_playground.comparison import compare
from ctxopt_playground.readers.history import read_history
from ctxopt_playground.settings import PLAIN_STRATEGIES, SUMMARIZING_STRATEGIES, PlaygroundSettings
from drawn_examples import examples
from gate_requests import gate_request, small_requests
from hostile_text import openai_messages

POLICIES = {
    "auto": HistoryPolicy(strategy="auto"),
    "turns": HistoryPolicy(strategy="turns"),
    "relevance": HistoryPolicy(strategy="relevance"),
    "sliding_window": HistoryPolicy(strategy="sliding_window"),
    "stable_prefix": HistoryPolicy(strategy="turns", stable_prefix=True),
}
WIDE = Shares(system=10, query=10, documents=20, history=60)


def assert_same(outcome, fitted):
    """Assert that an outcome tells what a fit gives."""
    report = fitted.report
    states = [row.state for row in report.documents]
    assert outcome.fitted.messages() == fitted.messages()
    assert outcome.fitted.document_texts() == fitted.document_texts()
    assert outcome.fitted.report.to_dict() == report.to_dict()
    assert (outcome.tokens_before, outcome.tokens_after) == (report.tokens_before, report.tokens_after)
    assert (outcome.tokens_saved, outcome.within_budget, outcome.error) == (report.tokens_saved, True, None)
    assert (outcome.documents_kept, outcome.documents_partial, outcome.documents_dropped) == (
        states.count("kept"),
        states.count("partial"),
        states.count("dropped"),
    )


@pytest.mark.parametrize("target", [300, 700, 100_000], ids=["tight", "half", "unchanged"])
@pytest.mark.parametrize("strategy", PLAIN_STRATEGIES)
def test_an_outcome_is_what_a_fit_gives(strategy, target):
    chosen = PlaygroundSettings(model="gpt-4o", target_tokens=target, shares=WIDE, output_reserve=500)
    outcome = {one.strategy: one for one in compare(gate_request(), chosen).outcomes}[strategy]
    budget = ContextBudget.for_model("gpt-4o", target_tokens=target, shares=WIDE, output_reserve=500)

    assert_same(outcome, fit(gate_request(), budget, history=POLICIES[strategy]))


@settings(max_examples=examples(60))
@given(
    request=small_requests,
    target=st.integers(1, 200),
    selection=st.sampled_from(["score", "passages", "optimal"]),
)
def test_any_request_gives_what_a_fit_gives(request, target, selection):
    chosen = PlaygroundSettings(target_tokens=target, selection=selection)
    for outcome in compare(request, chosen).outcomes:
        try:
            fitted = fit(
                request,
                ContextBudget(target_tokens=target),
                history=POLICIES[outcome.strategy],
                documents=DocumentPolicy(selection=selection),
            )
        except ValueError as error:
            assert (outcome.error, outcome.fitted, outcome.within_budget) == (str(error), None, False)
        else:
            assert_same(outcome, fitted)


@settings(max_examples=examples(60))
@given(rows=openai_messages(), target=st.integers(1, 400))
def test_any_pasted_conversation_is_compared(rows, target):
    found = read_history(json.dumps(rows))
    for outcome in compare(found.request, PlaygroundSettings(model="gpt-4o", target_tokens=target)).outcomes:
        assert (outcome.error is None) is outcome.within_budget is (outcome.fitted is not None)
        if outcome.fitted is not None:
            assert outcome.tokens_after <= target
            assert outcome.tokens_saved == max(0, outcome.tokens_before - outcome.tokens_after)


@pytest.mark.parametrize("target", [200, 400, 1_000], ids=["tight", "less", "more"])
def test_turns_are_counted_by_what_is_left_of_their_messages(target):
    for outcome in compare(gate_request(turns=15), PlaygroundSettings(target_tokens=target, shares=WIDE)).outcomes:
        trimming = outcome.fitted.history
        kept = set(trimming.kept)
        states = Counter(
            "dropped"
            if kept.isdisjoint(turn)
            else ("kept" if kept.issuperset(turn) and not set(turn) & trimming.shortened.keys() else "shortened")
            for turn in [(2 * number, 2 * number + 1) for number in range(15)]
        )
        turns = {"kept": outcome.turns_kept, "shortened": outcome.turns_shortened, "dropped": outcome.turns_dropped}
        assert Counter(turns) == states
        assert outcome.turns_summarized == 0


def test_what_is_saved_is_shown_in_dollars_at_custom_prices():
    chosen = PlaygroundSettings(model="gpt-4o", target_tokens=400, prices={"gpt-4o": 10})
    for outcome in compare(gate_request(), chosen).outcomes:
        assert outcome.saved_usd == pytest.approx(outcome.tokens_saved * 10 / 10**6)
        assert outcome.cost_usd == pytest.approx(outcome.tokens_after * 10 / 10**6)


def test_without_a_model_no_dollars_are_shown():
    outcomes = compare(gate_request(), PlaygroundSettings(target_tokens=400)).outcomes

    assert {(outcome.saved_usd, outcome.cost_usd) for outcome in outcomes} == {(None, None)}


def test_a_moved_share_changes_what_is_kept():
    few = PlaygroundSettings(target_tokens=700, shares={"system": 5, "query": 5, "documents": 80, "history": 10})
    many = replace(few, shares=Shares(system=5, query=5, documents=10, history=80))
    documents, history = (compare(gate_request(), chosen).outcomes[1] for chosen in (few, many))

    assert documents.documents_kept > history.documents_kept
    assert documents.turns_kept < history.turns_kept


def test_a_comparison_is_repeatable_and_changes_nothing():
    request = gate_request()
    before = (list(request.history), list(request.documents))
    chosen = PlaygroundSettings(model="gpt-4o", target_tokens=500)
    first, again = compare(request, chosen), compare(request, chosen)

    assert first.outcomes == again.outcomes
    assert (list(request.history), list(request.documents)) == before
    assert chosen == PlaygroundSettings(model="gpt-4o", target_tokens=500)


def test_nothing_is_logged(caplog):
    caplog.set_level(logging.DEBUG)
    compare(gate_request(), PlaygroundSettings(model="gpt-4o", target_tokens=500))

    assert not caplog.records


def test_a_request_without_a_question_is_compared_too():
    request = ContextRequest(history=[Message(role="assistant", content="Key 777. " * 50)])

    assert len(compare(request, PlaygroundSettings(target_tokens=20)).outcomes) == len(PLAIN_STRATEGIES)


def test_with_a_summarizer_the_summarizing_strategies_are_compared_too():
    answer = CountingAnswer()
    chosen = PlaygroundSettings(target_tokens=500, shares=WIDE, summarizer=summarizer(answer))
    outcomes = compare(gate_request(), chosen).outcomes

    assert [outcome.strategy for outcome in outcomes] == [*PLAIN_STRATEGIES, *SUMMARIZING_STRATEGIES]
    assert [outcome.turns_summarized > 0 for outcome in outcomes] == [False] * 5 + [True] * 2
    assert len(answer.asked) == 2


def test_the_strategies_come_in_the_order_in_which_they_are_asked_for():
    outcomes = compare(gate_request(), PlaygroundSettings(target_tokens=500, strategies=["turns", "auto"])).outcomes

    assert [outcome.strategy for outcome in outcomes] == ["turns", "auto"]


def test_a_query_that_does_not_fit_is_an_error_of_each_strategy_without_content():
    request = ContextRequest(query="lantern " * 9, fixed_tokens=100)
    comparison = compare(request, PlaygroundSettings(target_tokens=50))

    assert comparison.budget.input_budget == 50
    for outcome in comparison.outcomes:
        assert outcome.error
        assert "lantern" not in outcome.error
        assert (outcome.fitted, outcome.tokens_after, outcome.within_budget) == (None, None, False)


def test_a_reserve_that_leaves_nothing_is_an_error_of_each_strategy():
    comparison = compare(gate_request(), PlaygroundSettings(model="gpt-4o", output_reserve=10**6))

    assert comparison.budget is None
    assert {outcome.error.partition(":")[0] for outcome in comparison.outcomes} == {"nothing is left for the input"}
    assert len(comparison.outcomes) == len(PLAIN_STRATEGIES)


def test_shares_of_little_in_sum_are_warned_of_once_the_settings_are_made():
    with pytest.warns(BudgetWarning, match="add up to 40 %"):
        PlaygroundSettings(target_tokens=500, shares={"system": 10, "query": 10, "documents": 10, "history": 10})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param({}, "`model` or `target_tokens` must be given", id="no limit"),
        pytest.param({"model": " "}, "`model` must be the id of a model", id="a blank model"),
        pytest.param({"target_tokens": 0}, "`target_tokens` must be .* got 0", id="a target of 0"),
        pytest.param({"target_tokens": 9, "output_reserve": -1}, "`output_reserve` must be", id="a negative reserve"),
        pytest.param(
            {"target_tokens": 9, "shares": {"documents": 101}}, "`documents` must be a percentage", id="a share of 101"
        ),
        pytest.param({"target_tokens": 9, "shares": 7}, "`shares`: expected Shares", id="shares of 7"),
        pytest.param(
            {"target_tokens": 9, "strategies": ("newest",)}, "`strategies` must be of", id="an unknown strategy"
        ),
        pytest.param(
            {"target_tokens": 9, "strategies": ("auto", "auto")}, "name each strategy once", id="a strategy twice"
        ),
        pytest.param({"target_tokens": 9, "strategies": "auto"}, "`strategies` must be a sequence", id="a text"),
        pytest.param({"target_tokens": 9, "strategies": ("hybrid",)}, "`summarizer` must be given", id="no summarizer"),
        pytest.param({"target_tokens": 9, "summarizer": 7}, "`summarizer` must have", id="a summarizer of 7"),
        pytest.param(
            {"target_tokens": 9, "selection": "best"}, "`selection` must be one of", id="an unknown selection"
        ),
        pytest.param({"target_tokens": 9, "prices": 7}, "`prices` must map", id="prices of 7"),
    ],
)
def test_settings_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        PlaygroundSettings(**arguments)


def test_what_is_no_request_is_refused():
    with pytest.raises(TypeError, match="`request` must be a ContextRequest"):
        compare("Which key?", PlaygroundSettings(target_tokens=500))
