"""Embedding models of either framework, or a function, behind one interface; vectors scaled to length 1."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from operator import mul
from typing import Any, TypeAlias

from ctxopt_core.runtime.call_or_await import EMBEDDING_MODELS, CallablePair, function_of, methods_of

UnitVector: TypeAlias = "array[float]"
"""Numbers in single precision, of length one or all zeros."""

_STRINGS = (str, bytes, bytearray)
_NAMED = "`embeddings`"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EmbeddingSource:
    """The ways in which one model embeds strings and queries.

    1. What the model returns is passed on unchecked, and its errors unchanged.
    2. Without a method for queries, a query is embedded as any other string.
    3. The async methods use the model's own coroutine; without one, the plain method in a thread.

    Args:
        texts: Embeds a list of strings.
        query: Embeds one query.
    """

    texts: CallablePair
    query: CallablePair | None = None

    def embed_texts(self, texts: list[str]) -> Any:
        """Return the model's vectors of some strings."""
        return self.texts.call(texts, named=_NAMED)

    def embed_query(self, query: str) -> Any:
        """Return the model's vector of a query."""
        if self.query is None:
            return listed(self.embed_texts([query]), 1)[0]
        return self.query.call(query, named=_NAMED)

    async def embed_texts_async(self, texts: list[str]) -> Any:
        """Return the model's vectors of some strings without blocking the event loop."""
        return await self.texts.acall(texts)

    async def embed_query_async(self, query: str) -> Any:
        """Return the model's vector of a query without blocking the event loop."""
        if self.query is None:
            return listed(await self.embed_texts_async([query]), 1)[0]
        return await self.query.acall(query)


def source_of(embeddings: Any) -> EmbeddingSource:
    """Return the ways in which `embeddings` embeds.

    Raises:
        TypeError: It is no embedding model and no function.
    """
    methods = methods_of(embeddings, EMBEDDING_MODELS)
    if methods is not None:
        texts, query = methods
        return EmbeddingSource(texts=texts, query=query)
    requirement = (
        "`embeddings` must be an instance of a LangChain or LlamaIndex embedding model, or a function of a list of "
        "strings that returns a list of vectors"
    )
    return EmbeddingSource(texts=function_of(embeddings, requirement))


def unit_vectors(found: Any, wanted: int) -> list[UnitVector]:
    """Return the vectors that a model returned for `wanted` texts, each scaled to length one.

    Args:
        found: The vectors: lists, tuples or arrays of numbers, or a matrix with one row for each text.
        wanted: How many there must be.

    Raises:
        TypeError: These are not vectors of numbers.
        ValueError: There are more or fewer, or one is empty or holds NaN or an infinity.
    """
    return [unit_vector(vector) for vector in listed(found, wanted)]


def listed(found: Any, wanted: int) -> list[Any]:
    """Return what a model returned for `wanted` texts as a list of that length."""
    if isinstance(found, _STRINGS) or not isinstance(found, Iterable):
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
    # Squares of very large or very small numbers would be infinite or zero.
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
        if not isinstance(found, _STRINGS):
            return array("d", found)
    except (TypeError, OverflowError) as error:
        message = f"`embeddings` must return vectors of numbers, got {type(found).__name__}: {error}"
        raise TypeError(message) from error
    message = f"`embeddings` must return vectors of numbers, got {type(found).__name__}"
    raise TypeError(message)
