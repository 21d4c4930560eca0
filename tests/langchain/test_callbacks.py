"""The report of a fit as an event, and what of the caller's configuration arrives where."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, AsyncCallbackManager, BaseCallbackHandler, CallbackManager
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig, RunnableLambda

from langchain_ctxopt import ContextOptimizer, RequestOverflowError

SECRET = "marmalade"
LONG = [HumanMessage(f"The {SECRET} lantern hangs over pier seven. " * 60)]
OPTIMIZER = ContextOptimizer(max_input_tokens=60)
PROMPT = ChatPromptTemplate.from_messages([("human", "{context} {question}")])


class Recorder(BaseCallbackHandler):
    """Keeps the names, tags and metadata of runs, and the events."""

    def __init__(self) -> None:
        self.runs: list[tuple[Any, Any, Any]] = []
        self.events: list[tuple[str, Any, Any, Any]] = []
        self.run_ids: list[UUID] = []
        self.errors: list[BaseException] = []

    def on_chain_start(self, *arguments: Any, **options: Any) -> None:
        self.runs.append((options["name"], options["tags"], options["metadata"]))
        self.run_ids.append(options["run_id"])

    def on_chain_error(self, error: BaseException, **options: Any) -> None:
        self.errors.append(error)

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **options: Any) -> None:
        self.events.append((name, data, options["tags"], options["metadata"]))
        assert run_id in self.run_ids


class AsyncRecorder(AsyncCallbackHandler):
    """Keeps the events."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    async def on_custom_event(self, name: str, data: Any, **options: Any) -> None:
        self.events.append((name, data))


def figures(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return [figure for value in data.values() for figure in figures(value)]
    return [data]


def test_i1_the_report_arrives_as_an_event_with_tags_and_metadata() -> None:
    recorder = Recorder()
    OPTIMIZER.invoke(LONG, {"callbacks": [recorder], "tags": ["demo"], "metadata": {"user": 7}, "run_name": "fit"})
    assert recorder.runs == [("fit", ["demo"], {"user": 7})]
    [(name, data, tags, metadata)] = recorder.events
    assert (name, tags, metadata) == ("ctxopt_report", ["demo"], {"user": 7})
    assert data["input_budget"] == 60
    assert data["tokens_after"] <= 60
    assert data["messages"] == {"given": 1, "kept": 1}
    assert data["unchanged"] is False


def test_m3_the_event_holds_figures_and_no_content() -> None:
    recorder = Recorder()
    optimizer = ContextOptimizer(max_input_tokens=80, prompt=PROMPT, model="gpt-4o")
    documents = [Document(page_content=f"{SECRET} " * 50, id=f"{SECRET}-{i}", metadata={"k": SECRET}) for i in range(9)]
    optimizer.invoke({"context": documents, "question": f"Which {SECRET}?"}, {"callbacks": [recorder]})
    [(_, data, _, _)] = recorder.events
    assert SECRET not in json.dumps(data)
    assert {str(figure) for figure in figures(data) if isinstance(figure, str)} == {
        "gpt-4o",
        "o200k_base",
        "passages",
        "relevance",
    }
    assert sum(data["documents"].values()) == 9


async def test_i1_the_event_arrives_at_handlers_of_both_kinds_in_asynchronous_calls() -> None:
    recorder, asynchronous = Recorder(), AsyncRecorder()
    await OPTIMIZER.ainvoke(LONG, {"callbacks": [recorder, asynchronous]})
    assert [name for name, *_ in recorder.events] == ["ctxopt_report"]
    assert asynchronous.events == [(recorder.events[0][0], recorder.events[0][1])]


async def test_i1_the_event_streams_among_the_events_of_a_chain() -> None:
    chain = OPTIMIZER | FakeListChatModel(responses=["ok"])
    seen = [event async for event in chain.astream_events(LONG, version="v2")]
    [report] = [event for event in seen if event["event"] == "on_custom_event"]
    assert report["name"] == "ctxopt_report"
    assert report["data"]["input_budget"] == 60
    names = [event["name"] for event in seen if event["event"] == "on_chain_start"]
    assert names == ["RunnableSequence", "ContextOptimizer"]
    chunks = [event["data"]["chunk"].content for event in seen if event["event"] == "on_chat_model_stream"]
    assert chunks[:2] == ["o", "k"]


def test_i1_inside_a_chain_the_step_is_tagged_and_inherits() -> None:
    recorder = Recorder()
    chain = RunnableLambda(lambda value: value) | OPTIMIZER
    chain.invoke(LONG, {"callbacks": [recorder], "tags": ["outer"]})
    name, tags, _ = recorder.runs[-1]
    assert name == "ContextOptimizer"
    assert sorted(tags) == ["outer", "seq:step:2"]
    assert len(recorder.events) == 1


def test_i1_handlers_bound_with_with_config_get_the_event() -> None:
    recorder = Recorder()
    bound = OPTIMIZER.with_config(callbacks=[recorder], run_name="bound", tags=["b"])
    bound.invoke(LONG)
    assert recorder.runs == [("bound", ["b"], {})]
    assert len(recorder.events) == 1


def test_i1_one_event_for_each_input_of_a_batch() -> None:
    recorder = Recorder()
    OPTIMIZER.batch([LONG, LONG, LONG], {"callbacks": [recorder]})
    assert len(recorder.events) == 3


async def test_i1_without_handlers_nothing_is_dispatched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        pytest.fail("an event was dispatched")

    monkeypatch.setattr(CallbackManager, "on_custom_event", refuse)
    monkeypatch.setattr(AsyncCallbackManager, "on_custom_event", refuse)
    assert len(OPTIMIZER.invoke(LONG)) == 1
    assert len(await OPTIMIZER.ainvoke(LONG)) == 1


def test_i1_an_unchanged_request_reports_that_it_was() -> None:
    recorder = Recorder()
    OPTIMIZER.invoke([HumanMessage("Hi")], RunnableConfig(callbacks=[recorder]))
    [(_, data, _, _)] = recorder.events
    assert data["unchanged"] is True
    assert data["messages"] == {"given": 1, "kept": 1}


def test_i1_a_refused_request_ends_its_run_with_the_error_and_no_event() -> None:
    recorder = Recorder()
    with pytest.raises(RequestOverflowError):
        ContextOptimizer(max_input_tokens=5).invoke(LONG, {"callbacks": [recorder]})
    assert recorder.events == []
    assert [type(error) for error in recorder.errors] == [RequestOverflowError]


def test_m1_on_report_gets_the_report_of_each_fit() -> None:
    reports: list[Any] = []
    optimizer = OPTIMIZER.with_changes(on_report=reports.append)
    optimizer.batch([LONG, LONG])
    assert [report.within_budget for report in reports] == [True, True]
    assert SECRET not in json.dumps(reports[0].to_dict()) + reports[0].to_text()
