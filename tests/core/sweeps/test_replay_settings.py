"""Replay: settings and evidence as they are given, what is recommended and shown, and errors."""

from __future__ import annotations

import json
import pickle
import re

import pytest

from ctxopt_core import (
    ContextRequest,
    HistoryPolicy,
    Message,
    Shares,
    replay,
)
from ctxopt_core.sweeps.replay_rows import ReplayTotal, recommended_total
from replayed_chats import IN_STEPS, WORDS, chat, rows_of_chat


@pytest.mark.parametrize(
    "strategies",
    [
        pytest.param({"a": "turns", "b": {"strategy": "turns", "stable_prefix": True}}, id="names"),
        pytest.param({"a": {"history": "turns"}, "b": {"history": IN_STEPS}}, id="with history"),
        pytest.param({"a": HistoryPolicy(strategy="turns"), "b": IN_STEPS}, id="policies"),
    ],
)
def test_u10_settings_are_compared_by_name(strategies):
    found = replay(chat(40), strategies, budget=300, counter=WORDS)

    assert [one.name for one in found.strategies] == ["a", "b"]
    assert [one.history for one in found.strategies] == [HistoryPolicy(strategy="turns"), IN_STEPS]
    assert {row.strategy for row in found.rows_of("b")} == {"b"}
    assert len(found.rows_of("a")) == len(found.rows_of("b")) == 40


@pytest.mark.parametrize("name", ["stable_prefix", "scorer", "strategy"])
def test_u10_a_name_may_be_that_of_a_field(name):
    found = replay(chat(3), {name: IN_STEPS, "newest": "turns"}, budget=300, counter=WORDS)

    assert [one.name for one in found.strategies] == [name, "newest"]


def test_u10_a_mapping_of_fields_is_one_setting():
    found = replay(chat(3), {"strategy": "turns", "stable_prefix": True}, budget=300, counter=WORDS)

    assert [one.name for one in found.strategies] == ["turns(stable_prefix=True)"]


def test_u10_only_the_last_requests_are_replayed_where_that_is_asked_for():
    found = replay(chat(9), ["turns", "auto"], budget=90, counter=WORDS, last_requests=3, evidence="Answer 7")
    whole = replay(chat(9), ["turns", "auto"], budget=90, counter=WORDS)

    assert [row.request for row in found.rows] == [6, 7, 8] * 2
    assert found.rows[0].cached_tokens == 0
    assert [row.tokens_after for row in found.rows_of("auto")] == [
        row.tokens_after for row in whole.rows_of("auto")[6:]
    ]
    assert [row.cached_tokens for row in found.rows[1:3]] == [row.cached_tokens for row in whole.rows[7:9]]


def test_u10_a_setting_may_have_limits_and_options_of_its_own():
    settings = {
        "narrow": {"history": "turns", "target_tokens": 100, "shares": {"history": 60}, "protect": "query"},
        "late": {"history": {"strategy": "turns"}, "trigger": 0.5, "overflow": "empty", "ranking_query": "lamps"},
        "common": "turns",
    }
    found = replay(chat(40), settings, budget=300, counter=WORDS)

    assert [found.rows_of(name)[0].budget for name in settings] == [100, 300, 300]
    assert max(row.tokens_after for row in found.rows_of("narrow")) <= 100
    assert max(row.tokens_after for row in found.rows_of("late")) < 150
    assert found.strategies[0].limits["shares"] == Shares(history=60)


@pytest.mark.parametrize(
    ("evidence", "shown"),
    [
        pytest.param("Answer 1 ", [None, None, 1, 1, 0], id="string for all"),
        pytest.param(["Question 0 ", "Answer 1 "], [1, 1, 1, 0.5, 0], id="strings for all"),
        pytest.param({4: ["Question 4 ", "Question 0 "]}, [None, None, None, None, 0.5], id="by request"),
        pytest.param({0: "Question 0 ", 2: "Answer 1 "}, [1, None, 1, None, None], id="others by request"),
        pytest.param(lambda fitted: len(fitted.history.kept), [1, 3, 5, 5, 5], id="function"),
    ],
)
def test_u10_evidence_is_for_all_requests_or_by_request(evidence, shown):
    policy = HistoryPolicy(strategy="turns", keep_first_user_message=False, placeholder=False)
    found = replay(chat(5), policy, budget=68, counter=WORDS, evidence=evidence)

    assert [row.evidence for row in found.rows] == shown
    known = [value for value in shown if value is not None]
    assert found.totals[0].evidence == pytest.approx(sum(known) / len(known))


def test_u10_a_request_that_cannot_be_fitted_is_a_row_with_the_reason():
    conversation = [*chat(3), Message(role="user", content="word " * 500), *chat(3)[1:]]
    found = replay(conversation, {"a": {"history": "turns", "protect": "query"}}, budget=100, counter=WORDS)
    failed = [row for row in found.rows if row.error is not None]

    assert [row.request for row in failed] == [3]
    assert failed[0].tokens_after is failed[0].cost is failed[0].cached_tokens is None
    assert (found.totals[0].failed, found.totals[0].requests) == (1, 6)
    assert "1 of 6 requests could not be fitted" in str(found)


def total(name: str, cost: float, evidence: float | None = None, failed: int = 0) -> ReplayTotal:
    return ReplayTotal(
        strategy=name,
        requests=10,
        failed=failed,
        tokens_before=1_000,
        tokens_after=1_000,
        cached_tokens=0,
        cached_share=0.0,
        relative_cost=cost,
        cost=None,
        cost_with_cache=None,
        evidence=evidence,
        seconds=0.0,
    )


@pytest.mark.parametrize(
    ("totals", "margin", "name", "why"),
    [
        pytest.param([total("a", 2), total("b", 1)], 0.02, "b", "nothing says what must survive", id="cost alone"),
        pytest.param([total("a", 2, 0.99), total("b", 1, 0.98)], 0.02, "b", "of the 2 whose", id="within"),
        pytest.param([total("a", 2, 0.99), total("b", 1, 0.9)], 0.02, "a", "it alone is within", id="outside"),
        pytest.param([total("a", 2, 0.99), total("b", 1, 0.9)], 0.1, "b", "within 0.1 of", id="wider margin"),
        pytest.param([total("a", 1, 0.98), total("b", 1, 0.99)], 0.02, "b", "", id="same cost, more evidence"),
        pytest.param([total("a", 1, 0.9), total("b", 1, 0.9)], 0.02, "a", "", id="first of equals"),
        pytest.param([total("a", 1, 0.9, 2), total("b", 3, 0.8, 1)], 0.02, "b", "fail least", id="fewest failures"),
        pytest.param([total("a", 1)], 0.02, "a", "the only one", id="one"),
    ],
)
def test_u10_the_cheapest_of_those_with_the_evidence_is_recommended(totals, margin, name, why):
    found, reason = recommended_total(totals, margin)

    assert found.strategy == name
    assert why in reason


def test_u10_all_of_it_is_plain_data_and_can_be_shown():
    found = replay(chat(20), {"new": "turns", "<b>": IN_STEPS}, budget=200, counter=WORDS, evidence="Answer 3")
    stored = json.loads(json.dumps(found.to_dict()))

    assert [row["tokens_after"] for row in stored["rows"]] == [row.tokens_after for row in found.rows]
    assert stored["recommended"] == {"strategy": found.recommended.strategy, "reason": found.recommended.reason}
    assert [total["strategy"] for total in stored["totals"]] == ["new", "<b>"]
    for text in (str(found), found.table(), found._repr_html_()):
        assert "Replay: 20 requests of a conversation, 2 settings" in text
        assert "word word" not in text
    assert found.recommended.reason in str(found)
    assert "<b>" not in found._repr_html_()
    assert len(found.table().splitlines()) >= 40
    assert len(found.to_frame()) == 40
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301  # it was just made
    assert replay(chat(20), {"new": "turns", "<b>": IN_STEPS}, budget=200, counter=WORDS, evidence="Answer 3") == found


def test_u10_the_plot_has_a_panel_for_each_setting_and_a_line_of_what_was_paid():
    found = replay(chat(20), {"new": "turns", "_$x$": IN_STEPS}, budget=200, counter=WORDS)
    figure = found.plot()
    first, second, paid = figure.axes

    for axes, name in ((first, "new"), (second, "_$x$")):
        rows = found.rows_of(name)
        cached, sent = (patch.get_data() for patch in axes.patches)
        assert list(cached.values) == list(sent.baseline) == [row.cached_tokens for row in rows]
        assert list(sent.values) == [row.tokens_after for row in rows]
    assert [line.get_ydata()[-1] for line in paid.lines] == pytest.approx([one.relative_cost for one in found.totals])
    assert "new: " in figure.in_words
    figure.savefig("/dev/null", format="svg")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"conversation": "text"}, TypeError, "`conversation` must be a ContextRequest, Messages"),
        ({"conversation": [1]}, TypeError, "got list of int"),
        ({"conversation": []}, ValueError, "`conversation` must hold messages"),
        ({"conversation": {"a": 1}}, ValueError, "`conversation` must hold messages"),
        ({"conversation": [{"role": "user", "content": 3}]}, TypeError, "messages"),
        ({"conversation": ContextRequest()}, ValueError, "at least one message"),
        ({"conversation": [Message(role="assistant", content="Hi")]}, ValueError, "must have a user message"),
        ({"strategies": []}, ValueError, "`strategies` must hold at least one"),
        ({"strategies": {}}, ValueError, "`strategies` must hold at least one"),
        ({"strategies": 3}, TypeError, "`strategies` must be history strategies"),
        ({"strategies": "newest"}, ValueError, "`strategy` must be one of"),
        ({"strategies": {"": "turns"}}, ValueError, "names that are strings and not blank"),
        ({"strategies": {"a": {"strategi": "turns"}}}, ValueError, "HistoryPolicy has no setting `strategi`"),
        ({"strategies": {"a": {"history": "turns", "limit": 3}}}, ValueError, "has no limit; it may have"),
        ({"strategies": {"a": {"history": "turns", "protect": "documents"}}}, ValueError, "`protect`"),
        ({"strategies": {"a": {"history": "turns", "trigger": 2}}}, ValueError, "`trigger`"),
        ({"model": 3}, TypeError, "`model` must be a model id"),
        ({"budget": None}, ValueError, "give `model` or `budget`"),
        ({"budget": -1}, ValueError, "budgets"),
        ({"budget": 0}, ValueError, "budgets"),
        ({"evidence": "nowhere"}, ValueError, "`evidence` must be in a request"),
        ({"evidence": {9: "Question"}}, ValueError, "from 0 to 1, got it for 9"),
        ({"evidence": {0: "Answer 1"}}, ValueError, "`evidence` must be in a request"),
        ({"evidence": 3}, TypeError, "`evidence` must be a function"),
        ({"margin": 2}, ValueError, "`margin` must be a part"),
        ({"prices": {"gpt-4o": -1}}, ValueError, "must be a price in USD"),
        ({"last_requests": 0}, ValueError, "`last_requests`"),
        ({"progress": 3}, TypeError, "`progress` must be"),
    ],
)
def test_u10_bad_input_is_a_typed_error(arguments, error, message):
    usual = {"conversation": chat(2), "strategies": "turns", "budget": 100, "counter": WORDS}

    with pytest.raises(error, match=re.escape(message)):
        replay(**(usual | arguments))


def test_u10_progress_is_reported_and_nothing_is_changed_or_logged(caplog):
    messages, seen = rows_of_chat(3), []
    before = json.dumps(messages)
    with caplog.at_level("DEBUG", "ctxopt_core"):
        replay(messages, ["turns", "auto"], budget=50, counter=WORDS, progress=lambda *done: seen.append(done))

    assert seen == [(0, 6), *((n, 6) for n in range(1, 7))]
    assert json.dumps(messages) == before
    assert caplog.records == []


def test_u10_a_part_of_the_conversation_is_a_budget():
    found = replay(chat(20), "turns", budget=0.5, counter=WORDS)

    whole = found.rows[-1].tokens_before + 12  # and the last answer
    assert found.rows[-1].budget == -(-whole // 2)
