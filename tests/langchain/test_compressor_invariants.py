"""What holds for any documents: the budget as the prompt holds them, something of them, and their order."""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate

from compressor_inputs import BARE, is_cut_of, joined, joined_tokens
from ctxopt_core import DocumentPolicy
from document_shapes import DOCUMENT_SHAPES, DocumentShape
from drawn_examples import examples
from hostile_text import documents as hostile_documents
from hostile_text import hostile_text
from independent_recount import count_text
from langchain_ctxopt import ContextOptimizerCompressor
from shape_rows import FAMILY, SENTENCE, Row

TITLED = PromptTemplate.from_template("[{n}] {title}\n{page_content}")
TEMPLATES = (BARE, TITLED)
ROOM = count_text(FAMILY) + 8
"""Tokens beside the template in which something of any text can be kept: one sign of many tokens at the least."""


def document_of(row: Row, number: int) -> Document:
    """Return a document as an application could make it: where LangChain refuses the text, without its validation."""
    fields: dict[str, Any] = {
        "page_content": row["text"] or "",
        "metadata": {"score": row["score"], "title": row["title"], "n": number},
        "id": row["id"],
    }
    valid = not any("\ud800" <= sign <= "\udfff" for sign in fields["page_content"])
    return Document(**fields) if valid else Document.model_construct(**fields)


def documents_of(rows: list[Row]) -> list[Document]:
    return [document_of(row, number) for number, row in enumerate(rows)]


def texts_of(found: list[Document]) -> list[str]:
    return [document.page_content for document in found]


@pytest.mark.parametrize("template", TEMPLATES, ids=["bare", "titled"])
@pytest.mark.parametrize("shape", DOCUMENT_SHAPES, ids=lambda shape: shape.name)
def test_i2_a_document_shape_is_compressed_within_its_budget_and_keeps_the_answer(
    shape: DocumentShape, template: PromptTemplate
) -> None:
    found = documents_of(shape.documents)
    if shape.no_budget:
        with pytest.raises(ValueError, match="`max_tokens` must be a whole number of tokens, at least 1"):
            ContextOptimizerCompressor(max_tokens=shape.max_tokens)
        return
    budget = shape.max_tokens
    compressor = ContextOptimizerCompressor(max_tokens=budget, document_prompt=template)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if shape.infeasible else "error")
        kept = compressor.compress_documents(found, shape.question)

    assert joined_tokens(kept, template=template) <= budget
    assert all(needle in joined(kept, template) for needle in shape.needles)
    assert texts_of(found) == [row["text"] or "" for row in shape.documents]
    assert all(document is found[document.metadata["n"]] or _is_part(document, found) for document in kept)
    if shape.unchanged:
        assert [id(document) for document in kept] == [id(document) for document in found]


@settings(deadline=None, max_examples=examples(60))
@given(
    rows=hostile_documents(),
    query=st.one_of(st.just(""), st.just("When are lanterns lit?"), hostile_text(4)),
    budget=st.one_of(st.integers(1, 60), st.integers(60, 900)),
    template=st.sampled_from(TEMPLATES),
    separator=st.sampled_from(["\n\n", "", " | ", "\n---\n"]),
    reading_order=st.sampled_from(["score", "original", "edges"]),
    score_order=st.sampled_from(["higher", "lower"]),
    passages=st.booleans(),
)
@example(
    rows=[{"id": "a", "title": "", "text": FAMILY * 40, "score": 1.0}],
    query="",
    budget=ROOM,
    template=BARE,
    separator="\n\n",
    reading_order="score",
    score_order="higher",
    passages=True,
)
@example(
    rows=[{"id": None, "title": SENTENCE, "text": SENTENCE * 9, "score": math.nan}] * 2,
    query="Which lanterns?",
    budget=60,
    template=TITLED,
    separator="",
    reading_order="edges",
    score_order="lower",
    passages=True,
)
def test_i2_whatever_comes_in_the_budget_holds_and_something_stays(
    rows: list[Row],
    query: str,
    budget: int,
    template: PromptTemplate,
    separator: str,
    reading_order: Any,
    score_order: Any,
    passages: bool,
) -> None:
    found = documents_of(rows)
    before = copy.deepcopy(found)
    policy = DocumentPolicy(reading_order=reading_order, score_order=score_order, passages=passages)
    compressor = ContextOptimizerCompressor(
        max_tokens=budget, document_prompt=template, document_separator=separator, documents=policy
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing fits
        kept = compressor.compress_documents(found, query)
        assert compressor.compress_documents(found, query) == kept

    assert joined_tokens(kept, template=template, separator=separator) <= budget
    assert compressor.plan(found, query).tokens_after == joined_tokens(kept, template=template, separator=separator)
    assert texts_of(found) == texts_of(before)
    assert all(document is found[document.metadata["n"]] or _is_part(document, found) for document in kept)
    _check_something_stays(found, kept, budget, template, passages=passages)
    _check_order(found, kept, policy, query)


def _is_part(document: Document, found: list[Document]) -> bool:
    """Compare without the score, which is not equal to itself where it is NaN."""
    original = found[document.metadata["n"]]
    plain = {key: value for key, value in original.metadata.items() if key != "score"}
    left, right = (
        each.model_copy(update={"metadata": {**plain, "n": each.metadata["n"]}}) for each in (document, original)
    )
    return is_cut_of(left, right) and document.metadata is not original.metadata


def _check_something_stays(
    found: list[Document], kept: list[Document], budget: int, template: PromptTemplate, *, passages: bool
) -> None:
    readable = [document for document in found if document.page_content.strip()]
    if not passages or not readable:
        return
    empty = [document.model_copy(update={"page_content": ""}) for document in readable]
    if budget >= max(joined_tokens([document], template=template) for document in empty) + ROOM:
        assert kept


def _check_order(found: list[Document], kept: list[Document], policy: DocumentPolicy, query: str) -> None:
    positions = [document.metadata["n"] for document in kept]
    assert len(set(positions)) == len(positions)
    if policy.reading_order == "original":
        assert positions == sorted(positions)
    elif policy.reading_order == "score" and not query.strip():
        ranks = [_rank(found[position].metadata["score"], policy) for position in positions]
        assert ranks == sorted(ranks)


def _rank(score: Any, policy: DocumentPolicy) -> tuple[bool, float]:
    missing = score is None or math.isnan(score)
    return missing, 0.0 if missing else float(score) if policy.score_order == "lower" else -float(score)
