"""Other packages that fit documents into a budget, as they are released; each is an optional import.

None of them reaches the network: their tokenizers are the vocabularies that the core brings along.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ctxopt_core.counting.encodings import BUNDLED_ENCODINGS, load_encoding
from document_evaluation.cases import COUNTER, SEPARATOR, Case
from document_evaluation.references import cut_joined, joined_tokens
from document_evaluation.survival import Kept

if TYPE_CHECKING:
    from langchain_core.documents import Document

_REFITS = 12
_SHRINK = 0.97
_CHUNK_TOKENS = 96


@functools.cache
def bring_vocabularies() -> None:
    """Hand the bundled vocabularies to tiktoken, which would download them otherwise."""
    from tiktoken import registry

    for name in BUNDLED_ENCODINGS:
        registry.ENCODINGS.setdefault(name, load_encoding(name))


def llmslim(case: Case, budget: int) -> Kept:
    """Call llmslim once, with the share of the tokens that is allowed."""
    return _llmslim(case, budget / case.whole)


def llmslim_refit(case: Case, budget: int) -> Kept:
    """Call llmslim again with a smaller share until it keeps the budget."""
    share = min(1.0, budget / case.whole)
    kept = _llmslim(case, share)
    for _ in range(_REFITS):
        tokens = joined_tokens(kept)
        if tokens <= budget:
            break
        share *= min(_SHRINK, budget / tokens)
        kept = _llmslim(case, share)
    return kept


def _llmslim(case: Case, share: float) -> Kept:
    bring_vocabularies()
    from llmslim import compress_documents

    results = compress_documents(case.texts, query=case.question, target_ratio=min(1.0, share))
    return [(index, result.compressed_text) for index, result in enumerate(results) if result.compressed_text.strip()]


def trimwise(case: Case, budget: int) -> Kept:
    """Trim with the separator in the limit."""
    bring_vocabularies()
    result = _trimmer().trim_context(case.texts, budget, query=case.question, separator=SEPARATOR)
    return [(source.source_index, source.text) for source in result.sources if source.text]


@functools.cache
def _trimmer() -> Any:
    from trimwise import Trimmer

    return Trimmer()


def langchain_trimwise(case: Case, budget: int) -> Kept:
    """Trim with the adapter for LangChain, whose limit leaves the separators out."""
    bring_vocabularies()
    from langchain_trimwise import create_trimwise_runnable

    runnable = create_trimwise_runnable(budget, trimmer=_trimmer())
    return _numbered(runnable.invoke({"documents": _documents(case.texts), "query": case.question}))


def langchain_embeddings_filter(case: Case, budget: int) -> Kept:
    """Order by LangChain's EmbeddingsFilter, then cut at the limit, which it does not know."""
    return cut_joined(_filtered(case.question, tuple(case.texts)), budget)


def langchain_pipeline(case: Case, budget: int) -> Kept:
    """Split into chunks, drop redundant ones, order by embeddings, then cut at the limit."""
    return cut_joined(_split_and_filtered(case.question, tuple(case.texts)), budget)


# Neither knows the budget, so one run of them serves all budgets.
@functools.lru_cache(maxsize=16)
def _filtered(question: str, texts: tuple[str, ...]) -> Kept:
    from langchain_classic.retrievers.document_compressors import EmbeddingsFilter

    found = EmbeddingsFilter(embeddings=_embeddings(), k=len(texts))
    return _numbered(found.compress_documents(_documents(texts), question))


@functools.lru_cache(maxsize=16)
def _split_and_filtered(question: str, texts: tuple[str, ...]) -> Kept:
    return _numbered(_pipeline().compress_documents(_documents(texts), question))


@functools.cache
def _pipeline() -> Any:
    from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline, EmbeddingsFilter
    from langchain_community.document_transformers import EmbeddingsRedundantFilter
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=_CHUNK_TOKENS,
        chunk_overlap=0,
        length_function=COUNTER.count,
        separators=["\n\n", "\n", ". ", " ", ""],
    )
    redundant = EmbeddingsRedundantFilter(embeddings=_embeddings())
    relevant = EmbeddingsFilter(embeddings=_embeddings(), k=10_000)
    return DocumentCompressorPipeline(transformers=[splitter, redundant, relevant])


def _documents(texts: Sequence[str]) -> list[Document]:
    from langchain_core.documents import Document

    return [Document(text, metadata={"number": number}) for number, text in enumerate(texts)]


def _numbered(documents: Any) -> Kept:
    return [(document.metadata["number"], document.page_content) for document in documents]


def _embeddings() -> Any:
    from document_evaluation.minilm import embeddings

    return embeddings()
