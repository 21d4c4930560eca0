"""Two log records for each fit: figures that are the report's, no content, and no work where nobody listens."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections import Counter

import pytest

from ctxopt_core import (
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    Document,
    FitReport,
    Message,
    Section,
    afit,
    counter_for,
    fit,
    plan,
)

WORDS = counter_for(lambda text: len(text.split()))
NEEDLE = "hunter2"
SMALL = ContextBudget(context_window=400, output_reserve=50, safety_margin=10)
LARGE = ContextBudget(context_window=4_000, output_reserve=50, safety_margin=10)


def request() -> ContextRequest:
    """A request that holds the needle in every text and in every id."""
    return ContextRequest(
        system=f"Keep {NEEDLE} secret.",
        query=f"Where is {NEEDLE} %s {{}}?",
        documents=[Document(id=f"{NEEDLE}-{i}", text=f"{NEEDLE} {i} " * 10, score=i) for i in range(10)],
        history=[
            Message(role=role, content=f"{NEEDLE} {i} " * 5, name=NEEDLE)
            for i in range(20)
            for role in ("user", "assistant")
        ],
        tools=[{"name": NEEDLE}],
        sections=[Section(name="memories", entries=[f"{NEEDLE} {i}" for i in range(20)], max_tokens=20)],
    )


class Kept(logging.Handler):
    """A handler that keeps records."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


@pytest.fixture
def records(caplog):
    """The records that are made, at every level."""
    caplog.set_level(logging.DEBUG, logger="ctxopt_core")
    handler = Kept()
    logging.getLogger("ctxopt_core").addHandler(handler)
    yield handler.records
    logging.getLogger("ctxopt_core").removeHandler(handler)


def figures(record):
    return record.ctxopt


@pytest.mark.parametrize(
    ("budget", "level"), [pytest.param(LARGE, "DEBUG", id="unchanged"), pytest.param(SMALL, "INFO", id="cut")]
)
def test_m6_a_fit_makes_two_records_of_figures(records, budget, level):
    fit(request(), budget, counter=WORDS)

    assert [figures(record)["record"] for record in records] == ["context_budget", "prompt_budget"]
    assert {record.levelname for record in records} == {level}
    assert {record.name for record in records} == {"ctxopt_core"}
    for record in records:
        assert json.loads(json.dumps(figures(record))) == figures(record)


@pytest.mark.parametrize("budget", [LARGE, SMALL], ids=["unchanged", "cut"])
def test_m3_m6_no_record_holds_content_or_ids(records, budget):
    fit(request(), budget, counter=WORDS)

    assert len(records) == 2
    for record in records:
        assert NEEDLE not in repr(record.__dict__)
        assert NEEDLE not in record.getMessage()


def test_m6_the_figures_are_those_of_the_report(records):
    report = fit(request(), SMALL, counter=WORDS).report
    context, prompt = map(figures, records)
    whole = report.to_dict()

    assert context["messages"] == {"given": 40, "kept": report.history.kept}
    assert context["history"] == {
        "shortened": report.history.shortened,
        "summarized": 0,
        "dropped": whole["history"]["reasons"],
        "turns": report.history.turns,
    }
    states = Counter(row["state"] for row in whole["documents"])
    assert context["documents"] == {state: states[state] for state in ("kept", "partial", "dropped")}
    assert context["components"] == {
        name: {"budget": row["budget"], "after": row["after"]} for name, row in whole["components"].items()
    }
    assert context["sections"] == whole["sections"]
    assert context["sections"][0]["kept"] < 20
    for name in ("model", "context_window", "encoding", "exact", "input_budget", "reserve", "fixed", "tokens_after"):
        assert prompt[name] == whole[name]
    assert prompt["tokens_after"] <= prompt["input_budget"] == 340
    assert prompt["reserve"] == 60


def test_m6_the_message_says_the_main_figures(records):
    report = fit(request(), SMALL, counter=WORDS).report
    fit(request(), LARGE, counter=WORDS)
    texts = [record.getMessage() for record in records]

    assert texts[0].startswith(f"context budget: {report.history.kept} of 40 messages kept")
    assert texts[1].startswith(f"prompt budget: {report.tokens_after} of 340 tokens, {report.fixed} of them fixed")
    assert texts[2].startswith("context budget: 40 of 40 messages kept")
    assert texts[3].startswith("prompt budget: at most 3940 tokens")


@pytest.mark.parametrize("budget", [LARGE, SMALL], ids=["unchanged", "cut"])
def test_m6_the_input_is_not_counted_for_a_record(records, budget):
    report = fit(request(), budget, counter=WORDS).report

    assert len(records) == 2
    assert not {"_before", "components", "document_tokens"} & vars(report).keys()


@pytest.mark.parametrize("level", [logging.WARNING, logging.INFO])
def test_m6_nothing_is_worked_out_for_a_level_that_is_off(caplog, monkeypatch, level):
    asked = []
    as_event = FitReport.to_event
    monkeypatch.setattr(FitReport, "to_event", lambda report: asked.append(report) or as_event(report))
    caplog.set_level(level, logger="ctxopt_core")

    fit(request(), LARGE, counter=WORDS)
    assert (asked, caplog.records) == ([], [])
    fit(request(), SMALL, counter=WORDS)
    assert len(asked) == len(caplog.records) // 2 == (level == logging.INFO)


def test_m6_awaited_and_not_a_fit_logs_the_same(records):
    fit(request(), SMALL, counter=WORDS)
    asyncio.run(afit(request(), SMALL, counter=WORDS))

    assert len(records) == 4
    assert [(r.levelno, r.msg, r.ctxopt) for r in records[:2]] == [(r.levelno, r.msg, r.ctxopt) for r in records[2:]]


def test_m6_a_plan_and_a_request_that_is_refused_log_nothing(records):
    plan(request(), SMALL, counter=WORDS)
    with pytest.raises(ContextBudgetError):
        fit(request(), ContextBudget(max_input_tokens=3), counter=WORDS)

    assert records == []


@pytest.mark.filterwarnings("ignore:a request could not be cut")
def test_m6_a_fit_that_takes_a_second_try_is_logged_once(records):
    sections = [Section(name="memories", entries=["note"] * 30, max_tokens=100)]
    tight = ContextRequest(query="why is this so long? " * 4, sections=sections)
    fit(tight, ContextBudget(max_input_tokens=20), counter=WORDS, overflow="empty")
    fit(request(), ContextBudget(max_input_tokens=340, trigger=0.1), counter=WORDS)

    assert len(records) == 4
    assert figures(records[0])["fallback"] == "empty"


def test_m6_by_default_nothing_is_printed_and_logging_is_not_imported():
    program = (
        "import sys; before = 'logging' in sys.modules; from ctxopt_core import *; "
        "fitted = fit(ContextRequest(query='why ' * 90), ContextBudget(max_input_tokens=40), counter=len); "
        "print(fitted.unchanged, ('logging' in sys.modules) == before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "True"]
    assert done.stderr == ""
