"""Prompts that do not simply hold each component once: conditional text, a component used twice or as a text."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate

from langchain_ctxopt import ContextOptimizer


def words(text):
    return len(text.split())


def chat(turns):
    return [m for i in range(turns) for m in (HumanMessage(f"question {i} of ten words a b c d e f"), AIMessage("yes"))]


def rendered(prompt, values):
    return 3 + sum(4 + words(message.text) for message in prompt.invoke(values).to_messages())


ASIDE = "nothing was found at all " * 40


@pytest.mark.parametrize(
    ("template", "values"),
    [
        ("{{^question}}" + ASIDE + "{{/question}}{{question}}", {"question": "why?"}),
        ("{{^context}}" + ASIDE + "{{/context}}{{question}}", {"question": "why?", "context": [Document("found")]}),
    ],
    ids=["without a question", "without documents"],
)
def test_a1_text_that_a_template_shows_only_without_a_component_does_not_count_with_it(template, values):
    prompt = ChatPromptTemplate([("human", template)], template_format="mustache")
    optimizer = ContextOptimizer(prompt=prompt, max_input_tokens=100, token_counter=words)

    assert rendered(prompt, values) <= 100
    assert optimizer.invoke(values) is values


TWICE = {
    "messages and text": ChatPromptTemplate(
        [MessagesPlaceholder("chat_history"), ("human", "{chat_history}\n{question}")]
    ),
    "messages twice": ChatPromptTemplate(
        [MessagesPlaceholder("chat_history"), MessagesPlaceholder("chat_history"), ("human", "{question}")]
    ),
    "text alone": PromptTemplate.from_template("Conversation: {chat_history}\n\n{question}"),
}


@pytest.mark.parametrize("budget", [400, 800, 1600])
@pytest.mark.parametrize("prompt", TWICE.values(), ids=TWICE)
def test_a13_a_history_that_is_rendered_twice_or_as_text_still_uses_the_budget(prompt, budget):
    values = {"chat_history": chat(200), "question": "why?"}
    optimizer = ContextOptimizer(prompt=prompt, max_input_tokens=budget, token_counter=words)

    fitted = optimizer.fit(values)

    assert 0.8 * budget <= rendered(prompt, fitted.value) <= budget
    assert fitted.value["chat_history"][-1] is values["chat_history"][-1]


def test_a13_documents_that_stand_in_two_messages_still_use_the_budget():
    prompt = ChatPromptTemplate([("system", "{context}"), ("human", "{context}\n{question}")])
    values = {"context": [Document(f"w{i} " * 20) for i in range(40)], "question": "why?"}
    optimizer = ContextOptimizer(prompt=prompt, max_input_tokens=400, token_counter=words, documents_as="text")

    assert 300 <= rendered(prompt, optimizer.invoke(values)) <= 400


@pytest.mark.parametrize("key", [None, "context"])
def test_a16_documents_that_are_one_text_already_are_taken_as_they_are(key):
    prompt = ChatPromptTemplate([("human", "{context}")])
    values = {"context": [Document(f"w{i} " * 20) for i in range(40)]}
    optimizer = ContextOptimizer(
        prompt=prompt, max_input_tokens=200, token_counter=words, documents_as="text", documents_key=key
    )

    once = optimizer.invoke(values)

    assert isinstance(once["context"], str)
    assert optimizer.invoke(once) == once


@pytest.mark.parametrize("key", ["reasoning_content", "refusal"])
def test_a10_text_that_is_sent_beside_the_content_is_counted(key):
    message = AIMessage("a", additional_kwargs={key: "r " * 500})
    row = {"role": "assistant", "content": None, key: "r " * 500}
    optimizer = ContextOptimizer(max_input_tokens=5_000, token_counter=words)

    for given in ([HumanMessage("hi"), message], [{"role": "user", "content": "hi"}, row]):
        assert optimizer.plan(given).tokens_before > 500


def test_a_refusal_is_not_an_empty_message():
    rows = [
        {"role": "user", "content": "old " * 300},
        {"role": "assistant", "content": "fine"},
        {"role": "user", "content": "bomb?"},
        {"role": "assistant", "content": None, "refusal": "I cannot help"},
        {"role": "user", "content": "ok then"},
    ]

    assert ContextOptimizer(max_input_tokens=60, token_counter=words).invoke(rows)[-3:] == rows[-3:]
