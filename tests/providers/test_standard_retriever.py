"""LangChain's own standard suite for retrievers, over documents that the compressor has fitted."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_ctxopt import ContextOptimizerCompressor

PAGE = "The lamplighter polishes forty brass lanterns before the first snow arrives on the long pier. "


class Pages(BaseRetriever):
    """A retriever of long pages."""

    k: int = 3

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return [
            Document(f"Pier {number} has lanterns. " + PAGE * 9 + f"Snow fell on pier {number}. " * 9, id=str(number))
            for number in range(k or self.k)
        ]


class FittedPages(ContextualCompressionRetriever):
    """The compressor behind the retriever, with the number of pages as the suite sets it."""

    def __init__(self, k: int = 3, **more: Any) -> None:
        compressor = ContextOptimizerCompressor(max_tokens=600, token_counter="o200k_base")
        super().__init__(**{"base_compressor": compressor, "base_retriever": Pages(k=k), **more})


class TestL24RetrieverStandard(RetrieversIntegrationTests):
    """Strings in, documents out, sync and async."""

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return FittedPages

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {}

    @property
    def retriever_query_example(self) -> str:
        return "Who polishes the lanterns?"

    @pytest.mark.parametrize("k", [1, 3])
    def test_what_comes_back_was_fitted(self, k: int) -> None:
        found = FittedPages(k=k).invoke("Who polishes the lanterns?", k=k)
        assert sum(len(page.page_content) for page in found) < 600 * 6  # characters; a token has fewer
        assert 1 <= len(found) <= k
