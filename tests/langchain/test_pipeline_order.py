"""The order in which documents come: kept where all fit, and the ranking where a stage before put them in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.prompts import ChatPromptTemplate

from ctxopt_core import FitReport
from langchain_ctxopt import ContextOptimizer, ContextOptimizerCompressor
from node_inputs import report_on

QUERY = "What else is known?"
TOPICS = ("kiln", "orchard", "ferry", "lantern", "beehive", "anvil", "loom", "quarry", "mill", "chapel")
RERANKED = "the documents did not come in the order of their scores"
PROMPT = ChatPromptTemplate.from_messages([("system", "Answer from: {context}"), ("user", "{question}")])
LAST_FIRST = (9, 0, 1, 2, 3, 4, 5, 6, 7, 8)


class Reordering(BaseDocumentCompressor):
    """A reranker that puts documents in another order, and keeps their scores or makes new ones."""

    order: tuple[int, ...]
    scores_anew: bool = False

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks = None
    ) -> Sequence[Document]:
        found = [documents[n] for n in self.order]
        if not self.scores_anew:
            return found
        return [
            document.model_copy(update={"metadata": {**document.metadata, "relevance_score": 1.0 - place / 20}})
            for place, document in enumerate(found)
        ]


def at_both_ends(found: list[Document]) -> list[Document]:
    """Return documents as LangChain's `LongContextReorder` puts them in order."""
    ends: list[Document] = []
    for place, document in enumerate(reversed(found)):
        if place % 2 == 1:
            ends.append(document)
        else:
            ends.insert(0, document)
    return ends


def documents(count: int = 10, sentences: int = 20) -> list[Document]:
    return [
        Document(report_on(TOPICS[n], n, sentences), id=f"d{n}", metadata={"score": 0.9 - n / 20}) for n in range(count)
    ]


def compressed(found: Sequence[Document], max_tokens: int = 900, **policy: Any) -> tuple[list[str | None], FitReport]:
    reports = list[FitReport]()
    compressor = ContextOptimizerCompressor(max_tokens=max_tokens, documents=policy, on_report=reports.append)
    kept = compressor.compress_documents(found, QUERY)
    return [document.id for document in kept], reports[0]


def staged(found: Sequence[Document], max_tokens: int = 900, **policy: Any) -> tuple[list[str | None], FitReport]:
    reports = list[FitReport]()
    stage = ContextOptimizer(prompt=PROMPT, max_input_tokens=max_tokens, documents=policy, on_report=reports.append)
    kept = stage.invoke({"context": list(found), "question": QUERY})["context"]
    return [document.id for document in kept], reports[0]


Fronts = pytest.mark.parametrize("front", [pytest.param(compressed, id="compressor"), pytest.param(staged, id="stage")])
Front = Callable[..., tuple[list[str | None], FitReport]]


@Fronts
@pytest.mark.parametrize(
    "order", [pytest.param((0, 1, 2, 3), id="best-first"), pytest.param((3, 2, 1, 0), id="best-last"), (2, 0, 3, 1)]
)
@pytest.mark.parametrize("key", ["score", None])
def test_l3_documents_that_fit_come_back_in_their_order(front: Front, order: tuple[int, ...], key: str | None) -> None:
    given = documents(4)
    found = [given[n] for n in order]
    if key is None:
        found = [document.model_copy(update={"metadata": {}}) for document in found]
    ids, report = front(found, 9_000)
    assert ids == [f"d{n}" for n in order]
    assert report.notes == ()


async def test_l3_the_compressor_returns_the_identical_objects_in_their_order() -> None:
    given = documents(4)[::-1]
    compressor = ContextOptimizerCompressor(max_tokens=9_000)
    for kept in (compressor.compress_documents(given, QUERY), await compressor.acompress_documents(given, QUERY)):
        assert list(map(id, kept)) == list(map(id, given))


@Fronts
@pytest.mark.parametrize("order", [LAST_FIRST, (9, 8, 7, 6, 5, 4, 3, 2, 1, 0), (4, 9, 0, 2, 1, 3, 8, 5, 7, 6)])
def test_l4_an_order_that_a_reranker_leaves_with_the_scores_is_the_ranking(
    front: Front, order: tuple[int, ...]
) -> None:
    found = Reordering(order=order).compress_documents(documents(), QUERY)
    ids, report = front(found, passages=False)
    assert ids == [f"d{n}" for n in order[: len(ids)]]
    assert any(note.startswith(RERANKED) for note in report.notes)
    assert front(found)[0][0] == f"d{order[0]}"


@Fronts
def test_l4_new_scores_decide(front: Front) -> None:
    found = Reordering(order=LAST_FIRST, scores_anew=True).compress_documents(documents(), QUERY)
    ids, report = front(found, passages=False)
    assert ids[0] == "d9"
    assert report.notes == ()


@Fronts
@pytest.mark.parametrize("count", [4, 5, 10])
def test_l4_the_best_at_both_ends_is_an_order_by_score(front: Front, count: int) -> None:
    ids, report = front(at_both_ends(documents(count, sentences=30)), passages=False)
    assert ids == ["d0", "d1", "d2"][: len(ids)]
    assert report.notes == ()


@Fronts
def test_l4_without_scores_the_order_can_be_said_to_rank(front: Front) -> None:
    found = [document.model_copy(update={"metadata": {}}) for document in documents()[::-1]]
    ids, report = front(found, ranking="given", passages=False)
    assert ids == ["d9", "d8", "d7"][: len(ids)]
    assert report.notes == ()


@Fronts
def test_l4_scores_can_be_said_to_rank(front: Front) -> None:
    found = Reordering(order=LAST_FIRST).compress_documents(documents(), QUERY)
    ids, report = front(found, ranking="score", passages=False)
    assert ids == ["d0", "d1", "d2"][: len(ids)]
    assert report.notes == ()


def test_l4_in_a_pipeline_of_compressors_the_reranked_one_is_kept() -> None:
    pipeline = pytest.importorskip("langchain_classic.retrievers.document_compressors").DocumentCompressorPipeline
    stages = [Reordering(order=LAST_FIRST), ContextOptimizerCompressor(max_tokens=900)]
    assert pipeline(transformers=stages).compress_documents(documents(), QUERY)[0].id == "d9"
