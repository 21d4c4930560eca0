"""Every known message shape and every drawn conversation, fitted by the middleware and by an optimized model."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain.agents.middleware.types import ModelRequest
from langchain_core.language_models._utils import _normalize_messages
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.outputs import ChatResult
from pydantic import Field

from drawn_examples import examples
from fitted_rows import is_note
from hostile_text import openai_messages
from langchain_ctxopt import ContextOptimizerMiddleware, RequestOverflowError, with_optimizer
from langchain_requests import rows_of, sent_tokens, to_message
from message_shapes import MESSAGE_SHAPES, MessageShape
from scripted_model import ScriptedModel
from view_problems import problems

SHAPES = [pytest.param(shape, id=shape.name) for shape in MESSAGE_SHAPES]


def through_middleware(messages: list[BaseMessage], budget: int, tools: list[Any]) -> list[BaseMessage]:
    """Return what an agent would send: its system message, which it keeps apart, before the messages."""
    sent: list[Any] = []
    apart = bool(messages) and type(messages[0]) is SystemMessage
    request = ModelRequest(
        model=ScriptedModel(window=budget, max_tokens=0),
        messages=messages[apart:],
        system_message=messages[0] if apart else None,
        tools=tools,
    )
    ContextOptimizerMiddleware(max_input_tokens=budget, output_reserve=0).wrap_model_call(request, sent.append)
    [fitted] = sent
    assert (fitted is request) is (sent_tokens(messages, tools) <= budget)
    return [*([] if fitted.system_message is None else [fitted.system_message]), *fitted.messages]


class RecordingModel(ScriptedModel):
    """Keeps the messages that it is asked with."""

    asked: list[Any] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *arguments: Any, **options: Any) -> ChatResult:
        self.asked.append(messages)
        return super()._generate(messages, *arguments, **options)


def through_model(messages: list[BaseMessage], budget: int, tools: list[Any]) -> list[BaseMessage]:
    model = with_optimizer(RecordingModel(window=budget, max_tokens=0), max_input_tokens=budget, output_reserve=0)
    model.invoke(messages, **({"tools": tools} if tools else {}))
    [asked] = model.asked
    return asked


def rows_as_sent(messages: list[BaseMessage]) -> list[dict[str, Any]]:
    """Return rows as LangChain normalizes them, and without the empty id that a ToolMessage has for none."""
    rows = rows_of(_normalize_messages(messages))
    for block in (block for row in rows if isinstance(row["content"], list) for block in row["content"]):
        if isinstance(block, dict) and str(block.get("id")).startswith("lc_"):
            del block["id"]  # drawn anew each time
    return [{**row, "tool_call_id": row["tool_call_id"] or None} if "tool_call_id" in row else row for row in rows]


@pytest.mark.parametrize("play", [through_middleware, through_model])
@pytest.mark.parametrize("shape", SHAPES)
def test_i3_every_known_shape_is_sent_whole_in_its_pairs_and_within_the_budget(shape: MessageShape, play: Any) -> None:
    messages = [to_message(row) for row in shape.messages]
    before = copy.deepcopy(messages)
    try:
        fitted = play(messages, shape.max_tokens, shape.tools)
    except RequestOverflowError:
        assert "error" in _right_outcomes(shape)
        return

    assert messages == before
    rows, after = rows_as_sent(before), rows_as_sent(fitted)
    assert problems(rows, after, budget=shape.max_tokens, tools=shape.tools, is_placeholder=is_note) == []
    assert shape.infeasible or all(needle in str(after) for needle in shape.needles)


def _right_outcomes(shape: MessageShape) -> set[str]:
    """An error is right where what must stay does not fit; the whole question must, since it is protected."""
    question = [row for row in shape.messages if row["role"] == "user"][-1:]
    protected = sent_tokens(question, shape.tools) > shape.max_tokens
    return {"sent", "error"} if shape.infeasible or protected else {"sent"}


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(openai_messages(), st.data())
def test_i3_every_budget_holds_or_the_error_says_why(rows: list[dict[str, Any]], data: Any) -> None:
    messages = [to_message(row) for row in rows]
    full = sent_tokens(messages)
    budget = data.draw(st.integers(1, full + 2))
    try:
        fitted = through_middleware(messages, budget, [])
    except RequestOverflowError:
        assert budget < max(full, 3)
        return

    assert problems(rows_of(messages), rows_of(fitted), budget=budget, is_placeholder=is_note) == []
