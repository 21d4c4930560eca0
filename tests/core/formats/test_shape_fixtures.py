"""The shapes are what they say: over the budget or not, and solvable where they claim to be."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from document_shapes import DOCUMENT_SHAPES, DocumentShape
from drawn_examples import examples
from hostile_text import documents, hostile_text, openai_messages
from independent_recount import count_text, problems, recount
from message_shapes import MESSAGE_SHAPES, MessageShape
from reference_view import reference_view
from tool_exchanges import find_exchanges, find_orphans

MESSAGES = [pytest.param(shape, id=shape.name) for shape in MESSAGE_SHAPES]
SOLVABLE = [param for param, shape in zip(MESSAGES, MESSAGE_SHAPES, strict=True) if not shape.infeasible]
DOCUMENTS = [pytest.param(shape, id=shape.name) for shape in DOCUMENT_SHAPES]


def test_names_are_unique_and_plentiful() -> None:
    assert len({shape.name for shape in MESSAGE_SHAPES}) == len(MESSAGE_SHAPES) >= 64
    assert len({shape.name for shape in DOCUMENT_SHAPES}) == len(DOCUMENT_SHAPES) >= 25


def test_all_shapes_are_built_within_a_second() -> None:
    start = time.process_time()
    built = [shape.build() for shape in (*MESSAGE_SHAPES, *DOCUMENT_SHAPES)]
    assert len(built) == len(MESSAGE_SHAPES) + len(DOCUMENT_SHAPES)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("shape", MESSAGES)
def test_a_message_shape_is_over_its_budget_unless_unchanged(shape: MessageShape) -> None:
    assert (recount(shape.messages, shape.tools) <= shape.max_tokens) is shape.unchanged


@pytest.mark.parametrize("shape", MESSAGES)
def test_a_message_shape_is_built_anew_and_holds_its_needles(shape: MessageShape) -> None:
    assert repr(shape.messages) == repr(shape.build())
    assert shape.messages is not shape.messages
    assert all(needle in json.dumps(shape.messages, ensure_ascii=False) for needle in shape.needles)


@pytest.mark.parametrize("shape", SOLVABLE)
def test_a_message_shape_can_be_solved(shape: MessageShape) -> None:
    rows, tools = shape.messages, shape.tools
    view = rows if shape.unchanged else reference_view(rows, tools, shape.needles, shape.max_tokens)
    assert problems(rows, view, budget=shape.max_tokens, tools=tools, needles=shape.needles) == []


@pytest.mark.parametrize("shape", [shape for shape in MESSAGE_SHAPES if shape.infeasible], ids=lambda shape: shape.name)
def test_an_infeasible_shape_is_over_the_budget_with_what_must_stay(shape: MessageShape) -> None:
    rows, tools = shape.messages, shape.tools
    must_stay = reference_view(rows, tools, shape.needles, shape.max_tokens) or rows
    assert recount(must_stay, tools) > shape.max_tokens


@pytest.mark.parametrize("shape", DOCUMENTS)
def test_a_document_shape_is_over_its_budget_unless_unchanged(shape: DocumentShape) -> None:
    texts = [row["text"] or "" for row in shape.documents]
    fits = count_text("\n\n".join(texts)) <= shape.max_tokens
    assert fits is (shape.unchanged or shape.name == "only_blank_texts")
    assert all(any(needle in text for text in texts) for needle in shape.needles)


@settings(max_examples=examples(150), deadline=None)
@given(openai_messages())
def test_drawn_chats_can_be_counted_and_checked(rows: list[dict[str, Any]]) -> None:
    assert recount(rows) > 6
    assert problems(rows, rows, budget=recount(rows)) == []


@settings(max_examples=examples(150), deadline=None)
@given(openai_messages(well_formed=True))
def test_well_formed_chats_have_no_orphans(rows: list[dict[str, Any]]) -> None:
    assert not find_orphans(rows)
    assert not any(exchange.unanswered for exchange in find_exchanges(rows))


@pytest.mark.parametrize(
    ("strategy", "wanted"),
    [
        pytest.param(hostile_text(), lambda text: any("\ud800" <= c <= "\udfff" for c in text), id="surrogates"),
        pytest.param(hostile_text(), lambda text: "<|endoftext|>" in text, id="special tokens"),
        pytest.param(openai_messages(), find_orphans, id="orphan results"),
        pytest.param(openai_messages(), lambda rows: any(x.unanswered for x in find_exchanges(rows)), id="open calls"),
        pytest.param(openai_messages(), lambda rows: any(isinstance(r["content"], list) for r in rows), id="parts"),
        pytest.param(
            openai_messages(), lambda rows: any(r["role"] == "system" for r in rows[1:]), id="system rows midway"
        ),
        pytest.param(documents(), lambda rows: any(row["score"] != row["score"] for row in rows), id="NaN scores"),
        pytest.param(documents(), lambda rows: len({row["id"] for row in rows}) < len(rows), id="ids used twice"),
    ],
)
def test_a_strategy_reaches_what_it_promises(strategy: st.SearchStrategy[Any], wanted: Any) -> None:
    unshrunk = settings(max_examples=1_000, deadline=None, phases=[Phase.generate], database=None)
    assert wanted(find(strategy, lambda drawn: bool(wanted(drawn)), settings=unshrunk))
