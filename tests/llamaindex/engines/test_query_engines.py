"""Query engines whose nodes an optimizer fits: calls within the window, one where one is enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.postprocessor import LongContextReorder, MetadataReplacementPostProcessor
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.schema import NodeWithScore, TextNode

from chat_engine_runs import nodes_of
from llamaindex_ctxopt import EngineOptimizer, with_optimizer
from made_up_texts import text_of
from node_inputs import FixedRetriever, ids_of, joined, text_in
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM

QUERY = "When did the ferry keep its record?"
MANY = nodes_of(*[300] * 20)
CALLS: dict[ResponseMode, Callable[[int], int]] = {
    ResponseMode.REFINE: lambda kept: kept,
    ResponseMode.ACCUMULATE: lambda kept: kept,
    ResponseMode.NO_TEXT: lambda kept: 0,
    ResponseMode.CONTEXT_ONLY: lambda kept: 0,
}
"""How many model calls a mode makes of so many nodes; one, where nothing is said."""

STREAMING = (
    ResponseMode.COMPACT,
    ResponseMode.REFINE,
    ResponseMode.TREE_SUMMARIZE,
    ResponseMode.SIMPLE_SUMMARIZE,
    ResponseMode.GENERATION,
)
WITHOUT_NODES = (ResponseMode.NO_TEXT, ResponseMode.GENERATION, ResponseMode.CONTEXT_ONLY)

modes = pytest.mark.parametrize("mode", ResponseMode)
attaching = pytest.mark.parametrize("attach", [False, True], ids=["alone", "attached"])
asking = pytest.mark.parametrize("way", ["query", "aquery"])
models = pytest.mark.parametrize(
    "model",
    [
        pytest.param(ScriptedLLM, id="chat"),
        pytest.param(ScriptedCompletionLLM, id="completion"),
        pytest.param(lambda: ScriptedLLM(model_name="gpt-4o-scripted"), id="o200k"),
        pytest.param(lambda: with_optimizer(ScriptedLLM()), id="guarded"),
    ],
)


@pytest.fixture(autouse=True)
def _a_model_for_those_that_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The modes that call no model ask the settings of LlamaIndex for one all the same."""
    monkeypatch.setattr(Settings, "_llm", ScriptedLLM())


async def asked(engine: Any, way: str, question: str = QUERY) -> Any:
    return await engine.aquery(question) if way == "aquery" else engine.query(question)


def engine_of(
    llm: Any, nodes: Sequence[NodeWithScore] = MANY, *, attach: bool, as_retriever: bool = False, **options: Any
) -> RetrieverQueryEngine:
    """Return a query engine with an optimizer's postprocessor, or with its retriever in place of that."""
    optimizer, retriever = EngineOptimizer(llm=llm), FixedRetriever(nodes)
    parts = {} if as_retriever else {"node_postprocessors": [optimizer.postprocessor()]}
    engine = RetrieverQueryEngine.from_args(
        optimizer.retriever(retriever) if as_retriever else retriever, llm=llm, **parts, **options
    )
    return optimizer.attach(engine) if attach else engine


def faults_of(llm: Any, mode: ResponseMode, kept: Sequence[NodeWithScore]) -> list[str]:
    """Name what is wrong with the calls that an answer took."""
    wanted, calls = CALLS.get(mode, lambda _: 1)(len(kept)), llm.calls
    found = [f"{len(calls)} calls, not {wanted}"] if len(calls) != wanted else []
    found += [f"{len(llm.over)} over the window"] if llm.over else []
    sent = "\n".join(call.text for call in calls)
    if mode not in WITHOUT_NODES:
        shown = [joined([item]) for item in kept]
        shown = [repr(text)[1:-1] for text in shown] if mode == ResponseMode.SIMPLE_SUMMARIZE else shown
        found += [f"source {number} was not sent" for number, text in enumerate(shown) if text not in sent]
    return found


@asking
@modes
@models
@attaching
async def test_i7_every_response_mode_stays_within_the_window_and_sends_what_it_names(
    attach: bool, model: Any, mode: ResponseMode, way: str
) -> None:
    llm = model()
    response = await asked(engine_of(llm, attach=attach, response_mode=mode), way)
    kept = response.source_nodes
    assert faults_of(llm, mode, kept) == []
    assert len(kept) >= (9 if mode != ResponseMode.NO_TEXT else 0)
    assert set(ids_of(kept)) <= set(ids_of(MANY))


@asking
@attaching
@pytest.mark.parametrize("mode", STREAMING)
async def test_i7_a_streamed_answer_is_one_call_as_well(attach: bool, mode: ResponseMode, way: str) -> None:
    llm = ScriptedLLM()
    response = await asked(engine_of(llm, attach=attach, response_mode=mode, streaming=True), way)
    if way == "query":
        assert "".join(response.response_gen)
    else:
        assert [token async for token in response.async_response_gen()]
    assert faults_of(llm, mode, response.source_nodes) == []


@asking
@attaching
@modes
async def test_i7_the_retriever_does_what_the_postprocessor_does(attach: bool, mode: ResponseMode, way: str) -> None:
    llm, other = ScriptedLLM(), ScriptedLLM()
    response = await asked(engine_of(llm, attach=attach, as_retriever=True, response_mode=mode), way)
    usual = await asked(engine_of(other, attach=attach, response_mode=mode), way)
    assert faults_of(llm, mode, response.source_nodes) == []
    assert ids_of(response.source_nodes) == ids_of(usual.source_nodes)
    assert [call.rows for call in llm.calls] == [call.rows for call in other.calls]


@asking
@pytest.mark.parametrize("size", [128, 512])
@models
async def test_i7_a_citation_engine_numbers_what_fits_in_one_call(model: Any, size: int, way: str) -> None:
    """It splits the nodes after they were postprocessed, and says the source before every part."""
    llm = model()
    optimizer = EngineOptimizer(llm=llm)
    engine = CitationQueryEngine.from_args(
        None,  # type: ignore[arg-type]
        llm=llm,
        retriever=FixedRetriever(MANY),
        node_postprocessors=[optimizer.postprocessor()],
        citation_chunk_size=size,
    )
    response = await asked(optimizer.attach(engine), way)
    assert (len(llm.calls), llm.over) == (1, [])
    assert len(response.source_nodes) >= (6 if size == 512 else 15)
    sent = llm.calls[0].text
    for number, item in enumerate(response.source_nodes, 1):
        assert f"Source {number}:" in text_in(item)
        assert text_in(item).strip() in sent
    assert llm.calls[0].tokens > 2_500


@asking
@attaching
async def test_i7_metadata_counts_as_it_is_shown(attach: bool, way: str) -> None:
    llm = ScriptedLLM()
    nodes = [
        NodeWithScore(
            node=TextNode(
                text=text_of(f"Note {i}:", 100),
                metadata={"summary": text_of(f"Summary {i}:", 400), "log": text_of(f"Log {i}:", 2_000)},
                excluded_llm_metadata_keys=["log"],
            ),
            score=0.5,
        )
        for i in range(10)
    ]
    response = await asked(engine_of(llm, nodes, attach=attach), way)
    assert faults_of(llm, ResponseMode.COMPACT, response.source_nodes) == []
    assert len(response.source_nodes) >= 5
    assert "Summary 0:" in llm.calls[0].text
    assert "Log 0:" not in llm.calls[0].text


@asking
@attaching
async def test_i7_it_goes_between_what_makes_nodes_longer_and_what_orders_them(attach: bool, way: str) -> None:
    llm = ScriptedLLM()
    nodes = [
        NodeWithScore(
            node=TextNode(
                text=f"Sentence {i}.",
                metadata={"window": text_of(f"Window {i}:", 500)},
                excluded_llm_metadata_keys=["window"],
                id_=str(i),
            ),
            score=1 - i / 20,
        )
        for i in range(12)
    ]
    optimizer = EngineOptimizer(llm=llm)
    engine = RetrieverQueryEngine.from_args(
        FixedRetriever(nodes),
        llm=llm,
        node_postprocessors=[
            MetadataReplacementPostProcessor(target_metadata_key="window"),
            optimizer.postprocessor(),
            LongContextReorder(),
        ],
    )
    response = await asked(optimizer.attach(engine) if attach else engine, way)
    kept = response.source_nodes
    assert (len(llm.calls), llm.over) == (1, [])
    assert len(kept) >= 5
    assert joined(kept) in llm.calls[0].text
    assert [item.score for item in kept] != sorted((item.score or 0 for item in kept), reverse=True)


@attaching
def test_i7_nodes_that_fit_are_the_identical_objects_in_their_order(attach: bool) -> None:
    llm, nodes = ScriptedLLM(), nodes_of(300, 200, 100)
    response = engine_of(llm, nodes, attach=attach).query(QUERY)
    assert all(kept is given for kept, given in zip(response.source_nodes, nodes, strict=True))
    assert len(llm.calls) == 1


@asking
@pytest.mark.parametrize("text", ["{}" + "\n" * 400, "\n \n" * 200 + "{}"], ids=["behind", "before"])
async def test_i7_white_space_at_the_ends_of_nodes_counts_where_an_engine_prints_it(text: str, way: str) -> None:
    """`simple_summarize` sends a Python list of the documents, in which each end of a line is two characters."""
    llm = ScriptedLLM(context_window=2_000)
    nodes = [NodeWithScore(node=TextNode(text=text.format(text_of(f"Page {i}:", 300))), score=1.0) for i in range(4)]
    response = await asked(engine_of(llm, nodes, attach=True, response_mode=ResponseMode.SIMPLE_SUMMARIZE), way)
    assert [call.over for call in llm.calls] == [False]
    assert response.source_nodes
