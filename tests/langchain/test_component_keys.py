"""Where in the prompt's input the four components are: named keys, usual keys, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

from langchain_ctxopt import ContextOptimizer
from langchain_requests import rendered_tokens

SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow arrives. "
DOCUMENTS = [Document(page_content=SENTENCE * 3) for _ in range(9)]
HISTORY = [message for _ in range(9) for message in (HumanMessage(SENTENCE), AIMessage(SENTENCE))]
COMPONENTS = {"system": "system", "query": "question", "documents": "context", "history": "chat_history"}


def prompt_with(system: str, query: str, documents: str, history: str) -> ChatPromptTemplate:
    return ChatPromptTemplate.from_messages(
        [
            ("system", f"{{{system}}} {{{documents}}}"),
            MessagesPlaceholder(history),
            ("human", f"{{{query}}}"),
        ]
    )


def values_with(system: str, query: str, documents: str, history: str) -> dict[str, Any]:
    return {system: SENTENCE * 4, query: "Which?", documents: DOCUMENTS, history: HISTORY}


USUAL = [
    *({**COMPONENTS, "query": key} for key in ("question", "query", "input")),
    *({**COMPONENTS, "documents": key} for key in ("context", "documents")),
    *({**COMPONENTS, "history": key} for key in ("chat_history", "history", "messages")),
    *({**COMPONENTS, "system": key} for key in ("system", "system_prompt")),
]


@pytest.mark.parametrize("keys", USUAL, ids=lambda keys: "-".join(keys.values()))
def test_i1_usual_keys_are_found(keys: dict[str, str]) -> None:
    prompt, values = prompt_with(**keys), values_with(**keys)
    report = ContextOptimizer(prompt=prompt, max_input_tokens=300).plan(values)
    assert all(report.components[name].before > 0 for name in COMPONENTS)


def test_i1_keys_of_any_name_can_be_named() -> None:
    keys = {"system": "rules", "query": "ask", "documents": "found", "history": "said"}
    named = {f"{component}_key": key for component, key in keys.items()}
    prompt, values = prompt_with(**keys), values_with(**keys)
    optimizer = ContextOptimizer(prompt=prompt, max_input_tokens=300, **named)
    fitted = optimizer.invoke(values)
    assert rendered_tokens(prompt, fitted) <= 300
    assert len(fitted["found"]) < len(DOCUMENTS)
    assert len(fitted["said"]) < len(HISTORY)


def test_i1_a_named_key_is_not_taken_for_another_component() -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{messages} {question}")])
    values = {"messages": DOCUMENTS, "question": "Which?"}
    optimizer = ContextOptimizer(prompt=prompt, max_input_tokens=150, documents_key="messages")
    report = optimizer.plan(values)
    assert report.components["history"].before == 0
    assert report.components["documents"].before > 150


def test_a1_a_usual_key_that_the_prompt_does_not_use_is_no_component() -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{question}")])
    values = {"question": "Which?", "chat_history": HISTORY * 50, "context": DOCUMENTS * 50}
    assert ContextOptimizer(prompt=prompt, max_input_tokens=20).invoke(values) is values


def test_i1_documents_that_are_text_already_are_counted_and_not_cut() -> None:
    keys = COMPONENTS
    prompt = prompt_with(**keys)
    values = {**values_with(**keys), "context": SENTENCE * 9}
    optimizer = ContextOptimizer(prompt=prompt, max_input_tokens=300)
    fitted = optimizer.invoke(values)
    assert fitted["context"] is values["context"]
    assert rendered_tokens(prompt, fitted) <= 300
    assert optimizer.plan(values).fixed > 100


def test_i1_a_usual_key_with_another_kind_of_value_is_counted_and_not_cut() -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{input} {context} {query}")])
    values = {"input": 7, "context": DOCUMENTS, "query": "Which?"}
    fitted = ContextOptimizer(prompt=prompt, max_input_tokens=150).invoke(values)
    assert fitted["input"] == 7
    assert fitted["query"] == "Which?"
    assert rendered_tokens(prompt, fitted) <= 150


@pytest.mark.parametrize("component", ["query", "documents", "system"])
def test_i1_a_component_that_is_none_is_not_there(component: str) -> None:
    prompt = prompt_with(**COMPONENTS)
    key = COMPONENTS[component]
    values = {**values_with(**COMPONENTS), key: None}
    for named in ({}, {f"{component}_key": key}):
        fitted = ContextOptimizer(prompt=prompt, max_input_tokens=300, **named).invoke(values)
        assert fitted[key] is None
        assert rendered_tokens(prompt, fitted) <= 300


@pytest.mark.parametrize("empty", [[], ()], ids=["list", "tuple"])
def test_i1_everything_may_be_empty(empty: Any) -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{system}{context}{chat_history}{question}")])
    values = {"system": "", "context": empty, "chat_history": empty, "question": ""}
    assert ContextOptimizer(prompt=prompt, max_input_tokens=50).invoke(values) is values


@pytest.mark.parametrize("kind", [list, tuple])
def test_x9_several_entries_of_a_query_come_back_as_many(kind: type) -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{context}\n{question}")])
    entries = kind(["Short?", SENTENCE * 20, SENTENCE * 10])
    values = {"context": DOCUMENTS, "question": entries}
    fitted = ContextOptimizer(prompt=prompt, max_input_tokens=200).invoke(values)
    assert type(fitted["question"]) is kind
    assert len(fitted["question"]) == 3
    heads = [cut.partition("\n[...")[0] for cut in fitted["question"]]
    assert all(entry.startswith(head) for entry, head in zip(entries, heads, strict=True))
    assert any(fitted["question"])
    assert rendered_tokens(prompt, fitted) <= 200


def test_x9_entries_that_fit_stay_the_identical_list() -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{context}\n{question}")])
    entries = ["Which lantern?", "Which pier?"]
    fitted = ContextOptimizer(prompt=prompt, max_input_tokens=200).invoke({"context": DOCUMENTS, "question": entries})
    assert fitted["question"] is entries


@pytest.mark.parametrize(
    ("settings", "values", "error", "message"),
    [
        ({}, {}, ValueError, "the prompt needs 'context', 'question', and the input has only nothing"),
        ({}, {"context": []}, ValueError, "the prompt needs 'question', and the input has only 'context'"),
        ({}, {"context": "x", "question": 7}, ValueError, "none of the input's keys .* name them with `query_key`"),
        ({"query_key": "ask"}, {"context": [], "question": "x"}, ValueError, "`query_key` is 'ask', but the input has"),
        ({"query_key": "a"}, {"context": [], "question": "x", "a": ""}, ValueError, "'a', but the prompt uses only"),
        ({"documents_key": "context"}, {"context": "x", "question": "x"}, TypeError, "'context' .* a list or tuple"),
        (
            {"query_key": "question"},
            {"context": [], "question": 7},
            TypeError,
            "'question' .* a string or a list of strings",
        ),
        ({"query_key": "question"}, {"context": [], "question": ["x", 7]}, TypeError, "'question' .* list of strings"),
        ({}, {"context": ["text"], "question": "x"}, TypeError, "item 0 of the documents must be .*page_content"),
        ({"history_key": "context"}, {"context": DOCUMENTS, "question": "x"}, TypeError, "expected a message"),
    ],
)
def test_i1_an_input_that_cannot_be_read_is_refused_with_a_remedy(
    settings: dict[str, Any], values: dict[str, Any], error: type[Exception], message: str
) -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{context}{question}")])
    with pytest.raises(error, match=message):
        ContextOptimizer(prompt=prompt, max_input_tokens=50, **settings).invoke(values)


def test_i1_what_the_prompt_itself_refuses_it_refuses_whatever_the_size() -> None:
    prompt = prompt_with(**COMPONENTS)
    for turns in (1, 200):
        values = {**values_with(**COMPONENTS), "chat_history": tuple(HISTORY[:2] * turns)}
        with pytest.raises(ValueError, match="chat_history should be a list"):
            ContextOptimizer(prompt=prompt, max_input_tokens=900).invoke(values)
