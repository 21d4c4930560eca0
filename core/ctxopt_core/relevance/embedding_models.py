"""Embedding models of either framework, or a function, behind one interface; vectors scaled to length 1."""

from __future__ import annotations

import math
from array import array
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from inspect import isawaitable, iscoroutine
from operator import mul
from typing import Any, TypeAlias

from ctxopt_core.runtime.call_or_await import is_coroutine_function
from ctxopt_core.runtime.duck_typing import has_own_coroutines, method_of

UnitVector: TypeAlias = "array[float]"
"""Numbers in single precision, of length one or all zeros."""


_TEXTS = (str, bytes, bytearray)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EmbeddingSource:
    """The ways in which one model embeds texts and queries.

    1. What the model gives is handed on unchecked, and its errors unchanged.
    2. Without a function for queries, a query is embedded as a text is.
    3. What is awaited uses the model's own coroutine, or without one, the plain function in a thread.

    Args:
        texts: Embeds a list of texts.
        query: Embeds one query.
        texts_async: Embeds a list of texts and is awaited.
        query_async: Embeds one query and is awaited.
    """

    texts: Callable[[list[str]], Any] | None = None
    query: Callable[[str], Any] | None = None
    texts_async: Callable[[list[str]], Awaitable[Any]] | None = None
    query_async: Callable[[str], Awaitable[Any]] | None = None

    def embed_texts(self, texts: list[str]) -> Any:
        """Return the model's vectors of some texts."""
        return _called(self.texts, texts)

    def embed_query(self, query: str) -> Any:
        """Return the model's vector of a query."""
        if self._query_is_a_text:
            return listed(self.embed_texts([query]), 1)[0]
        return _called(self.query, query)

    async def embed_texts_async(self, texts: list[str]) -> Any:
        """Return the model's vectors of some texts without blocking the event loop."""
        return await _awaited(self.texts, self.texts_async, texts)

    async def embed_query_async(self, query: str) -> Any:
        """Return the model's vector of a query without blocking the event loop."""
        if self._query_is_a_text:
            return listed(await self.embed_texts_async([query]), 1)[0]
        return await _awaited(self.query, self.query_async, query)

    @property
    def _query_is_a_text(self) -> bool:
        return self.query is None and self.query_async is None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interface:
    """How a framework calls its methods: first the one that is used, then those by which subclasses change it."""

    texts: tuple[str, ...]
    query: tuple[str, ...]
    texts_async: tuple[str, ...]
    query_async: tuple[str, ...]


_INTERFACES = (
    _Interface(
        texts=("embed_documents",),
        query=("embed_query",),
        texts_async=("aembed_documents",),
        query_async=("aembed_query",),
    ),
    _Interface(
        texts=("get_text_embedding_batch", "_get_text_embeddings", "_get_text_embedding"),
        query=("get_query_embedding", "_get_query_embedding"),
        texts_async=("aget_text_embedding_batch", "_aget_text_embeddings", "_aget_text_embedding"),
        query_async=("aget_query_embedding", "_aget_query_embedding"),
    ),
)


def source_of(embeddings: Any) -> EmbeddingSource:
    """Return the ways in which `embeddings` embeds.

    Raises:
        TypeError: It is no embedding model and no function.
    """
    if not isinstance(embeddings, type):
        for interface in _INTERFACES:
            found = _by_methods(embeddings, interface)
            if found is not None:
                return found
        if callable(embeddings):
            if is_coroutine_function(embeddings):
                return EmbeddingSource(texts_async=embeddings)
            return EmbeddingSource(texts=embeddings)
    what = f"the class {embeddings.__name__}" if isinstance(embeddings, type) else type(embeddings).__name__
    message = (
        "`embeddings` must be an instance of a LangChain or LlamaIndex embedding model, or a function of a list of "
        f"texts that returns a list of vectors, got {what}"
    )
    raise TypeError(message)


def _by_methods(model: Any, interface: _Interface) -> EmbeddingSource | None:
    texts, query = method_of(model, interface.texts[0]), method_of(model, interface.query[0])
    texts_async, query_async = (
        method_of(model, interface.texts_async[0]),
        method_of(model, interface.query_async[0]),
    )
    plain, awaited = texts and query, texts_async and query_async
    if not plain:
        return EmbeddingSource(texts_async=texts_async, query_async=query_async) if awaited else None
    return EmbeddingSource(
        texts=texts,
        query=query,
        texts_async=texts_async if has_own_coroutines(model, interface.texts_async, interface.texts) else None,
        query_async=query_async if has_own_coroutines(model, interface.query_async, interface.query) else None,
    )


def _called(function: Callable[..., Any] | None, argument: Any) -> Any:
    found = None if function is None else function(argument)
    if function is not None and not isawaitable(found):
        return found
    if iscoroutine(found):
        found.close()
    message = (
        "`embeddings` can only be awaited, and no event loop waits for this call; use `afit` or `ainvoke` in place of "
        "`fit` or `invoke`, or give an embedding model with plain methods"
    )
    raise TypeError(message)


async def _awaited(
    function: Callable[..., Any] | None, coroutine: Callable[..., Awaitable[Any]] | None, argument: Any
) -> Any:
    if coroutine is not None:
        return await coroutine(argument)
    import asyncio

    if function is None:
        return _called(function, argument)
    found = await asyncio.to_thread(function, argument)
    return await found if isawaitable(found) else found


def unit_vectors(found: Any, wanted: int) -> list[UnitVector]:
    """Return the vectors that a model gave for `wanted` texts, each of length one.

    Args:
        found: The vectors: lists, tuples or arrays of numbers, or a matrix with one row for each text.
        wanted: How many there must be.

    Raises:
        TypeError: These are not vectors of numbers.
        ValueError: There are more or fewer, or one is empty or holds NaN or an infinity.
    """
    return [unit_vector(vector) for vector in listed(found, wanted)]


def listed(found: Any, wanted: int) -> list[Any]:
    """Return what a model gave for `wanted` texts as a list of that length."""
    if isinstance(found, _TEXTS) or not isinstance(found, Iterable):
        message = f"`embeddings` must return a list with one vector for each text, got {type(found).__name__}"
        raise TypeError(message)
    vectors = list(found)
    if len(vectors) != wanted:
        message = f"`embeddings` must return one vector for each text, got {len(vectors)} for {wanted}"
        raise ValueError(message)
    return vectors


def unit_vector(found: Any) -> UnitVector:
    """Return one vector with length one; a vector of zeros stays as it is."""
    numbers = _numbers(found)
    if not numbers or not all(map(math.isfinite, numbers)):
        what = "one that holds NaN or an infinity" if numbers else "an empty one"
        message = f"`embeddings` must return vectors of finite numbers, got {what}"
        raise ValueError(message)
    # Squares of very large or very small numbers would not be finite, or be nothing.
    largest = max(map(abs, numbers))
    if not largest:
        return array("f", numbers)
    scaled = [number / largest for number in numbers]
    length = math.hypot(*scaled)
    return array("f", [number / length for number in scaled])


def cosine(left: Iterable[float], right: Iterable[float]) -> float:
    """Return the cosine of two unit vectors, from -1.0 to 1.0; 0.0 if one is all zeros."""
    product: float = sum(map(mul, left, right))
    return max(-1.0, min(1.0, product))


def _numbers(found: Any) -> UnitVector:
    try:
        if not isinstance(found, _TEXTS):
            return array("d", found)
    except (TypeError, OverflowError) as error:
        message = f"`embeddings` must return vectors of numbers, got {type(found).__name__}: {error}"
        raise TypeError(message) from error
    message = f"`embeddings` must return vectors of numbers, got {type(found).__name__}"
    raise TypeError(message)
