"""What holds for every dict and every budget, counted on the rendered prompt without the code under test."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.prompts import BasePromptTemplate, ChatPromptTemplate, MessagesPlaceholder, PromptTemplate

from drawn_examples import examples
from hostile_text import documents, hostile_text, openai_messages
from langchain_ctxopt import ContextOptimizer, RequestOverflowError
from langchain_requests import rendered_tokens, rows_of, to_message
from tool_exchanges import find_exchanges, find_orphans

THOROUGH = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
CHAT = ChatPromptTemplate.from_messages(
    [
        ("system", "{system}\n\nOnly from this, {{braces}} and all:\n{context}\n---"),
        MessagesPlaceholder("chat_history"),
        ("human", "{question}?"),
    ]
)
TEXT = PromptTemplate.from_template("{system}|{context}|{chat_history}|{question}")


def as_document(row: dict[str, Any]) -> Document:
    return Document(
        page_content=row["text"] or "", id=row["id"], metadata={"title": row["title"], "score": row["score"]}
    )


def inputs() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "system": hostile_text(4),
            "context": documents().map(lambda rows: [as_document(row) for row in rows]),
            "chat_history": openai_messages(max_turns=2).map(lambda rows: [to_message(row) for row in rows]),
            "question": st.one_of(hostile_text(4), st.lists(hostile_text(3), max_size=3)),
        }
    )


def without_components(values: dict[str, Any]) -> dict[str, Any]:
    return {key: "" if isinstance(value, str) else [] for key, value in values.items()}


def check(prompt: BasePromptTemplate[Any], values: dict[str, Any], data: Any, **options: Any) -> None:
    fixed, full = rendered_tokens(prompt, without_components(values)), rendered_tokens(prompt, values)
    budget = data.draw(st.integers(1, max(fixed, full) + 2), label="budget")
    before = copy.deepcopy(values)
    optimizer = ContextOptimizer(prompt=prompt, max_input_tokens=budget, **options)
    try:
        fitted = optimizer.invoke(values)
    except RequestOverflowError:
        fitted = None
    assert repr(values) == repr(before)
    if fitted is None:
        return
    assert rendered_tokens(prompt, fitted) <= budget
    assert fitted.keys() == values.keys()
    assert type(fitted["question"]) is type(values["question"])
    if isinstance(values["question"], list):
        assert len(fitted["question"]) == len(values["question"])
    if fitted is not values:
        check_history(values["chat_history"], fitted["chat_history"])


def check_history(before: list[BaseMessage], after: list[BaseMessage]) -> None:
    if len(before) == len(after) and all(map(lambda one, other: one is other, before, after)):
        return
    rows = rows_of(after)
    assert find_orphans(rows) == []
    assert all(not exchange.unanswered or exchange.end == len(rows) for exchange in find_exchanges(rows))


@THOROUGH
@given(inputs(), st.data())
def test_a13_a_chat_prompt_is_within_every_budget_or_an_error_says_why(values: dict[str, Any], data: Any) -> None:
    check(CHAT, values, data)


@THOROUGH
@given(inputs(), st.data())
def test_a13_so_is_a_text_prompt_that_prints_lists(values: dict[str, Any], data: Any) -> None:
    check(TEXT, values, data)


@THOROUGH
@given(inputs(), st.sampled_from(["* {page_content}", "{title}: {page_content}\n", "{{}}{page_content}"]), st.data())
def test_a13_so_are_documents_that_leave_as_text(values: dict[str, Any], template: str, data: Any) -> None:
    fixed = rendered_tokens(CHAT, {**without_components(values), "context": ""})
    budget = data.draw(st.integers(1, fixed + 2_000), label="budget")
    separator = data.draw(st.sampled_from(["\n\n", "", " ", "\n---\n"]), label="separator")
    optimizer = ContextOptimizer(
        prompt=CHAT,
        max_input_tokens=budget,
        documents_as="text",
        document_prompt=template,
        document_separator=separator,
    )
    try:
        fitted = optimizer.invoke(values)
    except RequestOverflowError:
        return
    assert isinstance(fitted["context"], str)
    assert rendered_tokens(CHAT, fitted) <= budget


@pytest.mark.filterwarnings("ignore:a request could not be cut")
@THOROUGH
@given(inputs(), st.data())
def test_a13_emptying_leaves_nothing_but_the_query(values: dict[str, Any], data: Any) -> None:
    budget = data.draw(st.integers(1, rendered_tokens(CHAT, values) + 2), label="budget")
    optimizer = ContextOptimizer(prompt=CHAT, max_input_tokens=budget, overflow="empty")
    try:
        fitted = optimizer.invoke(values)
    except RequestOverflowError:
        return
    assert rendered_tokens(CHAT, fitted) <= budget
    asked = values["question"] if isinstance(values["question"], str) else "".join(values["question"])
    left = fitted["question"] if isinstance(fitted["question"], str) else "".join(fitted["question"])
    assert bool(left.strip()) is bool(asked.strip())
