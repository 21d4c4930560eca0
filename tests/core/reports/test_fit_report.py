"""The account of a fit: complete, lazy, and without content."""

from __future__ import annotations

import json
import pickle
import re

import pytest

from ctxopt_core import (
    ContextBudget,
    ContextRequest,
    Document,
    DocumentPolicy,
    FitReport,
    Message,
    counter_for,
    fit,
    plan,
)

WORDS = counter_for(lambda text: len(text.split()))
SECRET = "hunter2 swordfish"


def request(turns=20):
    return ContextRequest(
        system=f"Keep {SECRET} to yourself.",
        query=f"Where is {SECRET}?",
        documents=[Document(id=f"d{i}", text=f"{SECRET} {i} " * 10, score=i) for i in range(10)]
        + [Document(id="blank", text=" ")],
        history=[Message(role=r, content=f"{SECRET} {i} " * 5) for i in range(turns) for r in ("user", "assistant")],
    )


BUDGET = ContextBudget(context_window=400, output_reserve=50, safety_margin=10)


def test_m1_the_report_has_every_figure():
    report = plan(request(), BUDGET, counter=WORDS)

    assert report.input_budget == 340
    assert report.reserve == 60
    assert report.tokens_after <= 340 < report.tokens_before
    assert report.tokens_saved == report.tokens_before - report.tokens_after
    assert report.ratio == pytest.approx(report.tokens_after / report.tokens_before)
    assert report.within_budget
    assert report.context_window == 400
    assert report.strategy == "relevance"
    assert report.fallback is None
    assert report.exact
    reasons = {row.id: row.reason for row in report.dropped_documents}
    assert reasons["blank"] == "empty"
    assert set(reasons.values()) <= {"budget", "empty"}
    for component in report.components.values():
        assert component.budget is not None
        assert component.after <= component.before
    total = report.fixed + sum(component.after for component in report.components.values())
    assert report.tokens_after == pytest.approx(total, abs=4)


def test_d14_documents_are_reported_with_reason_tokens_and_the_score_that_was_kept():
    documents = [
        Document(id="big", text="w " * 500, score=9),
        *(Document(id=f"d{i}", text=f"v{i} " * 10, score=8 - i) for i in range(6)),
    ]
    request = ContextRequest(query="why", documents=documents)
    whole_only = DocumentPolicy(passages=False)
    report = plan(request, ContextBudget(max_input_tokens=60), counter=WORDS, documents=whole_only)
    by_id = {row.id: row for row in report.documents}

    assert by_id["big"].state == "dropped"
    assert by_id["big"].outranked
    assert not any(row.outranked for row in report.documents if row.id != "big")
    assert report.document_tokens[0] == 500
    assert report.cumulative_score == sum(row.score for row in report.documents if row.state != "dropped")
    assert "outranks a kept one" in str(report)
    assert report.to_dict()["documents"][0]["tokens"] == 500


def test_an_id_that_is_the_index_of_another_document_is_distinct():
    documents = [Document(id=None if i else "2", text=f"v{i} " * 20, score=i) for i in range(5)]
    report = plan(ContextRequest(query="why", documents=documents), ContextBudget(max_input_tokens=50), counter=WORDS)

    assert len(report.documents) == 5
    assert len(report.dropped_documents) == 3


def test_m1_model_window_source_and_encoding_are_named():
    report = plan(request(), ContextBudget.for_model("gpt-4o", target_tokens=300))

    assert report.model == "gpt-4o"
    assert report.context_window == 128_000
    assert report.window_source == "catalog"
    assert report.encoding == "o200k_base"
    assert not plan(request(), ContextBudget.for_model("claude-sonnet-4-5", target_tokens=300)).exact


def test_m1_nothing_in_counts_as_ratio_1():
    report = plan(ContextRequest(), BUDGET, counter=counter_for(lambda text: 0))

    assert (
        FitReport(
            input_budget=1, fixed=0, reserve=0, unchanged=False, counted_after=0, count_before=lambda: {"whole": 0}
        ).ratio
        == 1
    )
    assert report.unchanged
    assert report.tokens_saved == 0


@pytest.mark.parametrize("turns", [0, 20], ids=["unchanged", "cut"])
def test_m3_the_report_holds_no_content(turns):
    small = ContextRequest(system=SECRET, query=SECRET, history=request(1).history)
    report = plan(request(turns) if turns else small, BUDGET, counter=WORDS)

    for shown in (str(report), repr(report), json.dumps(report.to_dict()), json.dumps(report.to_event())):
        assert "hunter2" not in shown
        assert "swordfish" not in shown


def test_m4_a_plan_is_the_report_of_the_fit_and_changes_nothing():
    given = request()

    assert plan(given, BUDGET, counter=WORDS).to_dict() == fit(given, BUDGET, counter=WORDS).report.to_dict()
    assert given == request()


def test_the_table_is_aligned_and_names_all_parts():
    lines = str(plan(request(), BUDGET, counter=WORDS)).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("part"))
    table = lines[start : start + 8]

    parts = ["part", "fixed", "system", "query", "documents", "history", "free", "reserve"]
    assert [line.split()[0] for line in table] == parts
    assert len({len(line) for line in table}) == 1


@pytest.mark.parametrize(
    ("turns", "sizes"),
    [
        pytest.param(1, "Conversation: 1 turn, ", id="one"),
        pytest.param(2, "Conversation: 2 turns, ", id="two"),
    ],
)
def test_one_turn_is_reported_as_one(turns, sizes):
    report = plan(request(turns), BUDGET, counter=WORDS)

    assert sizes in report.to_text()


def test_a_window_that_is_not_given_has_no_source():
    report = plan(request(), ContextBudget(target_tokens=100), counter=WORDS)

    assert re.search(r"^context window +not given$", report.to_text(), re.MULTILINE)


def test_a_report_pickles_with_its_figures_and_without_the_request():
    report = plan(request(), BUDGET, counter=WORDS)

    stored = pickle.dumps(report)
    again = pickle.loads(stored)  # noqa: S301

    assert b"hunter2" not in stored
    assert again.to_dict() == report.to_dict()


def test_to_dict_is_plain_json():
    figures = plan(request(), BUDGET, counter=WORDS).to_dict()

    assert json.loads(json.dumps(figures)) == figures
    assert figures["history"]["dropped"] == figures["history"]["messages"] - figures["history"]["kept"]
