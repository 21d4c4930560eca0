"""The postprocessor in LlamaIndex's engines: what the model is sent, and what the response says it was sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import RetrieverTool, ToolMetadata

from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor
from made_up_texts import text_of
from node_inputs import FixedRetriever, ids_of, joined, joined_tokens, retrieved_nodes, text_in
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM

QUERY = "When did the ferry keep its record?"
EMPTY = "Empty Response"
CALLS: dict[ResponseMode, Callable[[int], int]] = {
    ResponseMode.REFINE: lambda kept: kept,
    ResponseMode.ACCUMULATE: lambda kept: kept,
    ResponseMode.NO_TEXT: lambda kept: 0,
    ResponseMode.CONTEXT_ONLY: lambda kept: 0,
}
"""How many model calls a mode makes of so many nodes; one, where nothing is said."""

WITHOUT_NODES = (ResponseMode.NO_TEXT, ResponseMode.GENERATION)

Way = Callable[[Any, str], Awaitable[Any]]


async def query(engine: Any, question: str) -> Any:
    return engine.query(question)


async def aquery(engine: Any, question: str) -> Any:
    return await engine.aquery(question)


async def chat(engine: Any, question: str) -> Any:
    return engine.chat(question)


async def achat(engine: Any, question: str) -> Any:
    return await engine.achat(question)


async def stream_chat(engine: Any, question: str) -> Any:
    response = engine.stream_chat(question)
    return response if "".join(response.response_gen) else None


async def astream_chat(engine: Any, question: str) -> Any:
    response = await engine.astream_chat(question)
    tokens: AsyncIterator[str] = response.async_response_gen()
    return response if [token async for token in tokens] else None


@pytest.fixture(autouse=True)
def _a_model_for_those_that_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The modes that call no model ask the settings of LlamaIndex for one all the same."""
    monkeypatch.setattr(Settings, "_llm", ScriptedLLM())


QUERYING = (query, aquery)
CHATTING = (chat, achat, stream_chat, astream_chat)


def engine_of(
    llm: Any, nodes: list[NodeWithScore], mode: ResponseMode, postprocessors: list[BaseNodePostprocessor]
) -> RetrieverQueryEngine:
    synthesizer = get_response_synthesizer(llm=llm, response_mode=mode)
    return RetrieverQueryEngine(
        retriever=FixedRetriever(nodes), response_synthesizer=synthesizer, node_postprocessors=postprocessors
    )


def context_chat(llm: Any, nodes: list[NodeWithScore], **settings: Any) -> ContextChatEngine:
    return ContextChatEngine.from_defaults(
        retriever=FixedRetriever(nodes), llm=llm, memory=ChatMemoryBuffer(token_limit=500), **settings
    )


def condense_chat(llm: Any, nodes: list[NodeWithScore], **settings: Any) -> CondensePlusContextChatEngine:
    return CondensePlusContextChatEngine.from_defaults(
        retriever=FixedRetriever(nodes), llm=llm, memory=ChatMemoryBuffer(token_limit=500), **settings
    )


def texts(count: int, tokens: int) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(text=text_of(f"Note {i}:", tokens), id_=str(i)), score=0.5) for i in range(count)
    ]


@pytest.mark.parametrize("model", [ScriptedLLM, ScriptedCompletionLLM])
@pytest.mark.parametrize("way", QUERYING)
@pytest.mark.parametrize("mode", ResponseMode)
async def test_i5_with_every_response_mode_the_model_is_sent_what_was_packed(
    mode: ResponseMode, way: Way, model: Any
) -> None:
    llm, given = model(), retrieved_nodes(sentences=40)
    postprocessor = ContextOptimizerPostprocessor(max_tokens=1_200, llm=llm)
    response = await way(engine_of(llm, given, mode, [postprocessor]), QUERY)
    kept = response.source_nodes
    assert 1_100 < joined_tokens(kept, llm.encoding) <= 1_200
    assert len(llm.calls) == CALLS.get(mode, lambda kept: 1)(len(kept))
    assert llm.over == []
    sent = response.response if mode == ResponseMode.CONTEXT_ONLY else "\n".join(call.text for call in llm.calls)
    if mode not in WITHOUT_NODES:
        shown = [joined([item]) for item in kept]
        escaped = [repr(text)[1:-1] for text in shown] if mode == ResponseMode.SIMPLE_SUMMARIZE else shown
        assert all(text in sent for text in escaped)
    assert text_in(given[9]) not in sent


@pytest.mark.parametrize("way", QUERYING)
@pytest.mark.parametrize("mode", [ResponseMode.COMPACT, ResponseMode.TREE_SUMMARIZE, ResponseMode.COMPACT_ACCUMULATE])
async def test_i5_10540_23155_what_would_take_several_calls_takes_one(mode: ResponseMode, way: Way) -> None:
    """Issues 10540, 23155: nodes that are larger than the window are refined, in the wrong order at that."""
    alone, with_ours = ScriptedLLM(), ScriptedLLM()
    await way(engine_of(alone, texts(12, 500), mode, []), QUERY)
    postprocessor = ContextOptimizerPostprocessor(llm=with_ours, share=75)
    response = await way(engine_of(with_ours, texts(12, 500), mode, [postprocessor]), QUERY)
    assert len(alone.calls) > 1
    assert len(with_ours.calls) == 1
    assert joined(response.source_nodes) in with_ours.calls[0].text


@pytest.mark.parametrize("nodes", [12, 300])
async def test_i5_12613_22392_a_summary_of_very_many_nodes_has_something_of_them(nodes: int) -> None:
    """Issue 12613, pull request 22392: simple_summarize cuts each of very many nodes to nothing."""
    llm = ScriptedLLM()
    postprocessor = ContextOptimizerPostprocessor(llm=llm, share=50)
    response = await query(
        engine_of(llm, texts(nodes, 500), ResponseMode.SIMPLE_SUMMARIZE, [postprocessor]), "Which notes are there?"
    )
    assert len(response.source_nodes) >= 3
    assert all(text_in(item).split()[-1] in llm.calls[0].text for item in response.source_nodes)
    assert llm.over == []


@pytest.mark.parametrize("documents", [{"min_score": 0.9}, {"passages": False}], ids=["cutoff", "too-large"])
@pytest.mark.parametrize("way", QUERYING)
async def test_i5_16857_20894_9873_no_engine_answers_without_its_model(way: Way, documents: Any) -> None:
    llm = ScriptedLLM()
    postprocessor = ContextOptimizerPostprocessor(max_tokens=300, llm=llm, documents=documents)
    response = await way(engine_of(llm, texts(3, 500), ResponseMode.COMPACT, [postprocessor]), QUERY)
    assert str(response) != EMPTY
    assert len(response.source_nodes) == len(llm.calls) == 1


@pytest.mark.parametrize("make", [context_chat, condense_chat])
@pytest.mark.parametrize("way", CHATTING)
async def test_i5_20973_19379_9873_no_way_to_chat_skips_the_postprocessor(way: Way, make: Any) -> None:
    """Issues 20973, 19379, 9873 and pull requests 12663, 7731."""
    llm, reports = ScriptedLLM(), list[Any]()
    postprocessor = ContextOptimizerPostprocessor(
        max_tokens=700, llm=llm, documents={"min_score": 0.9}, on_report=reports.append
    )
    engine = make(llm, texts(12, 500), node_postprocessors=[postprocessor])
    for question in (QUERY, "And what burnt?"):
        response = await way(engine, question)
        assert str(response) != EMPTY
        assert ids_of(response.source_nodes) == ["0"]
        assert joined(response.source_nodes) in llm.calls[-1].text
    assert len(reports) == 2
    assert all(EMPTY not in str(message.content) for message in engine.chat_history)
    assert llm.over == []


@pytest.mark.parametrize("way", QUERYING)
async def test_i5_19268_a_citation_engine_splits_what_was_packed(way: Way) -> None:
    """Issue 19268: the engine splits and numbers the nodes after the postprocessors, but only those that they left."""
    llm = ScriptedLLM()
    postprocessor = ContextOptimizerPostprocessor(max_tokens=1_300, llm=llm, documents={"passages": False})
    engine = CitationQueryEngine.from_args(
        None,  # type: ignore[arg-type]
        llm=llm,
        retriever=FixedRetriever(texts(12, 400)),
        node_postprocessors=[postprocessor],
        citation_chunk_size=200,
    )
    response = await way(engine, QUERY)
    assert len(response.source_nodes) > 3
    assert len(llm.calls) == 1
    assert [f"Note {i}:" in llm.calls[0].text for i in range(5)] == [True, True, True, False, False]


async def test_i5_a_retriever_tool_takes_it() -> None:
    postprocessor = ContextOptimizerPostprocessor(max_tokens=900)
    metadata = ToolMetadata(name="look", description="Looks things up.")
    tool = RetrieverTool(FixedRetriever(texts(12, 400)), metadata, node_postprocessors=[postprocessor])
    for output in (tool.call(QUERY), await tool.acall(QUERY)):
        assert 800 < joined_tokens(output.raw_output) <= 900


@pytest.mark.parametrize("way", QUERYING)
async def test_i5_it_comes_after_what_makes_nodes_longer(way: Way) -> None:
    class Longer(BaseNodePostprocessor):
        def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: Any = None) -> list[NodeWithScore]:
            return [NodeWithScore(node=TextNode(text=text_in(item) * 3), score=item.score) for item in nodes]

    llm = ScriptedLLM()
    postprocessors = [Longer(), ContextOptimizerPostprocessor(max_tokens=900, llm=llm)]
    response = await way(engine_of(llm, texts(3, 200), ResponseMode.COMPACT, postprocessors), QUERY)
    assert 800 < joined_tokens(response.source_nodes, llm.encoding) <= 900
