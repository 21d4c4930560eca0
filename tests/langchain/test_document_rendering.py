"""Documents count as what the prompt will hold of them, and are chosen by the scores that LangChain's parts leave."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate, format_document
from pydantic import Field

from ctxopt_core import DocumentPolicy
from langchain_ctxopt import ContextOptimizer
from langchain_requests import rendered_tokens, sent_tokens

SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow arrives. "
PROMPT = ChatPromptTemplate.from_messages([("system", "Context:\n{context}"), ("human", "{question}")])
CITED = PromptTemplate.from_template("<source id={source}>\n{page_content}\n</source>")
ASKED = "Which lantern is lit?"


class Listening(FakeListChatModel):
    """Keeps what it was sent."""

    heard: list[BaseMessage] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *arguments: Any, **options: Any) -> ChatResult:
        self.heard[:] = messages
        return super()._generate(messages, *arguments, **options)


class Chunk(Document):
    """A document class of an application."""

    page: int = 0


def documents(count: int = 12) -> list[Document]:
    return [
        Document(
            page_content=f"Note {i}. " + SENTENCE * 3, id=f"d{i}", metadata={"score": i / 10, "source": f"pier-{i}"}
        )
        for i in range(count)
    ]


def scored(*scores: Any, key: str = "score") -> list[Document]:
    return [Document(page_content=f"Note {i}. " + SENTENCE, id=str(i), metadata={key: s}) for i, s in enumerate(scores)]


def order(found: list[Document], score_order: str = "higher", **settings: Any) -> list[str | None]:
    """Return the ids of what is kept in so small a budget that two stay."""
    policy = {"passages": False, "score_order": score_order}
    optimizer = ContextOptimizer(
        prompt=PROMPT, max_input_tokens=70, document_separator="\n", documents=policy, **settings
    )
    return [document.id for document in optimizer.invoke({"context": found, "question": ASKED})["context"]]


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"document_separator": "\n\n"}, id="bare text"),
        pytest.param({"document_separator": "\n---\n"}, id="a separator"),
        pytest.param({"document_prompt": CITED}, id="a template"),
        pytest.param({"document_prompt": CITED, "document_separator": ""}, id="a template and no separator"),
    ],
)
def test_d5_a_stuff_documents_chain_sends_what_was_counted(settings: dict[str, Any], share: float) -> None:
    model = Listening(responses=["lit"])
    stuff = create_stuff_documents_chain(model, PROMPT, **settings)
    given = {"context": documents(), "question": ASKED}
    stuff.invoke(given)
    budget = int(sent_tokens(model.heard) * share)
    optimizer = ContextOptimizer(prompt=PROMPT, max_input_tokens=budget, **settings)
    (optimizer | stuff).invoke(given)
    assert budget * 0.8 < sent_tokens(model.heard) <= budget
    assert optimizer.plan(given).tokens_after == sent_tokens(model.heard)


@pytest.mark.parametrize("template", [None, CITED, "* {page_content}"], ids=["bare", "cited", "text"])
def test_d5_documents_as_text_are_ready_for_the_template(template: Any) -> None:
    optimizer = ContextOptimizer(
        prompt=PROMPT,
        max_input_tokens=300,
        documents={"selection": "score"},
        documents_as="text",
        document_prompt=template,
        document_separator="\n~\n",
    )
    fitted = optimizer.invoke({"context": documents(), "question": ASKED})
    assert isinstance(fitted["context"], str)
    assert 240 < rendered_tokens(PROMPT, fitted) <= 300
    best = format_document(documents()[-1], optimizer.document_prompt or PromptTemplate.from_template("{page_content}"))
    assert fitted["context"].startswith(best + "\n~\n")
    assert optimizer.invoke(fitted) is fitted


def test_d5_documents_as_text_are_joined_even_when_everything_fits() -> None:
    optimizer = ContextOptimizer(prompt=PROMPT, max_input_tokens=9_999, documents_as="text")
    given = {"context": documents(3), "question": ASKED}
    fitted = optimizer.invoke(given)
    assert fitted["context"] == "\n\n".join(document.page_content for document in documents(3))
    assert fitted["question"] is given["question"]
    assert isinstance(given["context"], list)


def test_d5_no_documents_as_text_are_an_empty_text() -> None:
    optimizer = ContextOptimizer(prompt=PROMPT, max_input_tokens=100, documents_as="text")
    assert optimizer.invoke({"context": [], "question": ASKED}) == {"context": "", "question": ASKED}


def test_d5_without_a_template_documents_count_as_the_list_that_the_prompt_prints() -> None:
    given = {"context": documents(), "question": ASKED}
    optimizer = ContextOptimizer(prompt=PROMPT, max_input_tokens=500)
    fitted = optimizer.invoke(given)
    assert 420 < rendered_tokens(PROMPT, fitted) <= 500
    assert "metadata=" in PROMPT.invoke(fitted).to_string()


def test_d9_a_document_that_is_kept_in_part_is_a_copy_with_everything_else_as_it_was() -> None:
    chunk = Chunk(page_content=SENTENCE * 40, id="c", metadata={"score": 1, "deep": {"k": [1]}}, page=7)
    given = {"context": [chunk], "question": ASKED}
    optimizer = ContextOptimizer(prompt=PROMPT, max_input_tokens=150, document_separator="\n")
    [kept] = optimizer.invoke(given)["context"]
    assert type(kept) is Chunk
    assert kept.model_copy(update={"page_content": chunk.page_content}) == chunk
    assert 0 < len(kept.page_content) < len(chunk.page_content)
    kept.metadata["score"] = 2
    assert chunk.metadata["score"] == 1


def test_d9_the_reading_order_is_a_choice_and_the_objects_stay_the_same() -> None:
    given = documents()
    found = {}
    for reading in ("score", "original", "edges"):
        policy = DocumentPolicy(reading_order=reading, passages=False)
        optimizer = ContextOptimizer(prompt=PROMPT, max_input_tokens=230, document_separator="\n", documents=policy)
        found[reading] = optimizer.invoke({"context": given, "question": ASKED})["context"]
    assert [document.id for document in found["score"]] == ["d11", "d10", "d9", "d8"]
    assert [document.id for document in found["original"]] == ["d8", "d9", "d10", "d11"]
    assert [document.id for document in found["edges"]] == ["d11", "d9", "d8", "d10"]
    assert all(any(document is original for original in given) for kept in found.values() for document in kept)


@pytest.mark.parametrize(
    ("found", "settings", "kept"),
    [
        pytest.param(scored(0.1, 0.9, 0.5, 0.7), {}, ["1", "3"], id="score"),
        pytest.param(scored(0.1, 0.9, 0.5, 0.7, key="relevance_score"), {}, ["1", "3"], id="relevance_score"),
        pytest.param(
            scored(0.1, 0.9, 0.5, 0.7, key="rank"), {"score_key": "rank"}, ["1", "3"], id="a key of one's own"
        ),
        pytest.param(scored(4, 1, 3, 2), {"score_order": "lower"}, ["1", "3"], id="distances"),
        pytest.param(scored(-3, 0.0, -1, -2), {}, ["1", "2"], id="zero and negatives"),
        pytest.param(scored(None, 0.2, math.nan, 0.1), {}, ["1", "3"], id="None and NaN are last"),
        pytest.param(scored("VERY_HIGH", 0.2, "LOW", 0.1), {}, ["1", "3"], id="words are no scores"),
        pytest.param(scored(True, 0.2, [9], 0.1), {}, ["1", "3"], id="other kinds are no scores"),
        pytest.param(scored(Decimal("0.9"), 0.2, 10**400, 0.1), {}, ["0", "1"], id="other numbers"),
        pytest.param(scored(0.9, 0.8, 0.7, 0.6), {"score_key": "absent"}, ["0", "1"], id="no scores, as they came"),
    ],
)
def test_d1_scores_are_read_from_metadata(found: list[Document], settings: dict[str, Any], kept: list[str]) -> None:
    assert order(found, **settings) == kept


def test_d1_the_first_key_that_holds_a_number_counts() -> None:
    found = scored("HIGH", "LOW", "LOW", key="relevance_score")
    for document, score in zip(found, (0.1, 0.9, 0.5), strict=True):
        document.metadata["score"] = score
    assert order(found) == ["1", "2"]


@pytest.mark.parametrize("score", ["VERY_HIGH", b"1", [1]])
def test_d1_a_function_that_returns_no_number_is_an_error_that_names_the_document(score: Any) -> None:
    function: Callable[[Document], Any] = lambda document: score  # noqa: E731
    with pytest.raises(TypeError, match="`score` of document '0' must be a number or None"):
        order(scored(1, 2), score_key=function)


def test_d8_blank_documents_go_first() -> None:
    found = [Document(page_content="  \n", id="blank", metadata={"score": 9}), *scored(0.3, 0.2, 0.1)]
    assert order(found) == ["0", "1"]


def test_d14_the_report_names_documents_by_their_ids() -> None:
    optimizer = ContextOptimizer(
        prompt=PROMPT, max_input_tokens=180, document_separator="\n", documents={"passages": False}
    )
    report = optimizer.plan({"context": documents(4), "question": ASKED})
    assert {row.id for row in report.documents} == {"d0", "d1", "d2", "d3"}
    assert [row.id for row in report.dropped_documents] == ["d0"]
