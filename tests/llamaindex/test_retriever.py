"""A retriever whose nodes fit, wherever LlamaIndex takes one."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.llms import ChatMessage
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.retrievers import RouterRetriever
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import RetrieverTool, ToolMetadata

from ctxopt_core import ContextBudgetError
from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor
from llamaindex_ctxopt.retriever import ContextOptimizerRetriever
from node_inputs import FixedRetriever, ids_of, joined, joined_tokens, report_on, retrieved_nodes, text_in
from scripted_llms import ScriptedLLM

QUERY = "When did the ferry keep its record?"


class Prompted(FixedRetriever):
    """A retriever with a prompt of its own."""

    def __init__(self, nodes: list[NodeWithScore]) -> None:
        super().__init__(nodes)
        self.prompt = PromptTemplate("Look for {query_str}")

    def _get_prompts(self) -> dict[str, Any]:
        return {"look": self.prompt}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        self.prompt = prompts["look"]


class Bare(BaseRetriever):
    """A retriever that does not call `__init__` of its base."""

    def __init__(self) -> None:
        self.object_map: dict[str, Any] = {}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return retrieved_nodes()


@pytest.mark.parametrize("budget", [60, 200, 500])
async def test_i5_what_it_finds_fits_in_both_ways(budget: int) -> None:
    inner = FixedRetriever(retrieved_nodes())
    retriever = ContextOptimizerRetriever(inner, max_tokens=budget)
    found = retriever.retrieve(QUERY)
    awaited = await retriever.aretrieve(QUERY)
    assert inner.asked == ["sync", "async"]
    assert 0 < joined_tokens(found) <= budget
    assert [(item.node.node_id, text_in(item)) for item in found] == [
        (item.node.node_id, text_in(item)) for item in awaited
    ]


def test_i5_what_fits_comes_back_as_the_identical_objects() -> None:
    given = retrieved_nodes()
    found = ContextOptimizerRetriever(FixedRetriever(given), max_tokens=9_999).retrieve(QUERY)
    assert [id(item) for item in found] == [id(item) for item in given]


async def test_i5_16857_what_finds_nothing_still_finds_nothing() -> None:
    retriever = ContextOptimizerRetriever(FixedRetriever([]), max_tokens=9)
    assert retriever.retrieve(QUERY) == await retriever.aretrieve(QUERY) == []


def test_i5_a_postprocessor_can_be_given() -> None:
    postprocessor = ContextOptimizerPostprocessor(max_tokens=80)
    retriever = ContextOptimizerRetriever(FixedRetriever(retrieved_nodes()), postprocessor)
    assert retriever.postprocessor is postprocessor
    assert ids_of(retriever.retrieve(QUERY)) == ids_of(
        postprocessor.postprocess_nodes(retrieved_nodes(), query_str=QUERY)
    )


def test_i5_a_postprocessor_of_another_kind_can_be_given() -> None:
    retriever = ContextOptimizerRetriever(
        FixedRetriever(retrieved_nodes()), SimilarityPostprocessor(similarity_cutoff=0.9)
    )
    assert ids_of(retriever.retrieve(QUERY)) == ["n0", "n1", "n2"]


def test_i5_the_budget_can_come_from_a_model() -> None:
    llm = ScriptedLLM(context_window=1_000, num_output=200)
    postprocessor = ContextOptimizerRetriever(FixedRetriever([]), llm=llm, share=25).postprocessor
    assert isinstance(postprocessor, ContextOptimizerPostprocessor)
    assert postprocessor.budget_tokens == 200


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "message"),
    [
        pytest.param(
            (FixedRetriever([]),), {}, ValueError, "give `max_tokens`, or a `model` or an `llm`", id="no-budget"
        ),
        pytest.param((FixedRetriever([]),), {"top_n": 3}, ValueError, "top_n", id="a-name-that-is-none"),
        pytest.param((3,), {}, TypeError, "`retriever` must be a retriever of LlamaIndex, got int", id="no-retriever"),
        pytest.param(
            (FixedRetriever([]), 3),
            {},
            TypeError,
            "`postprocessor` must be a node postprocessor",
            id="no-postprocessor",
        ),
        pytest.param(
            (FixedRetriever([]), SimilarityPostprocessor()),
            {"max_tokens": 3},
            ValueError,
            "give `postprocessor` or settings of one, not both, got max_tokens beside it",
            id="both",
        ),
    ],
)
def test_i5_what_it_is_made_of_is_checked(
    arguments: tuple[Any, ...], settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ContextOptimizerRetriever(*arguments, **settings)


def test_i5_an_index_is_told_apart_from_its_retriever() -> None:
    class Index:
        def as_retriever(self) -> BaseRetriever:
            return FixedRetriever([])

    with pytest.raises(TypeError, match=r"got Index; give its `as_retriever\(\)`"):
        ContextOptimizerRetriever(Index(), max_tokens=9)  # type: ignore[arg-type]


def test_i5_callbacks_of_the_retriever_hear_of_both() -> None:
    debug = LlamaDebugHandler(print_trace_on_end=False)
    inner = FixedRetriever(retrieved_nodes(), callback_manager=CallbackManager([debug]))
    retriever = ContextOptimizerRetriever(inner, max_tokens=80)
    assert retriever.callback_manager is inner.callback_manager is retriever.postprocessor.callback_manager
    retriever.retrieve(QUERY)
    assert len(debug.get_event_pairs(CBEventType.RETRIEVE)) == 2
    assert len(debug.get_event_pairs(CBEventType.RERANKING)) == 1


def test_i5_a_retriever_without_a_callback_manager_will_do() -> None:
    assert joined_tokens(ContextOptimizerRetriever(Bare(), max_tokens=80).retrieve(QUERY)) <= 80


def test_i5_prompts_of_the_retriever_can_be_read_and_changed() -> None:
    inner = Prompted(retrieved_nodes())
    retriever = ContextOptimizerRetriever(inner, max_tokens=80)
    assert retriever.get_prompts() == {"retriever:look": inner.prompt}
    other = PromptTemplate("Seek {query_str}")
    retriever.update_prompts({"retriever:look": other})
    assert inner.prompt is other


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
async def test_i5_what_a_node_leads_to_is_followed_before_the_nodes_are_fitted(asynchronous: bool) -> None:
    far = TextNode(text=report_on("quarry", 3, 90), id_="far")
    near = IndexNode(text="near", index_id="x", obj=NodeWithScore(node=far, score=0.5), id_="near")
    outer = IndexNode(text="outer", index_id="y", obj=NodeWithScore(node=near, score=0.5), id_="outer")
    for node, kept in ((near, "far"), (outer, "near")):
        retriever = ContextOptimizerRetriever(FixedRetriever([NodeWithScore(node=node, score=0.5)]), max_tokens=80)
        found = await retriever.aretrieve(QUERY) if asynchronous else retriever.retrieve(QUERY)
        assert ids_of(found) == [kept]
        assert joined_tokens(found) <= 80


async def test_i5_a_query_engine_takes_it() -> None:
    llm = ScriptedLLM()
    retriever = ContextOptimizerRetriever(FixedRetriever(retrieved_nodes(sentences=40)), max_tokens=600, llm=llm)
    synthesizer = get_response_synthesizer(llm=llm, response_mode=ResponseMode.COMPACT)
    engine = RetrieverQueryEngine(retriever=retriever, response_synthesizer=synthesizer)
    for response in (engine.query(QUERY), await engine.aquery(QUERY)):
        assert 0 < joined_tokens(response.source_nodes, llm.encoding) <= 600
        assert joined(response.source_nodes) in llm.calls[-1].text
    assert len(llm.calls) == 2


async def test_i5_a_retriever_tool_takes_it() -> None:
    retriever = ContextOptimizerRetriever(FixedRetriever(retrieved_nodes(6)), max_tokens=100)
    tool = RetrieverTool(retriever=retriever, metadata=ToolMetadata(name="look", description="Looks things up."))
    for output in (tool.call(QUERY), await tool.acall(QUERY)):
        assert 0 < joined_tokens(output.raw_output) <= 100


async def test_i5_a_router_takes_it() -> None:
    retriever = ContextOptimizerRetriever(FixedRetriever(retrieved_nodes()), max_tokens=100)
    choice = '[{"choice": 1, "reason": "It is the only one."}]'
    llm = ScriptedLLM(answers=[ChatMessage(role="assistant", content=choice)] * 2)
    tool = RetrieverTool(retriever=retriever, metadata=ToolMetadata(name="look", description="Looks things up."))
    router = RouterRetriever(selector=LLMSingleSelector.from_defaults(llm=llm), retriever_tools=[tool], llm=llm)
    for found in (router.retrieve(QUERY), await router.aretrieve(QUERY)):
        assert 0 < joined_tokens(found) <= 100


def test_i5_no_room_for_one_word_is_a_typed_error() -> None:
    with pytest.raises(ContextBudgetError, match="no node fits into 3 tokens"):
        ContextOptimizerRetriever(FixedRetriever(retrieved_nodes()), max_tokens=3).retrieve(QUERY)
