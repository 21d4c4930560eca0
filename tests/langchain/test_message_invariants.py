"""What holds for every list of messages and every budget, counted without the code under test."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import ChatPromptValue

from drawn_examples import examples
from fitted_rows import is_note
from hostile_text import openai_messages
from langchain_ctxopt import ContextOptimizer, RequestOverflowError
from langchain_requests import rows_of, sent_tokens, to_message
from view_problems import problems

THOROUGH = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def messages() -> st.SearchStrategy[list[BaseMessage]]:
    return openai_messages().map(lambda rows: [to_message(row) for row in rows])


@THOROUGH
@given(messages(), st.data())
def test_a13_every_budget_holds_or_the_error_says_why(given_messages: list[BaseMessage], data: Any) -> None:
    full = sent_tokens(given_messages)
    budget = data.draw(st.integers(1, full + 2))
    before = copy.deepcopy(given_messages)
    optimizer = ContextOptimizer(max_input_tokens=budget)
    try:
        fitted = optimizer.invoke(given_messages)
    except RequestOverflowError:
        assert budget < max(full, 3)
        return

    assert given_messages == before
    assert (fitted is given_messages) is (budget >= full)
    assert problems(rows_of(before), rows_of(fitted), budget=budget, is_placeholder=is_note) == []
    assert optimizer.invoke(fitted) is fitted
    assert all(type(one) is type(other) for one, other in _pairs(before, fitted))


def _pairs(before: list[BaseMessage], after: list[BaseMessage]) -> list[tuple[BaseMessage, BaseMessage]]:
    return [(one, other) for one in before for other in after if one == other]


@settings(THOROUGH, max_examples=examples(40))
@given(openai_messages(max_turns=2), st.data())
def test_i1_every_kind_of_message_list_is_cut_alike(rows: list[dict[str, Any]], data: Any) -> None:
    converted = [to_message(row) for row in rows]
    budget = data.draw(st.integers(1, sent_tokens(converted) + 2))
    optimizer = ContextOptimizer(max_input_tokens=budget)
    try:
        fitted = optimizer.invoke(converted)
    except RequestOverflowError:
        return

    value = optimizer.invoke(ChatPromptValue(messages=converted))
    assert value.messages == fitted
    assert optimizer.invoke(tuple(converted)) == tuple(fitted)
