"""Relevance by meaning: the cosine similarity of embedding vectors of texts and of the query."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Generator, Iterable, Sequence
from operator import mul
from typing import Any, TypeAlias

from ctxopt_core.runtime.call_or_await import EMBEDDING_MODELS, CallablePair, function_of, methods_of
from ctxopt_core.runtime.text_cache import TextCache
from ctxopt_core.text.surrogates import has_surrogates, joined_surrogates
from ctxopt_core.validation import check_whole

UnitVector: TypeAlias = "array[float]"
"""Numbers in single precision, of length one or all zeros."""

DEFAULT_EMBEDDING_BYTES = 64 * 1024 * 1024  # memory of the cached vectors: about 10,000 of 1,536 numbers
DEFAULT_BATCH_SIZE = 128  # strings in one call; more exceed what some services accept, fewer take more round trips
_BYTES_PER_ENTRY = 256  # memory of a cache entry beside its string and its numbers, about
_SHARE_OF_QUERIES = 8  # an eighth of the memory is for queries, so that texts do not displace them
_STRINGS = (str, bytes, bytearray)


def embedding_scorer(
    embeddings: Any, *, max_bytes: int = DEFAULT_EMBEDDING_BYTES, batch_size: int = DEFAULT_BATCH_SIZE
) -> EmbeddingScorer:
    """Return a scorer that compares texts with the query by an embedding model.

    Args:
        embeddings: A LangChain `Embeddings`, a LlamaIndex `BaseEmbedding`, or a function, plain or async, that takes a
            list of strings and returns a list of vectors, such as the `encode` method of a sentence transformer.
        max_bytes: The most memory that the cached vectors may take, in bytes. 0 caches nothing.
        batch_size: The most strings that the model gets in one call.

    Raises:
        TypeError: `embeddings` is none of these.
        ValueError: `max_bytes` or `batch_size` is out of its range.

    Example:
        >>> from ctxopt_core import embedding_scorer
        >>> def embed(texts):
        ...     return [[float("rain" in text or "shower" in text), float("kiln" in text)] for text in texts]
        >>> embedding_scorer(embed)("Will it rain?", ["Showers are a kind of shower.", "The kiln cracked."])
        [1.0, 0.0]
    """
    return EmbeddingScorer(embeddings, max_bytes=max_bytes, batch_size=batch_size)


class EmbeddingScorer:
    """Scores texts by the cosine of their vector and the query's, from -1.0 to 1.0. It is a `Scorer`.

    1. Only new texts are embedded, each once in a call, in batches. Their vectors are cached within `max_bytes`, as are
       those of the queries. Two calls at the same time may both embed the same text.
    2. A blank text, and one whose vector is all zeros, has the score 0.0. Blank texts and queries are not embedded.
    3. An error of the model is raised unchanged.
    4. It may be called from any thread. It can be pickled if the model can, without the cached vectors.
    5. Vectors are assumed to be deterministic and of one model. When the model changes, make a new scorer.

    See `embedding_scorer` for the arguments.
    """

    __slots__ = ("_batch_size", "_embed_query", "_embed_texts", "_embeddings", "_max_bytes", "_queries", "_texts")

    def __init__(self, embeddings: Any, max_bytes: int, batch_size: int) -> None:
        check_whole("max_bytes", max_bytes, minimum=0, unit="bytes")
        check_whole("batch_size", batch_size, minimum=1, unit="texts")
        self._embeddings = embeddings
        self._embed_texts, self._embed_query = _methods_of(embeddings)
        self._max_bytes = max_bytes
        self._batch_size = batch_size
        self._queries: TextCache[UnitVector] = TextCache(max_bytes // _SHARE_OF_QUERIES)
        self._texts: TextCache[UnitVector] = TextCache(max_bytes - max_bytes // _SHARE_OF_QUERIES)

    def __repr__(self) -> str:
        embeddings = self._embeddings
        return f"{type(self).__name__}({getattr(embeddings, '__qualname__', type(embeddings).__qualname__)})"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._embeddings, self._max_bytes, self._batch_size)

    @property
    def size_bytes(self) -> int:
        """Memory of the cached vectors and their texts, in bytes."""
        return self._texts.size_bytes + self._queries.size_bytes

    def __call__(self, query: str, texts: Sequence[str], /) -> list[float]:
        """Return the similarity of each text with the query.

        Raises:
            TypeError: The model returns something other than vectors of numbers, or can only be awaited.
            ValueError: The model returns too many or too few vectors, or vectors that cannot be compared.
        """
        steps = self._steps(query, texts)
        found = None
        while True:
            try:
                method, argument = steps.send(found)
            except StopIteration as end:
                scores: list[float] = end.value
                return scores
            found = method.call(argument, named="`embeddings`")

    async def ascore(self, query: str, texts: Sequence[str], /) -> list[float]:
        """Return what a call returns, by the model's own coroutines if it has them, otherwise in a thread."""
        steps = self._steps(query, texts)
        found = None
        while True:
            try:
                method, argument = steps.send(found)
            except StopIteration as end:
                scores: list[float] = end.value
                return scores
            found = await method.acall(argument)

    def _steps(self, query: str, texts: Sequence[str]) -> Generator[tuple[CallablePair, Any], Any, list[float]]:
        """Yield each method of the model to call and its argument, get what it returns, and return the scores."""
        vectors: dict[str, UnitVector] = {}
        missing: list[str] = []
        for text in dict.fromkeys(texts if query.strip() else ()):
            known = self._texts.get(text)
            if known is not None:
                vectors[text] = known
            elif text.strip():
                missing.append(text)
        if not vectors and not missing:
            return [0.0] * len(texts)
        asked = self._queries.get(query)
        if asked is None:
            if self._embed_query is not None:
                found = yield self._embed_query, _sendable(query)
            else:
                found = _listed((yield self._embed_texts, [_sendable(query)]), 1)[0]
            asked = unit_vector(found)
            self._queries.store(query, asked, _size(query, asked))
        for start in range(0, len(missing), self._batch_size):
            batch = missing[start : start + self._batch_size]
            found = _listed((yield self._embed_texts, list(map(_sendable, batch))), len(batch))
            new = dict(zip(batch, map(unit_vector, found), strict=True))
            for text, vector in new.items():
                self._texts.store(text, vector, _size(text, vector))
            vectors.update(new)
        return _similarities(asked, texts, vectors)


def _methods_of(embeddings: Any) -> tuple[CallablePair, CallablePair | None]:
    """Return how a model embeds a list of strings, and a query if it has a method for that."""
    methods = methods_of(embeddings, EMBEDDING_MODELS)
    if methods is not None:
        return methods[0], methods[1]
    requirement = (
        "`embeddings` must be an instance of a LangChain or LlamaIndex embedding model, or a function of a list of "
        "strings that returns a list of vectors"
    )
    return function_of(embeddings, requirement), None


def _similarities(asked: UnitVector, texts: Sequence[str], vectors: dict[str, UnitVector]) -> list[float]:
    lengths = {len(asked), *map(len, vectors.values())}
    if len(lengths) > 1:
        message = (
            f"`embeddings` must return vectors of one length, got {' and '.join(map(str, sorted(lengths)))} numbers; "
            "make a new scorer when the model changes"
        )
        raise ValueError(message)
    query = asked.tolist()
    scores = {text: cosine(query, vector) for text, vector in vectors.items()}
    return [scores.get(text, 0.0) for text in texts]


def _sendable(text: str) -> str:
    """Return the text as valid UTF-8, which every service requires."""
    return joined_surrogates(text) if has_surrogates(text) else text


def _size(text: str, vector: UnitVector) -> int:
    return _BYTES_PER_ENTRY + sys.getsizeof(text) + vector.itemsize * len(vector)


def _listed(found: Any, wanted: int) -> list[Any]:
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
