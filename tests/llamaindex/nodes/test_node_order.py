"""The order in which nodes come: kept where all fit, and the ranking where a stage before put them in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from llama_index.core import MockEmbedding
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import (
    EmbeddingRecencyPostprocessor,
    FixedRecencyPostprocessor,
    LLMRerank,
    LongContextReorder,
    PrevNextNodePostprocessor,
    TimeWeightedPostprocessor,
)
from llama_index.core.postprocessor.rankGPT_rerank import RankGPTRerank
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from pydantic import PrivateAttr

from llamaindex_ctxopt import ContextOptimizerPostprocessor, EngineOptimizer
from node_inputs import FixedRetriever, ids_of, report_on
from scripted_llms import ScriptedLLM

QUERY = "What else is known?"
TOPICS = ("kiln", "orchard", "ferry", "lantern", "beehive", "anvil", "loom", "quarry", "mill", "chapel")
RERANKED = "the documents did not come in the order of their scores"


class Answering(MockLLM):
    """A model that always gives the same answer."""

    _answer: str = PrivateAttr(default="")

    @classmethod
    def of(cls, answer: str) -> Answering:
        llm = cls()
        llm._answer = answer
        return llm

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=ChatMessage(role="assistant", content=self._answer))

    def predict(self, *args: Any, **kwargs: Any) -> str:
        return self._answer


def nodes(count: int = 10, sentences: int = 20, **fields: Any) -> list[NodeWithScore]:
    """Return nodes of about 300 tokens with scores that fall, and a date that rises."""
    return [
        NodeWithScore(
            node=TextNode(
                text=report_on(TOPICS[n], n, sentences),
                id_=f"n{n}",
                metadata={"date": f"2024-01-{n + 1:02}"},
                excluded_llm_metadata_keys=["date", "__last_accessed__"],
                **fields,
            ),
            score=0.9 - n / 20,
        )
        for n in range(count)
    ]


def rank_gpt(order: Sequence[int]) -> Callable[[list[NodeWithScore]], list[NodeWithScore]]:
    reranker = RankGPTRerank(llm=Answering.of(" > ".join(f"[{n + 1}]" for n in order)), top_n=10)
    return lambda found: reranker.postprocess_nodes(found, QueryBundle(QUERY))


def fitted(found: list[NodeWithScore], **settings: Any) -> tuple[list[str], Any]:
    postprocessor = ContextOptimizerPostprocessor(max_tokens=900, **settings)
    kept = postprocessor.postprocess_nodes(found, QueryBundle(QUERY))
    return ids_of(kept), postprocessor.last_report


@pytest.mark.parametrize("reading_order", [None, "auto"])
@pytest.mark.parametrize(
    "arrange",
    [
        pytest.param(lambda found: found, id="best-first"),
        pytest.param(lambda found: found[::-1], id="best-last"),
        pytest.param(lambda found: [found[i] for i in (2, 0, 3, 1)], id="mixed"),
        pytest.param(
            lambda found: [*found[:2], NodeWithScore(node=TextNode(text="No score.")), *found[2:]], id="no-score"
        ),
        pytest.param(lambda found: [*found, found[0]], id="twice"),
    ],
)
def test_l3_nodes_that_fit_come_back_in_their_order(
    arrange: Callable[[list[NodeWithScore]], list[NodeWithScore]], reading_order: str | None
) -> None:
    given = arrange(nodes(4))
    documents = {} if reading_order is None else {"reading_order": reading_order}
    postprocessor = ContextOptimizerPostprocessor(max_tokens=9_000, documents=documents)
    kept = postprocessor.postprocess_nodes(given, QueryBundle(QUERY))
    assert list(map(id, kept)) == list(map(id, given))
    assert postprocessor.last_report is not None
    assert postprocessor.last_report.notes == ()


@pytest.mark.parametrize("attached", [False, True])
async def test_l3_nodes_that_fit_in_an_engine_come_back_in_their_order(attached: bool) -> None:
    llm = ScriptedLLM(context_window=16_000)
    optimizer = EngineOptimizer(llm=llm)
    given = nodes(6)[::-1]
    engine = RetrieverQueryEngine.from_args(
        FixedRetriever(given), llm=llm, node_postprocessors=[optimizer.postprocessor()]
    )
    if attached:
        optimizer.attach(engine)
    for response in (engine.query(QUERY), await engine.aquery(QUERY)):
        assert list(map(id, response.source_nodes)) == list(map(id, given))


@pytest.mark.parametrize(
    ("order", "kept"),
    [
        pytest.param((9, 0, 1, 2, 3, 4, 5, 6, 7, 8), "n9", id="the-last-one-first"),
        pytest.param((9, 8, 7, 6, 5, 4, 3, 2, 1, 0), "n9", id="reversed"),
        pytest.param((4, 9, 0, 2, 1, 3, 8, 5, 7, 6), "n4", id="a-permutation"),
        pytest.param((5, 6, 7, 8, 9, 0, 1, 2, 3, 4), "n5", id="the-worse-half-first"),
    ],
)
def test_l4_an_order_that_a_reranker_leaves_with_the_scores_is_the_ranking(order: tuple[int, ...], kept: str) -> None:
    found = rank_gpt(order)(nodes())
    assert [item.score for item in found] == [0.9 - n / 20 for n in order]
    ids, report = fitted(found)
    assert ids[0] == kept
    assert any(note.startswith(RERANKED) for note in report.notes)
    whole = fitted(found, documents={"passages": False})[0]
    assert whole == [f"n{n}" for n in order[: len(whole)]]


def test_l4_the_same_holds_in_an_engine() -> None:
    llm = ScriptedLLM(context_window=3_000)
    optimizer = EngineOptimizer(llm=llm)
    answer = "[10] > " + " > ".join(f"[{n}]" for n in range(1, 10))
    reranker = RankGPTRerank(llm=Answering.of(answer), top_n=10)
    engine = RetrieverQueryEngine.from_args(
        FixedRetriever(nodes()), llm=llm, node_postprocessors=[reranker, optimizer.postprocessor()]
    )
    response = optimizer.attach(engine).query(QUERY)
    assert ids_of(response.source_nodes)[0] == "n9"
    assert optimizer.last_report is not None
    assert any(note.startswith(RERANKED) for note in optimizer.last_report.notes)


@pytest.mark.parametrize("count", [4, 5, 10])
def test_l4_the_newest_page_is_kept_after_a_postprocessor_by_date(count: int) -> None:
    found = FixedRecencyPostprocessor(top_k=count).postprocess_nodes(nodes(count, sentences=40), QueryBundle(QUERY))
    assert ids_of(found)[0] == f"n{count - 1}"
    assert f"n{count - 1}" in fitted(found)[0]


def test_l4_the_newest_pages_are_kept_after_embedding_recency() -> None:
    by_date = EmbeddingRecencyPostprocessor(embed_model=MockEmbedding(embed_dim=4), similarity_cutoff=9.0)
    found = by_date.postprocess_nodes(nodes(), QueryBundle(QUERY))
    assert ids_of(found) == [f"n{n}" for n in range(9, -1, -1)]
    kept = fitted(found, documents={"passages": False})[0]
    assert kept == ["n9", "n8", "n7"][: len(kept)]


def test_l4_scores_that_a_postprocessor_makes_anew_decide() -> None:
    given = nodes()
    for n, item in enumerate(given):
        item.node.metadata["__last_accessed__"] = 1_000_000.0 - (10 - n) * 36_000
    weighted = TimeWeightedPostprocessor(top_k=10, now=1_000_000.0, time_decay=0.3, time_access_refresh=False)
    found = weighted.postprocess_nodes(given, QueryBundle(QUERY))
    ids, report = fitted(found)
    assert ids[0] == found[0].node.node_id
    assert report.notes == ()


def test_l4_a_reranker_that_scores_anew_decides_by_its_scores() -> None:
    answer = "\n".join(f"Doc: {n + 1}, Relevance: {10 - i}" for i, n in enumerate((9, 3, 1)))
    reranker = LLMRerank(llm=Answering.of(answer), top_n=3)
    ids, report = fitted(reranker.postprocess_nodes(nodes(), QueryBundle(QUERY)), documents={"passages": False})
    assert ids[0] == "n9"
    assert report.notes == ()


@pytest.mark.parametrize("count", [4, 5, 10])
def test_l4_the_best_at_both_ends_is_an_order_by_score(count: int) -> None:
    found = LongContextReorder().postprocess_nodes(nodes(count, sentences=30))
    ids, report = fitted(found, documents={"passages": False})
    assert ids == ["n0", "n1", "n2"][: len(ids)]
    assert report.notes == ()


def test_l4_after_ours_the_best_can_be_put_at_both_ends() -> None:
    kept = ContextOptimizerPostprocessor(max_tokens=1_600, documents={"passages": False}).postprocess_nodes(
        nodes(), QueryBundle(QUERY)
    )
    ids = ids_of(LongContextReorder().postprocess_nodes(kept))
    assert sorted(ids) == sorted(ids_of(kept))
    assert {ids[0], ids[-1]} == {"n0", "n1"}


def test_l4_neighbors_without_a_score_do_not_make_an_order() -> None:
    given = nodes(8)
    store = SimpleDocumentStore()
    for left, right in pairwise(given):
        left.node.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id=right.node.node_id)
        right.node.relationships[NodeRelationship.PREVIOUS] = RelatedNodeInfo(node_id=left.node.node_id)
    store.add_documents([item.node for item in given])
    retrieved = [given[5], given[1]]
    for item, score in zip(retrieved, (0.9, 0.3), strict=True):
        item.score = score
    found = PrevNextNodePostprocessor(docstore=store, num_nodes=1, mode="both").postprocess_nodes(retrieved)
    assert any(item.score is None for item in found)
    ids, report = fitted(found, documents={"passages": False})
    assert "n5" in ids
    assert report.notes == ()
    together = fitted(found, documents={"passages": False, "ranking": "given"})[0]
    assert together == ids_of(found)[: len(together)]


def test_l4_an_order_by_id_is_that_of_a_store() -> None:
    given = sorted(nodes(), key=lambda item: item.score or 0.0)
    for n, item in enumerate(given):
        item.node.id_ = f"a{n}"
    ids, report = fitted(given, documents={"passages": False})
    assert ids[0] == "a9"
    assert report.notes == ()


@pytest.mark.parametrize(
    ("ranking", "first"), [pytest.param("score", "n0", id="score"), pytest.param("given", "n9", id="given")]
)
@pytest.mark.parametrize("score_order", ["higher", "lower"])
def test_l4_what_ranks_can_be_said(ranking: str, first: str, score_order: str) -> None:
    found = rank_gpt((9, 0, 1, 2, 3, 4, 5, 6, 7, 8))(nodes())
    if score_order == "lower":
        for item in found:
            item.score = 1.0 - (item.score or 0.0)
    documents = {"passages": False, "ranking": ranking, "score_order": score_order}
    ids, report = fitted(found, documents=documents)
    assert ids[0] == first
    assert report.notes == ()


@pytest.mark.parametrize("selection", ["auto", "score", "passages", "density", "optimal"])
def test_l4_the_given_order_ranks_for_every_selection(selection: str) -> None:
    found = rank_gpt((9, 0, 1, 2, 3, 4, 5, 6, 7, 8))(nodes(sentences=28))
    postprocessor = ContextOptimizerPostprocessor(
        max_tokens=500, documents={"selection": selection, "ranking": "given"}
    )
    assert "n9" in ids_of(postprocessor.postprocess_nodes(found, QueryBundle("")))


def test_l4_an_unknown_ranking_is_an_error() -> None:
    with pytest.raises(ValueError, match="`ranking` must be one of 'auto', 'score', 'given', got 'rank'"):
        ContextOptimizerPostprocessor(max_tokens=9, documents={"ranking": "rank"})
