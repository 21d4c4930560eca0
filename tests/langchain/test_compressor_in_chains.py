"""The compressor where LangChain takes one: retrievers, pipelines, retrieval chains and steps of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.chains.retrieval import create_retrieval_chain
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer, Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough

from chat_model_doubles import ListeningModel
from compressor_inputs import CITED, HashedWords, chunks, joined, joined_tokens, store_of
from independent_recount import count_text
from langchain_ctxopt import ContextOptimizerCompressor

QUESTION = "In which year did the ferry keep a record?"
CONTEXT_ALONE = ChatPromptTemplate.from_messages([("human", "{context}")])
ASKING = ChatPromptTemplate.from_messages([("system", "Answer from:\n{context}"), ("human", "{question}")])
BUDGET = 120
SEPARATOR = "\n~\n"
COMPRESSOR = ContextOptimizerCompressor(max_tokens=BUDGET, document_prompt=CITED, document_separator=SEPARATOR)


class WithoutKilns(BaseDocumentTransformer):
    """Filters documents, as the redundancy filters of LangChain do."""

    def transform_documents(self, documents: Sequence[Document], **options: Any) -> Sequence[Document]:
        return [document for document in documents if "kiln" not in document.page_content]


class MostAlike(BaseDocumentCompressor):
    """Keeps the documents most like the query and scores them, as a reranker does."""

    top_n: int = 5

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        embeddings = HashedWords()
        asked = embeddings.embed_query(query)
        scored = [
            document.model_copy(update={"metadata": {**document.metadata, "relevance_score": _alike(asked, vector)}})
            for document, vector in zip(
                documents, embeddings.embed_documents([document.page_content for document in documents]), strict=True
            )
        ]
        return sorted(scored, key=lambda document: -document.metadata["relevance_score"])[: self.top_n]


def _alike(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def base_retriever(found: int = 8) -> Any:
    return store_of(chunks()).as_retriever(search_kwargs={"k": found})


def retriever(compressor: BaseDocumentCompressor = COMPRESSOR) -> ContextualCompressionRetriever:
    return ContextualCompressionRetriever(base_compressor=compressor, base_retriever=base_retriever())


def within(documents: list[Document]) -> bool:
    return BUDGET - 70 < joined_tokens(documents, template=CITED, separator=SEPARATOR) <= BUDGET


async def test_i2_in_a_contextual_compression_retriever() -> None:
    found = retriever().invoke(QUESTION)
    assert within(found)
    assert "c2" in {document.id for document in found}
    assert len(base_retriever().invoke(QUESTION)) == 8
    assert await retriever().ainvoke(QUESTION) == found


async def test_i2_a_retriever_that_finds_nothing_gives_nothing() -> None:
    empty = ContextualCompressionRetriever(base_compressor=COMPRESSOR, base_retriever=store_of([]).as_retriever())
    assert empty.invoke(QUESTION) == []
    assert await empty.ainvoke(QUESTION) == []


@pytest.mark.parametrize(
    "filters",
    [
        pytest.param([WithoutKilns()], id="a-filter"),
        pytest.param([MostAlike()], id="a-reranker"),
        pytest.param([WithoutKilns(), MostAlike(top_n=3)], id="both"),
    ],
)
async def test_i2_in_a_pipeline_after_filters(filters: list[Any]) -> None:
    pipeline = DocumentCompressorPipeline(transformers=[*filters, COMPRESSOR])
    found = retriever(pipeline).invoke(QUESTION)
    assert within(found)
    assert "c2" in {document.id for document in found}
    if isinstance(filters[0], WithoutKilns):
        assert "kiln" in joined(base_retriever().invoke(QUESTION))
        assert "kiln" not in joined(found)
    assert await retriever(pipeline).ainvoke(QUESTION) == found
    assert pipeline.compress_documents(chunks(), QUESTION)
    assert await pipeline.acompress_documents(chunks(), QUESTION)


def test_i2_two_compressors_in_a_row_keep_the_smaller_budget() -> None:
    pipeline = DocumentCompressorPipeline(transformers=[COMPRESSOR.with_changes(max_tokens=300), COMPRESSOR])
    assert within(retriever(pipeline).invoke(QUESTION))


async def test_i2_a_retrieval_chain_puts_no_more_than_the_budget_into_its_prompt() -> None:
    model = ListeningModel()
    stuff = create_stuff_documents_chain(
        model, CONTEXT_ALONE, document_prompt=CITED, document_separator=SEPARATOR, output_parser=StrOutputParser()
    )
    chain = create_retrieval_chain(retriever(), stuff)
    answer = chain.invoke({"input": QUESTION})
    assert answer["answer"] == "lit"
    assert within(answer["context"])
    assert (await chain.ainvoke({"input": QUESTION}))["context"] == answer["context"]
    for [message] in model.heard:
        assert message.content == joined(answer["context"], CITED, SEPARATOR)
        assert count_text(message.content) <= BUDGET


def lcel(step: Runnable[Any, Any], model: ListeningModel) -> dict[str, Runnable[Any, Any]]:
    """Return two common ways of writing a retrieval chain; both are asked by a plain question."""
    answer = create_stuff_documents_chain(model, ASKING, document_prompt=CITED, document_separator=SEPARATOR)
    after_map = {"documents": base_retriever(), "query": RunnablePassthrough()} | step
    return {
        "map": {"context": after_map, "question": RunnablePassthrough()} | answer,
        "assign": {"context": base_retriever(), "question": RunnablePassthrough()}
        | RunnablePassthrough.assign(context=step)
        | answer,
    }


@pytest.mark.parametrize("way", ["map", "assign"])
async def test_i2_as_a_step_of_a_chain(way: str) -> None:
    model = ListeningModel()
    chain = lcel(COMPRESSOR.as_runnable(), model)[way]
    assert chain.invoke(QUESTION) == "lit"
    assert await chain.ainvoke(QUESTION) == "lit"
    assert chain.batch([QUESTION, QUESTION]) == ["lit", "lit"]
    assert "".join(chain.stream(QUESTION)) == "lit"
    assert len(model.heard) == 5
    for system, human in model.heard:
        context = str(system.content).removeprefix("Answer from:\n")
        assert "ferry" in context
        assert BUDGET - 70 < count_text(context) <= BUDGET
        assert human.content == QUESTION


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"query": QUESTION, "documents": chunks()}, id="query-documents"),
        pytest.param({"question": QUESTION, "context": chunks()}, id="question-context"),
        pytest.param({"input": QUESTION, "context": tuple(chunks()), "chat_history": []}, id="input-tuple"),
        pytest.param({"question": None, "query": QUESTION, "context": "joined", "documents": chunks()}, id="by-kind"),
    ],
)
async def test_i2_a_step_finds_query_and_documents_under_the_usual_keys(values: dict[str, Any]) -> None:
    step = COMPRESSOR.as_runnable()
    found = COMPRESSOR.compress_documents(chunks(), QUESTION)
    assert step.invoke(values) == found
    assert await step.ainvoke(values) == found
    assert step.batch([values]) == [found]
    assert await step.abatch([values]) == [found]
    assert list(step.stream(values)) == [found]
    assert [chunk async for chunk in step.astream(values)] == [found]


def test_i2_a_step_can_be_told_its_keys() -> None:
    step = COMPRESSOR.as_runnable(query_key="asked", documents_key="hits")
    values = {"asked": QUESTION, "query": "kiln", "hits": chunks(), "documents": []}
    assert step.invoke(values) == COMPRESSOR.compress_documents(chunks(), QUESTION)
    with pytest.raises(ValueError, match="no string under 'asked'"):
        step.invoke({"query": QUESTION, "hits": chunks()})


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        pytest.param({}, ValueError, "no string under 'question' or 'query' or 'input', it has nothing", id="empty"),
        pytest.param({"documents": []}, ValueError, r"it has 'documents' \(list\); .* `query_key`", id="no-query"),
        pytest.param({"query": 7, "documents": []}, ValueError, r"it has 'query' \(int\)", id="a-number"),
        pytest.param({"query": "kiln"}, ValueError, "no list of documents under 'context' or 'documents'", id="none"),
        pytest.param(
            {"query": "k", "context": "text"}, ValueError, r"'context' \(str\); .* `documents_key`", id="text"
        ),
        pytest.param("kiln", TypeError, "takes a dict with a query and documents, got str", id="a-text"),
        pytest.param(chunks(1), TypeError, "takes a dict with a query and documents, got list", id="a-list"),
    ],
)
async def test_i2_a_step_says_what_it_misses(values: Any, kind: type[Exception], message: str) -> None:
    step = COMPRESSOR.as_runnable()
    with pytest.raises(kind, match=message):
        step.invoke(values)
    with pytest.raises(kind, match=message):
        await step.ainvoke(values)


def test_i2_a_step_has_a_name_and_tells_its_kinds() -> None:
    step = COMPRESSOR.as_runnable()
    assert step.get_name() == "ContextOptimizerCompressor"
    assert step.get_input_jsonschema()["type"] == "object"
    output = step.get_output_jsonschema()
    assert (output["type"], output["items"]) == ("array", {"$ref": "#/$defs/Document"})


async def test_i2_a_whole_chain_streams() -> None:
    chain = lcel(COMPRESSOR.as_runnable(), ListeningModel())["map"]
    assert "".join([part async for part in chain.astream(QUESTION)]) == "lit"
