"""What-if: every combination of settings is one row, and each row is what a fit with that setting gives."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import (
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    DocumentPolicy,
    HistoryPolicy,
    Shares,
    counter_for,
    fit,
    plan,
    sweep,
)
from drawn_examples import examples
from gate_requests import gate_request, small_requests

WORDS = counter_for(lambda text: len(text.split()))
WIDE = Shares(system=10, query=10, documents=20, history=60)


def test_there_is_a_row_for_each_combination_in_the_order_of_the_settings():
    table = sweep(
        [gate_request(), gate_request(turns=3)],
        budgets=[200, 0.5, ContextBudget(context_window=400, output_reserve=100)],
        shares=[Shares(), {"system": 10, "query": 10, "documents": 20, "history": 60}],
        strategies=["turns", HistoryPolicy(strategy="turns", keep_first_user_message=False)],
        documents=["score", DocumentPolicy(selection="passages")],
        counter=WORDS,
    )

    assert len(table) == 2 * 3 * 2 * 2 * 2
    assert [row.request for row in table] == [0] * 24 + [1] * 24
    assert [(row.budget, row.fraction) for row in table[:24:8]] == [(200, None), (600, 0.5), (300, None)]
    assert [row.history_share for row in table[:8:4]] == [25, 60]
    assert [row.strategy for row in table[:4:2]] == ["turns", "turns(keep_first_user_message=False)"]
    assert [row.selection for row in table[:2]] == ["score", "passages"]


@pytest.mark.parametrize("budget", [60, 200, 2_000], ids=["tight", "half", "unchanged"])
def test_a_row_has_the_figures_of_the_report_of_a_fit(budget):
    given_budget = ContextBudget(target_tokens=budget, shares=WIDE)
    policy = HistoryPolicy(strategy="turns")
    (row,) = sweep(gate_request(), budgets=budget, shares=WIDE, strategies="turns", counter=WORDS)
    report = plan(gate_request(), given_budget, counter=WORDS, history=policy)
    states = [document.state for document in report.documents]

    assert (row.budget, row.system_share, row.query_share, row.documents_share, row.history_share) == (
        *(budget, 10, 10, 20, 60),
    )
    assert (row.tokens_before, row.tokens_after, row.tokens_saved, row.ratio, row.fixed) == (
        *(report.tokens_before, report.tokens_after, report.tokens_saved, report.ratio, report.fixed),
    )
    for name, component in report.components.items():
        assert getattr(row, f"{name}_before") == component.before
        assert getattr(row, f"{name}_after") == component.after
    assert [row.documents_kept, row.documents_partial, row.documents_dropped] == [
        states.count(state) for state in ("kept", "partial", "dropped")
    ]
    history = report.history
    assert (row.messages_kept, row.messages_shortened, row.messages_summarized, row.messages_dropped) == (
        *(history.kept, history.shortened, history.summarized, history.dropped),
    )
    assert row.error is row.fallback is row.evidence is row.cost is None


def test_by_default_quarters_of_the_request_are_tried_and_the_last_one_is_all_of_it():
    table = sweep(gate_request(), counter=WORDS)

    assert [row.fraction for row in table] == [0.25, 0.5, 0.75, 1.0]
    assert table[-1].ratio == 1
    assert table[-1].budget == table[-1].tokens_before


@pytest.mark.parametrize(
    ("part", "tokens"),
    [(0.3, 30), (Fraction(1, 3), 34), (0.001, 1), (1.0, 100)],
    ids=["tenths", "third", "least", "all"],
)
def test_a_part_of_the_request_is_rounded_up_to_whole_tokens(part, tokens):
    hundred = ContextRequest(query="w " * 93)

    assert [row.budget for row in sweep(hundred, budgets=[part], counter=WORDS)] == [tokens]


def test_a_setting_that_cannot_be_fitted_is_a_row_with_the_reason_and_no_figures():
    table = sweep(gate_request(), budgets=[2, 300], counter=WORDS, evidence=["Be brief."])
    failed, fitted = table
    with pytest.raises(ContextBudgetError) as raised:
        fit(gate_request(), ContextBudget(target_tokens=2), counter=WORDS)

    assert failed.error == str(raised.value)
    assert (failed.budget, failed.strategy) == (2, "auto")
    known = {name for name, value in failed.to_dict().items() if value is not None}
    shares = {"system_share", "query_share", "documents_share", "history_share"}
    assert known == {"request", "budget", "strategy", "selection", "error"} | shares
    assert fitted.error is None
    assert fitted.evidence == 1


def test_protect_and_task_mean_what_they_mean_in_a_fit():
    long_query = replace(gate_request(), query="Where is it? " * 100)

    assert sweep(long_query, budgets=100, counter=WORDS)[0].error is None
    assert sweep(long_query, budgets=100, counter=WORDS, protect="query")[0].error is not None
    asked = sweep(
        gate_request(), budgets=120, counter=WORDS, ranking_query="Which key opens gate 9?", evidence="key 999"
    )
    assert [row.evidence for row in asked] == [1]


def test_t15_costs_follow_the_report_where_the_price_is_known():
    known = sweep(gate_request(), budgets=[100, 0.5], model="gpt-4o", prices={"gpt-4o": 2.0})
    unknown = sweep(gate_request(), budgets=[100, 0.5], counter=WORDS)

    for row in known:
        assert row.cost == row.tokens_after * 2 / 1_000_000
        assert row.cost_saved == pytest.approx(row.tokens_saved * 2 / 1_000_000)
    assert {row.cost for row in unknown} == {None}


def test_own_prices_are_added_to_those_of_a_budget():
    budget = ContextBudget.for_model("gpt-4o", target_tokens=100, prices={"gpt-4o": 9, "gpt-4.1": 1})

    assert sweep(gate_request(), budgets=budget, prices={"gpt-4o": 2})[0].cost == pytest.approx(2 / 10_000, rel=0.1)


def test_a_model_limits_its_budgets_and_counts_with_its_tokenizer():
    row = sweep(gate_request(), budgets=10**9, model="gpt-4o")[0]

    assert row.budget == 128_000 - 4_096
    assert row.tokens_before == plan(gate_request(), ContextBudget.for_model("gpt-4o")).tokens_before


def test_each_text_is_counted_once_over_all_settings_and_each_message_converted_once():
    asked, read = Counter(), Counter()

    def count(text):
        asked[text] += 1
        return len(text.split())

    given_request = gate_request()
    views = LazyMessages(given_request.history, read)
    sweep(
        replace(given_request, history=views),
        budgets=[100, 200, 0.5, 0.9],
        shares=[Shares(), WIDE],
        strategies=["turns", "auto", "sliding_window"],
        counter=count,
    )
    whole = [message.content for message in given_request.history] + [
        document.text for document in given_request.documents
    ]

    assert {asked[text] for text in whole} <= {0, 1}
    assert max(asked[message.content] for message in given_request.history) == 1
    assert set(read.values()) == {1}


class LazyMessages:
    """Views that note how often each message is built."""

    def __init__(self, messages, read):
        self.messages = messages
        self.read = read

    def __len__(self):
        return len(self.messages)

    def __getitem__(self, index):
        self.read[index] += 1
        return self.messages[index]

    def plain(self, index):
        raise AssertionError(index)

    backwards = system_indices = plain


def test_m4_nothing_is_logged_and_the_request_stays_as_it_is(caplog):
    given_request = gate_request()
    with caplog.at_level(logging.DEBUG, logger="ctxopt_core"):
        sweep(given_request, budgets=[50, 1.0], counter=WORDS)

    assert caplog.records == []
    assert given_request == gate_request()


def test_progress_is_called_before_the_first_row_and_after_each():
    calls = []
    sweep(
        gate_request(), budgets=[50, 100, 150], counter=WORDS, progress=lambda done, total: calls.append((done, total))
    )

    assert calls == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(("progress", "shown"), [(True, "3/3"), (False, ""), (None, "")], ids=["bar", "off", "default"])
def test_a_progress_bar_is_shown_when_it_is_asked_for(progress, shown, capsys):
    pytest.importorskip("tqdm")
    sweep(gate_request(), budgets=[50, 100, 150], counter=WORDS, progress=progress)
    written = capsys.readouterr().err

    assert shown in written
    assert bool(written) is bool(shown)


def test_without_tqdm_a_bar_is_an_error_that_names_the_extra_before_anything_is_fitted(monkeypatch):
    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(ImportError, match=r"ctxopt-core\[notebook\]"):
        sweep(gate_request(), evidence=lambda fitted: pytest.fail("fitted"), progress=True)


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ({"budgets": []}, ValueError, "`budgets` must hold at least one"),
        ({"budgets": [0]}, ValueError, "`budgets` must be a whole number of tokens, at least 1"),
        ({"budgets": [1.5]}, ValueError, "`budgets` must hold tokens"),
        ({"budgets": [True]}, ValueError, "got True"),
        ({"budgets": None}, ValueError, "got None"),
        ({"shares": [{"histroy": 10}]}, ValueError, "`shares`: Shares has no setting `histroy`"),
        ({"shares": []}, ValueError, "`shares` must hold at least one"),
        ({"strategies": ["newest"]}, ValueError, "`strategy` must be one of"),
        ({"strategies": "summarize"}, ValueError, "`summarizer` must be given"),
        ({"strategies": [3]}, ValueError, "`strategies`: expected HistoryPolicy"),
        ({"documents": ["best"]}, ValueError, "`selection` must be one of"),
        ({"documents": [DocumentPolicy]}, ValueError, "`documents`: expected DocumentPolicy"),
        ({"evidence": []}, ValueError, "`evidence` must be at least one string"),
        ({"evidence": [" "]}, ValueError, "none of them blank"),
        ({"evidence": 7}, TypeError, "`evidence` must be a function"),
        ({"evidence": ["Be brief.", "not there"]}, ValueError, "of its 2 strings number 2 is in none"),
        ({"model": 7}, TypeError, "`model` must be a model id"),
        ({"prices": {"gpt-4o": 1}}, ValueError, "`prices` are by model"),
        ({"progress": 7}, TypeError, "`progress` must be True, None or a function"),
        ({"protect": "history"}, ValueError, "`protect` may name"),
        ({"ranking_query": 7}, TypeError, "`ranking_query` must be a string"),
        ({"request": []}, ValueError, "`request` must be a ContextRequest or several, got none"),
        ({"request": "hello"}, TypeError, "`request` must be a ContextRequest or several, got str"),
    ],
)
def test_a4_a_wrong_argument_is_named_with_its_remedy(arguments, error, named):
    with pytest.raises(error) as raised:
        sweep(**{"request": gate_request(), "counter": WORDS, **arguments})

    assert named in str(raised.value)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(small_requests, min_size=1, max_size=2),
    st.lists(st.one_of(st.integers(1, 90), st.floats(0.01, 1.0)), min_size=1, max_size=4),
    st.lists(st.sampled_from(["turns", "auto", "sliding_window", "relevance"]), min_size=1, max_size=3),
    st.lists(st.sampled_from(["score", "passages", "density"]), min_size=1, max_size=2),
)
def test_rows_are_the_product_of_the_settings_and_each_keeps_its_budget(
    given_requests, budgets, strategies, selections
):
    arguments = {"budgets": budgets, "strategies": strategies, "documents": selections, "counter": WORDS}
    table = sweep(given_requests, **arguments, evidence=lambda fitted: fitted.report.ratio)

    assert len(table) == len(given_requests) * len(budgets) * len(strategies) * len(selections)
    assert table == sweep(given_requests, **arguments, evidence=lambda fitted: fitted.report.ratio)
    for row in table:
        assert row.error or row.tokens_after <= row.budget
        assert row.error or row.tokens_saved == row.tokens_before - row.tokens_after
        assert row.error or row.evidence == row.ratio
