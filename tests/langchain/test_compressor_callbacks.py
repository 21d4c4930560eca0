"""Where the report of a compression goes: to callbacks, to `on_report`, and nowhere without them."""

from __future__ import annotations

import json
import threading
from typing import Any
from uuid import UUID

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.callbacks import AsyncCallbackHandler, AsyncCallbackManager, BaseCallbackHandler, CallbackManager
from langchain_core.documents import BaseDocumentCompressor, Document

from compressor_inputs import chunks, store_of
from langchain_ctxopt import ContextOptimizerCompressor

QUESTION = "In which year did the ferry keep a record?"
COMPRESSOR = ContextOptimizerCompressor(max_tokens=100)
SECRET = "marmalade"


class Recorder(BaseCallbackHandler):
    """Keeps the runs that were started and the events."""

    def __init__(self) -> None:
        self.runs: dict[UUID, str] = {}
        self.events: list[tuple[str, Any]] = []
        self.parents: list[UUID] = []
        self.tags: list[str] = []

    def on_retriever_start(self, *arguments: Any, run_id: UUID, **options: Any) -> None:
        self.runs[run_id] = "retriever"

    def on_chain_start(self, *arguments: Any, run_id: UUID, **options: Any) -> None:
        self.runs[run_id] = options["name"]

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **options: Any) -> None:
        self.events.append((name, data))
        self.parents.append(run_id)
        self.tags += options.get("tags") or []


class AsyncRecorder(AsyncCallbackHandler):
    """Keeps the events and the threads in which they arrived."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []
        self.threads: list[threading.Thread] = []

    async def on_custom_event(self, name: str, data: Any, **options: Any) -> None:
        self.events.append((name, data))
        self.threads.append(threading.current_thread())


class SynchronousOnly(BaseDocumentCompressor):
    """A wrapper without an asynchronous form: LangChain hands it the asynchronous callback manager."""

    inner: BaseDocumentCompressor = COMPRESSOR

    def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        return self.inner.compress_documents(documents, query, callbacks=callbacks)


def retriever(compressor: BaseDocumentCompressor = COMPRESSOR) -> ContextualCompressionRetriever:
    return ContextualCompressionRetriever(base_compressor=compressor, base_retriever=store_of(chunks()).as_retriever())


@pytest.mark.parametrize(
    "compressor",
    [COMPRESSOR, DocumentCompressorPipeline(transformers=[COMPRESSOR]), SynchronousOnly()],
    ids=["alone", "pipeline", "synchronous-wrapper"],
)
async def test_i2_the_report_is_an_event_of_the_retrievers_run(compressor: BaseDocumentCompressor) -> None:
    recorder, waiting = Recorder(), AsyncRecorder()
    found = retriever(compressor).invoke(QUESTION, {"callbacks": [recorder], "tags": ["demo"]})
    assert await retriever(compressor).ainvoke(QUESTION, {"callbacks": [recorder, waiting]}) == found
    assert [name for name, _ in recorder.events] == ["ctxopt_report"] * 2
    assert [recorder.runs[parent] for parent in recorder.parents] == ["retriever"] * 2
    assert recorder.tags == ["demo"]
    assert waiting.events == recorder.events[1:]
    data = recorder.events[0][1]
    assert data["input_budget"] == 100
    assert 0 < data["tokens_after"] <= 100
    assert sum(data["documents"].values()) == 4
    assert data["unchanged"] is False


@pytest.mark.parametrize("managed", [False, True], ids=["a-list", "a-manager"])
async def test_i2_handlers_given_to_the_method_need_no_run_around_it(managed: bool) -> None:
    recorder, waiting = Recorder(), AsyncRecorder()
    given: Any = [recorder]
    COMPRESSOR.compress_documents(chunks(), QUESTION, CallbackManager(given) if managed else given)
    given = [recorder, waiting]
    await COMPRESSOR.acompress_documents(chunks(), QUESTION, AsyncCallbackManager(given) if managed else given)
    assert [name for name, _ in recorder.events] == ["ctxopt_report"] * 2
    assert recorder.events[0] == recorder.events[1] == waiting.events[0]
    assert waiting.threads == [threading.main_thread()]


@pytest.mark.parametrize("callbacks", [None, []], ids=["none", "empty"])
async def test_i2_without_callbacks_nothing_is_sent(callbacks: Any) -> None:
    kept = COMPRESSOR.compress_documents(chunks(), QUESTION, callbacks)
    assert await COMPRESSOR.acompress_documents(chunks(), QUESTION, callbacks) == kept
    assert COMPRESSOR.compress_documents(chunks(), QUESTION) == kept
    assert await COMPRESSOR.acompress_documents(chunks(), QUESTION) == kept


async def test_i2_a_step_sends_the_event_from_its_own_run() -> None:
    recorder, waiting = Recorder(), AsyncRecorder()
    step, values = COMPRESSOR.as_runnable(), {"query": QUESTION, "documents": chunks()}
    step.invoke(values, {"callbacks": [recorder]})
    await step.ainvoke(values, {"callbacks": [recorder, waiting]})
    assert [recorder.runs[parent] for parent in recorder.parents] == ["ContextOptimizerCompressor"] * 2
    assert len(waiting.events) == 1
    seen = [event async for event in step.astream_events(values, version="v2")]
    assert [event["name"] for event in seen if event["event"] == "on_custom_event"] == ["ctxopt_report"]


async def test_m1_on_report_gets_the_report_of_each_compression_but_not_of_a_plan() -> None:
    reports: list[Any] = []
    compressor = COMPRESSOR.with_changes(on_report=reports.append)
    compressor.compress_documents(chunks(), QUESTION)
    await compressor.acompress_documents(chunks(), QUESTION)
    planned = compressor.plan(chunks(), QUESTION)
    assert reports == [planned, planned]


def test_d14_the_report_tells_of_each_document_what_became_of_it() -> None:
    found = [*chunks(4), Document(page_content=" ", id="blank"), Document(page_content="The chapel is shut.")]
    budget = 120
    report = COMPRESSOR.with_changes(max_tokens=budget, documents={"passages": False}).plan(found, QUESTION)
    assert [row.id for row in report.documents] == ["c0", "c1", "c2", "c3", "blank", "5"]
    assert {row.id: row.reason for row in report.dropped_documents}["blank"] == "empty"
    assert {row.reason for row in report.dropped_documents} == {"empty", "budget"}
    assert [row.score for row in report.documents] == [1.0, 0.95, 0.9, 0.85, None, None]
    assert 0 < report.tokens_after <= budget < report.tokens_before
    assert report.within_budget
    assert report.components["documents"].budget == budget
    assert "budget" in report.to_text()


def test_d14_a_document_that_was_too_big_and_not_too_bad_stands_out() -> None:
    best = Document(page_content="The mill. " * 90, id="big", metadata={"score": 2})
    report = COMPRESSOR.with_changes(documents={"passages": False}).plan([best, *chunks(4)], QUESTION)
    assert [row.id for row in report.documents if row.outranked] == ["big"]
    assert [row.id for row in report.documents if row.state == "kept"] == ["c0", "c1"]


def test_m3_report_and_event_hold_figures_and_no_content() -> None:
    reports: list[Any] = []
    recorder = Recorder()
    found = [Document(page_content=f"The {SECRET} is {n}. " * 30, metadata={"k": SECRET, "score": n}) for n in range(5)]
    compressor = ContextOptimizerCompressor(max_tokens=60, document_prompt="{k} {page_content}")
    compressor.with_changes(on_report=reports.append).compress_documents(found, f"Which {SECRET}?", [recorder])
    [report] = reports
    told = json.dumps([report.to_dict(), recorder.events]) + report.to_text() + repr(report)
    assert SECRET not in told


def test_m1_a_report_tells_when_nothing_was_lost() -> None:
    report = COMPRESSOR.with_changes(max_tokens=5_000).plan(chunks(), QUESTION)
    assert report.unchanged
    assert report.tokens_saved == 0
    assert report.tokens_before == report.tokens_after
    assert report.dropped_documents == ()


def test_m1_the_report_names_model_and_window() -> None:
    report = ContextOptimizerCompressor(model="gpt-4").plan(chunks(), QUESTION)
    assert (report.model, report.context_window, report.encoding) == ("gpt-4", 8_192, "cl100k_base")
