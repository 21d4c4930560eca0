"""Every set of documents that is known to go wrong elsewhere, through the packing."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import pack_documents
from ctxopt_core.documents.policy import DocumentPolicy
from document_shapes import DOCUMENT_SHAPES, DocumentShape
from independent_recount import count_text
from shape_rows import filler

COUNTER = TiktokenCounter()


def documents_of(shape: DocumentShape) -> list[Document]:
    return [Document(text=row["text"], id=row["id"], score=row["score"]) for row in shape.documents]


@pytest.mark.parametrize("shape", DOCUMENT_SHAPES, ids=lambda shape: shape.name)
def test_a_document_shape_is_packed_within_its_budget_and_keeps_the_answer(shape: DocumentShape):
    try:
        documents = documents_of(shape)
        start = time.process_time()
        packing = pack_documents(documents, shape.max_tokens, COUNTER, query=shape.question)
    except TypeError as error:
        assert shape.worded_scores
        assert "doc-" in str(error)
        return
    except ValueError as error:
        assert shape.no_budget
        assert "`budget`" in str(error)
        return

    assert time.process_time() - start < 2
    kept = kept_text(packing, documents)
    assert packing.tokens == count_text(kept) <= shape.max_tokens
    assert all(needle in kept for needle in shape.needles)
    assert "\ufffd" not in kept
    assert documents == documents_of(shape) or "nan" in shape.name
    if shape.unchanged:
        assert packing.whole == tuple(range(len(documents)))


VARIATIONS = {
    "reversed": lambda documents: documents[::-1],
    "no-scores": lambda documents: [replace(document, score=None) for document in documents],
    "equal-scores": lambda documents: [replace(document, score=0.0) for document in documents],
    "falling-scores": lambda documents: [replace(document, score=-number) for number, document in enumerate(documents)],
    "no-ids": lambda documents: [replace(document, id=None) for document in documents],
    "one-source": lambda documents: [replace(document, source="notes.md") for document in documents],
}
FEASIBLE = [shape for shape in DOCUMENT_SHAPES if not (shape.worded_scores or shape.infeasible)]
SELECTIONS = ("auto", "score", "passages", "density", "optimal")


def kept_text(packing, documents) -> str:
    return "\n\n".join(packing.texts.get(index, documents[index].text) for index in packing.kept)


@pytest.mark.parametrize("vary", VARIATIONS.values(), ids=VARIATIONS)
@pytest.mark.parametrize("shape", FEASIBLE, ids=lambda shape: shape.name)
def test_a_document_shape_keeps_the_answer_when_scores_and_order_vary(shape: DocumentShape, vary):
    documents = vary(documents_of(shape))

    packing = pack_documents(documents, shape.max_tokens, COUNTER, query=shape.question)

    kept = kept_text(packing, documents)
    assert all(needle in kept for needle in shape.needles)
    assert packing.tokens == count_text(kept) <= shape.max_tokens


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("shape", FEASIBLE, ids=lambda shape: shape.name)
def test_a_document_shape_keeps_the_answer_whatever_the_selection(shape: DocumentShape, selection):
    documents = documents_of(shape)

    packing = pack_documents(
        documents, shape.max_tokens, COUNTER, query=shape.question, policy=DocumentPolicy(selection=selection)
    )

    kept = kept_text(packing, documents)
    # By value and tokens a thousand shorter documents of almost the same score are worth more than the one asked for.
    by_value = selection in ("density", "optimal") and len(documents) > 1_000
    assert by_value or all(needle in kept for needle in shape.needles)
    assert packing.tokens == count_text(kept) <= shape.max_tokens


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param([1.0 - number / 900 for number in range(900)], id="worst-score"),
        pytest.param([None] * 900, id="no-scores"),
        pytest.param([1.0] * 899 + [None], id="the-only-one-without-a-score"),
    ],
)
@pytest.mark.parametrize("sentences", [1, 5], ids=["small", "large"])
def test_the_one_document_that_answers_is_kept_wherever_it_ranks(scores, sentences):
    answer = "The kiln cracked because batch ZK-402 was damp."
    texts = [f"Note {number}. {filler(sentences)}" for number in range(899)] + [answer]
    documents = [Document(text=text, score=score) for text, score in zip(texts, scores, strict=True)]

    packing = pack_documents(documents, 200, COUNTER, query="Why did the kiln crack?")

    assert 899 in packing.whole
    assert 0 in packing.kept
    assert packing.tokens >= 180


def test_with_passages_off_the_scores_alone_decide():
    documents = [Document(text=filler(5), score=1.0), Document(text="The kiln cracked.", score=None)]
    budget = COUNTER.count(documents[0].text)

    packing = pack_documents(documents, budget, COUNTER, query="kiln", policy=DocumentPolicy(passages=False))

    assert packing.kept == (0,)
