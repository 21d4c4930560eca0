"""How the postprocessor is set, dumped and listened to, and how a planner decides in its place."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload, LlamaDebugHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import PrivateAttr

from ctxopt_core import DocumentPolicy
from llamaindex_ctxopt.events import ContextOptimizedEvent
from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor
from node_inputs import joined_tokens, scored_nodes

QUERY = QueryBundle("When did the ferry keep its record?")
SECRET = "ferry"


class FirstNode:
    """A planner that keeps the first node, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def pack_nodes(self, nodes: Sequence[NodeWithScore], query: str) -> list[NodeWithScore]:
        self.asked.append(("sync", query))
        return list(nodes[:1])

    async def apack_nodes(self, nodes: Sequence[NodeWithScore], query: str) -> list[NodeWithScore]:
        self.asked.append(("async", query))
        return list(nodes[:1])


class Listener(BaseEventHandler):
    """Keeps the events of fits."""

    _heard: list[ContextOptimizedEvent] = PrivateAttr(default_factory=list)

    @classmethod
    def class_name(cls) -> str:
        return "Listener"

    @property
    def heard(self) -> list[ContextOptimizedEvent]:
        return self._heard

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        if isinstance(event, ContextOptimizedEvent):
            self._heard.append(event)


@pytest.fixture
def listener() -> Iterator[Listener]:
    root, handler = get_dispatcher(), Listener()
    root.add_event_handler(handler)
    yield handler
    root.event_handlers.remove(handler)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({}, "give `max_tokens`, or a `model` or an `llm`", id="none"),
        pytest.param({"model": "gpt-4", "llm": MockLLM()}, "give one of `model` and `llm`", id="two-models"),
        pytest.param({"share": 50}, "give it with one and without `max_tokens`", id="a-share-of-nothing"),
        pytest.param({"max_tokens": 9, "share": 50}, "give it with one and without `max_tokens`", id="both"),
        pytest.param({"max_tokens": 9, "model": "gpt-4", "share": 50}, "without `max_tokens`", id="all-three"),
        pytest.param({"max_tokens": 0}, "`max_tokens` must be a whole number of tokens, at least 1, got 0", id="zero"),
        pytest.param({"max_tokens": -3}, "got -3", id="negative"),
        pytest.param({"max_tokens": 1.5}, "got 1.5", id="a-fraction"),
        pytest.param({"max_tokens": True}, "got True", id="a-truth-value"),
        pytest.param({"model": "gpt-4", "share": 0}, "`share` must be a percentage above 0", id="no-share"),
        pytest.param({"model": "gpt-4", "share": 101}, "`share` must be a percentage from 0 to 100", id="over-100"),
        pytest.param({"model": "gpt-4", "share": 0.001}, "`share` of 7168 input tokens is less than", id="tiny"),
        pytest.param({"model": MockLLM()}, "`model` must be a model name, got MockLLM; give .* as `llm`", id="object"),
        pytest.param({"max_tokens": 9, "top_n": 3}, "top_n", id="a-name-that-is-none"),
        pytest.param({"max_tokens": 9, "documents": {"top_n": 3}}, "`documents`: DocumentPolicy has no", id="policy"),
    ],
)
def test_i5_settings_are_checked_when_it_is_made(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ContextOptimizerPostprocessor(**settings)


def test_i5_an_llm_that_is_none_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="`llm` must be a LlamaIndex LLM, got int"):
        ContextOptimizerPostprocessor(llm=3)


@pytest.mark.parametrize("query", [3, ["kiln"], b"kiln"])
def test_i5_other_kinds_of_query_are_a_type_error(query: Any) -> None:
    with pytest.raises(TypeError, match="the query must be a QueryBundle, a string or None, got"):
        ContextOptimizerPostprocessor(max_tokens=9).postprocess_nodes([], query)


def test_i5_it_cannot_be_changed_but_for_its_callback_manager() -> None:
    postprocessor = ContextOptimizerPostprocessor(max_tokens=50, token_counter=len, on_report=print)
    for name in ("max_tokens", "model", "llm", "share", "documents", "token_counter", "on_report"):
        with pytest.raises(ValueError, match="frozen"):
            setattr(postprocessor, name, None)
    manager = CallbackManager()
    postprocessor.callback_manager = manager
    changed = postprocessor.with_changes(max_tokens=60)
    assert (postprocessor.budget_tokens, changed.budget_tokens) == (50, 60)
    assert (changed.token_counter, changed.on_report, changed.callback_manager) == (len, print, manager)
    with pytest.raises(ValueError, match="at least 1"):
        postprocessor.with_changes(max_tokens=0)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"max_tokens": 90}, id="a-limit"),
        pytest.param({"max_tokens": 90, "model": "gpt-4"}, id="a-limit-and-a-model"),
        pytest.param({"model": "gpt-4", "share": 12.5}, id="a-share"),
        pytest.param({"model": "gpt-4", "share": Fraction(25, 2)}, id="an-exact-share"),
        pytest.param({"max_tokens": 90, "documents": {"reading_order": "edges", "min_score": 0.5}}, id="a-policy"),
    ],
)
def test_i5_dumped_pickled_and_copied_it_is_the_same_postprocessor(settings: dict[str, Any]) -> None:
    postprocessor = ContextOptimizerPostprocessor(**settings)
    postprocessor.postprocess_nodes(scored_nodes(), QUERY)
    assert postprocessor.to_dict()["class_name"] == "ContextOptimizerPostprocessor"
    assert ContextOptimizerPostprocessor.from_dict(postprocessor.to_dict()) == postprocessor
    assert ContextOptimizerPostprocessor.from_json(postprocessor.to_json()) == postprocessor
    assert pickle.loads(pickle.dumps(postprocessor)) == postprocessor  # noqa: S301
    assert copy.deepcopy(postprocessor) == postprocessor
    assert postprocessor != postprocessor.with_changes(documents={"max_documents": 3})
    assert postprocessor != settings


def test_i5_callables_are_not_dumped() -> None:
    postprocessor = ContextOptimizerPostprocessor(max_tokens=50, token_counter=len, on_report=print)
    restored = ContextOptimizerPostprocessor.from_json(postprocessor.to_json(), token_counter=len)
    assert (restored.token_counter, restored.on_report, restored.budget_tokens) == (len, None, 50)


def test_i5_in_place_of_an_llm_its_budget_and_its_name_are_dumped() -> None:
    postprocessor = ContextOptimizerPostprocessor(llm=MockLLM(max_tokens=256), share=25)
    restored = ContextOptimizerPostprocessor.from_json(postprocessor.to_json())
    assert (restored.max_tokens, restored.share, restored.llm) == (postprocessor.budget_tokens, None, None)
    assert restored.plan([]).encoding == postprocessor.plan([]).encoding


def test_i5_it_is_pickled_with_its_llm() -> None:
    postprocessor = ContextOptimizerPostprocessor(llm=MockLLM(max_tokens=256), share=25)
    restored = pickle.loads(pickle.dumps(postprocessor))  # noqa: S301
    assert (restored.budget_tokens, restored.llm.max_tokens) == (postprocessor.budget_tokens, 256)


def test_i5_the_model_decides_the_tokenizer() -> None:
    encodings = [
        ContextOptimizerPostprocessor(max_tokens=50, **settings).plan(scored_nodes()).encoding
        for settings in ({}, {"model": "gpt-4"}, {"model": "gpt-4", "token_counter": "o200k_base"})
    ]
    assert encodings == ["o200k_base", "cl100k_base", "o200k_base"]


async def test_i5_a_report_is_told_and_kept_for_each_packing() -> None:
    reports: list[Any] = []
    postprocessor = ContextOptimizerPostprocessor(max_tokens=150, on_report=reports.append)
    assert postprocessor.last_report is None
    kept = postprocessor.postprocess_nodes(scored_nodes(), QUERY)
    assert postprocessor.plan(scored_nodes(), QUERY) == reports[0]
    await postprocessor.apostprocess_nodes(scored_nodes(), QUERY)
    assert [report.tokens_after for report in reports] == [joined_tokens(kept)] * 2
    assert postprocessor.last_report is reports[1]
    assert reports[0].tokens_before == joined_tokens(scored_nodes())
    assert reports[0].input_budget == 150
    assert SECRET not in repr(reports[0].to_dict())


async def test_i5_instrumentation_hears_figures_and_no_content(listener: Listener) -> None:
    postprocessor = ContextOptimizerPostprocessor(max_tokens=150)
    kept = postprocessor.postprocess_nodes(scored_nodes(), QUERY)
    await postprocessor.apostprocess_nodes(scored_nodes(), QUERY)
    assert [event.class_name() for event in listener.heard] == ["ContextOptimizedEvent"] * 2
    for event in listener.heard:
        assert event.figures["tokens_after"] == joined_tokens(kept)
        assert event.span_id is not None
        assert SECRET not in event.model_dump_json()


async def test_i5_callbacks_hear_of_it_as_of_a_reranker() -> None:
    debug, given = LlamaDebugHandler(print_trace_on_end=False), scored_nodes()
    postprocessor = ContextOptimizerPostprocessor(max_tokens=150, callback_manager=CallbackManager([debug]))
    kept = postprocessor.postprocess_nodes(given, QUERY)
    await postprocessor.apostprocess_nodes(given, QUERY)
    for start, end in debug.get_event_pairs(CBEventType.RERANKING):
        assert start.payload == {
            EventPayload.NODES: given,
            EventPayload.QUERY_STR: QUERY.query_str,
            EventPayload.TOP_K: 10,
        }
        assert [item.node.node_id for item in end.payload[EventPayload.NODES]] == [item.node.node_id for item in kept]
    assert len(debug.get_event_pairs(CBEventType.RERANKING)) == 2


async def test_i5_a_scorer_that_can_be_awaited_is_awaited_on_the_loop() -> None:
    threads: list[Any] = []

    class AwaitedScorer:
        def __call__(self, query: str, texts: Sequence[str]) -> Sequence[float]:
            threads.append("sync")
            return [0.0] * len(texts)

        async def ascore(self, query: str, texts: Sequence[str]) -> Sequence[float]:
            await asyncio.sleep(0)
            threads.append(threading.get_ident())
            return [float(text.count("quarry")) for text in texts]

    policy = DocumentPolicy(scorer=AwaitedScorer())
    postprocessor = ContextOptimizerPostprocessor(max_tokens=100, documents=policy)
    given = [NodeWithScore(node=item.node) for item in scored_nodes()]
    kept = await postprocessor.apostprocess_nodes(given, QueryBundle("Which of them had stone?"))
    assert kept[0].node.node_id == "n7"
    assert set(threads) == {threading.get_ident()}


async def test_i5_a_planner_decides_in_its_place() -> None:
    planner, given = FirstNode(), scored_nodes()
    postprocessor = ContextOptimizerPostprocessor.of_planner(planner)
    postprocessor.callback_manager = CallbackManager()
    assert postprocessor.postprocess_nodes(given) == given[:1]
    assert await postprocessor.apostprocess_nodes(given, QUERY) == given[:1]
    assert planner.asked == [("sync", ""), ("async", QUERY.query_str)]


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        pytest.param(lambda planned: planned.to_dict(), "make another instead of dumping it", id="to_dict"),
        pytest.param(pickle.dumps, "make another instead of pickling it", id="pickle"),
        pytest.param(lambda planned: planned.plan([]), "ask that one for its plan", id="plan"),
        pytest.param(lambda planned: planned.last_report, "ask that one for its report", id="report"),
        pytest.param(lambda planned: planned.budget_tokens, "ask that one for its budget", id="budget"),
        pytest.param(lambda planned: planned.with_changes(), "change the settings of that one", id="changes"),
    ],
)
def test_i5_what_belongs_to_a_planner_has_nothing_of_its_own(attempt: Any, message: str) -> None:
    planned = ContextOptimizerPostprocessor.of_planner(FirstNode())
    with pytest.raises(ValueError, match=f"shares the budget of an EngineOptimizer: .*{message}"):
        attempt(planned)
