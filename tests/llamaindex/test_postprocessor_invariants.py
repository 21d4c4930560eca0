"""What holds for any nodes: the budget as a synthesizer joins them, something of them, and their order."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llama_index.core.schema import BaseNode, NodeWithScore

from ctxopt_core import ContextBudgetError, DocumentPolicy
from document_shapes import DOCUMENT_SHAPES, DocumentShape
from drawn_examples import examples
from hostile_text import documents as hostile_documents
from hostile_text import hostile_text
from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor
from node_inputs import (
    CLASSES,
    image_node,
    is_cut_of,
    joined,
    joined_tokens,
    scored_nodes,
    snapshot,
    text_in,
    text_tokens,
)
from request_tokens import count_text
from shape_rows import FAMILY, SENTENCE, Row

ROOM = count_text(FAMILY) + 8
"""Tokens beside the metadata in which something of any text can be kept: one sign of many tokens at the least."""

FULL = joined_tokens(scored_nodes())
SMALLEST_FRAME = min(joined_tokens([item]) for item in scored_nodes(sentences=0))


def node_of_row(row: Row, number: int, kind: str, *, shown: bool) -> NodeWithScore:
    """Return a node as an application could make it: where pydantic refuses a text, without its validation."""
    metadata = {"title": row["title"], "n": number}
    node = CLASSES[kind]("", id_=f"{row['id']}-{number}", metadata=metadata)
    node.excluded_llm_metadata_keys = ["n"] if shown else ["n", "title"]
    return NodeWithScore.model_construct(node=_holding(node, row["text"] or ""), score=row["score"])


def _holding(node: BaseNode, text: str) -> BaseNode:
    if hasattr(node, "entries"):
        return node.model_copy(update={"entries": text.split("\n")})
    if hasattr(node, "text_resource"):
        return node.model_copy(update={"text_resource": node.text_resource.model_copy(update={"text": text})})
    return node.model_copy(update={"text": text})


def nodes_of(rows: list[Row], *, shown: bool = True) -> list[NodeWithScore]:
    kinds = list(CLASSES)
    return [node_of_row(row, number, kinds[number % len(kinds)], shown=shown) for number, row in enumerate(rows)]


def position(item: NodeWithScore) -> int:
    return int(item.node.metadata["n"])


@pytest.mark.parametrize("shown", [False, True], ids=["bare", "titled"])
@pytest.mark.parametrize("shape", DOCUMENT_SHAPES, ids=lambda shape: shape.name)
def test_i5_a_document_shape_is_packed_within_its_budget_and_keeps_the_answer(
    shape: DocumentShape, shown: bool
) -> None:
    found = nodes_of(shape.documents, shown=shown)
    if shape.no_budget:
        with pytest.raises(ValueError, match="`max_tokens` must be a whole number of tokens, at least 1"):
            ContextOptimizerPostprocessor(max_tokens=shape.max_tokens)
        return
    # The shapes are about texts: with media, the answer on an image would cost an allowance.
    postprocessor = ContextOptimizerPostprocessor(max_tokens=shape.max_tokens, multimodal=False)
    if shape.worded_scores:
        with pytest.raises(TypeError, match="`score` of document 'doc-0-0' must be a number or None"):
            postprocessor.postprocess_nodes(found, query_str=shape.question)
        return
    before = snapshot(found)
    try:
        kept = postprocessor.postprocess_nodes(found, query_str=shape.question)
    except ContextBudgetError:
        assert shape.infeasible or shown
        return
    assert bool(kept) == bool(found)
    assert text_tokens(kept) <= shape.max_tokens
    assert all(needle in joined(kept) for needle in shape.needles if not shown)
    assert snapshot(found) == before
    assert all(item is found[position(item)] or is_cut_of(item, found[position(item)]) for item in kept)
    if shape.unchanged and not shown:
        assert [id(item) for item in kept] == [id(item) for item in found]


def test_i5_every_budget_from_nothing_to_more_than_all_holds() -> None:
    given_nodes, kept_before = scored_nodes(), 0
    for budget in range(1, FULL + 3):
        try:
            kept = ContextOptimizerPostprocessor(max_tokens=budget).postprocess_nodes(given_nodes, query_str="ferry")
        except ContextBudgetError as error:
            assert kept_before == 0, budget
            assert budget < SMALLEST_FRAME + ROOM
            assert (error.needed or 0) > budget
            continue
        kept_before = len(kept)
        assert 0 < joined_tokens(kept) <= budget, budget
        whole = [id(item) for item in kept] == [id(item) for item in given_nodes]
        assert whole is (budget >= FULL), budget


@settings(deadline=None, max_examples=examples(60))
@given(
    rows=hostile_documents(),
    query=st.one_of(st.none(), st.just("When are lanterns lit?"), hostile_text(4)),
    budget=st.one_of(st.integers(1, 60), st.integers(60, 900)),
    shown=st.booleans(),
    images=st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["", "a pier", SENTENCE])), max_size=3),
    reading_order=st.sampled_from(["score", "original", "edges"]),
    score_order=st.sampled_from(["higher", "lower"]),
    passages=st.booleans(),
    limits=st.sampled_from([{}, {}, {"max_documents": 2}, {"min_score": 0.5}, {"max_documents": 1, "min_score": 0.9}]),
)
@example(
    rows=[{"id": "a", "title": "", "text": FAMILY * 40, "score": 1.0}],
    query=None,
    budget=ROOM,
    shown=False,
    images=[],
    reading_order="score",
    score_order="higher",
    passages=True,
    limits={},
)
@example(
    rows=[{"id": None, "title": SENTENCE, "text": SENTENCE * 9, "score": math.nan}] * 2,
    query="Which lanterns?",
    budget=60,
    shown=True,
    images=[(0, SENTENCE), (1, ""), (9, SENTENCE)],
    reading_order="edges",
    score_order="lower",
    passages=False,
    limits={},
)
def test_i5_whatever_comes_in_the_budget_holds_and_something_stays(
    rows: list[Row],
    query: str | None,
    budget: int,
    shown: bool,
    images: list[tuple[int, str]],
    reading_order: Any,
    score_order: Any,
    passages: bool,
    limits: dict[str, Any],
) -> None:
    found = nodes_of(rows, shown=shown)
    for place, alt in images:
        metadata = {"n": 0, "alt": alt} if alt else {"n": 0}
        image = image_node(place, metadata=metadata, excluded_llm_metadata_keys=["n"])
        found.insert(place, NodeWithScore(node=image, score=place / 9))
    for number, item in enumerate(found):
        item.node.metadata["n"] = number
    before = snapshot(found)
    policy = DocumentPolicy(reading_order=reading_order, score_order=score_order, passages=passages, **limits)
    postprocessor = ContextOptimizerPostprocessor(max_tokens=budget, documents=policy)
    try:
        kept = postprocessor.postprocess_nodes(found, query_str=query)
    except ContextBudgetError as error:
        assert (error.needed or 0) > budget
        _check_that_nothing_fits(found, budget)
        return
    finally:
        assert snapshot(found) == before
    assert bool(kept) == bool(found)
    assert joined_tokens(kept) <= budget
    assert postprocessor.plan(found, query).tokens_after == joined_tokens(kept)
    assert len(kept) <= (policy.max_documents or len(found))
    positions = [position(item) for item in kept]
    assert len(set(positions)) == len(positions)
    assert all(item is found[n] or is_cut_of(item, found[n]) for item, n in zip(kept, positions, strict=True))
    if reading_order == "original":
        assert positions == sorted(positions)
    if not limits and joined_tokens(found) <= budget and any(text_in(item).strip() for item in found):
        wanted = [item for item in found if text_in(item).strip() or hasattr(item.node, "image_url")]
        assert {id(item) for item in kept} == {id(item) for item in wanted}


def _check_that_nothing_fits(found: list[NodeWithScore], budget: int) -> None:
    """Check that no node, were it empty, would leave room for one sign."""
    frames = [joined_tokens([NodeWithScore(node=_holding(item.node, ""))]) for item in found if text_in(item).strip()]
    assert all(frame + ROOM > budget for frame in frames)


@settings(deadline=None, max_examples=examples(30))
@given(budget=st.integers(20, FULL), share=st.integers(1, 40))
def test_i5_a_packing_of_what_was_packed_changes_nothing(budget: int, share: int) -> None:
    postprocessor = ContextOptimizerPostprocessor(max_tokens=budget)
    kept = postprocessor.postprocess_nodes(scored_nodes(1 + share % 10), query_str="")
    again = postprocessor.postprocess_nodes(kept, query_str="")
    assert [id(item) for item in again] == [id(item) for item in kept]
