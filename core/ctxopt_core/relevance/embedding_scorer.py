"""Relevance by meaning: how near the vectors of texts are to the vector of the query."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ctxopt_core.relevance.embedding_models import UnitVector, cosine, source_of, unit_vector, unit_vectors
from ctxopt_core.runtime.text_cache import TextCache
from ctxopt_core.text.surrogates import has_surrogates, joined_surrogates
from ctxopt_core.validation import check_whole

DEFAULT_EMBEDDING_BYTES = 64 * 1024 * 1024
DEFAULT_BATCH_SIZE = 128
_BYTES_PER_ENTRY = 256
_SHARE_OF_QUERIES = 8


def embedding_scorer(
    embeddings: Any, *, max_bytes: int = DEFAULT_EMBEDDING_BYTES, batch_size: int = DEFAULT_BATCH_SIZE
) -> EmbeddingScorer:
    """Return a scorer that compares texts with the query by an embedding model.

    Args:
        embeddings: A LangChain `Embeddings`, a LlamaIndex `BaseEmbedding`, or a function, plain or async, that takes a
            list of texts and returns a list of vectors, such as the `encode` method of a sentence transformer.
        max_bytes: The most memory that the remembered vectors may take, in bytes. 0 remembers nothing.
        batch_size: The most texts that are given to the model in one call.

    Raises:
        TypeError: `embeddings` is none of these.
        ValueError: `max_bytes` or `batch_size` is out of its range.
    """
    return EmbeddingScorer(embeddings, max_bytes=max_bytes, batch_size=batch_size)


class EmbeddingScorer:
    """Scores texts by the cosine of their vector and the query's, from -1.0 to 1.0. It is a `Scorer`.

    1. Only texts that are new are embedded, each once in a call, in batches. Their vectors are remembered, within
       `max_bytes`, with those of the queries; two calls at the same time may both embed a text.
    2. A blank text, and one whose vector is all zeros, scores 0.0. Blank texts and queries are not embedded.
    3. An error of the model comes through unchanged.
    4. It may be called from any thread. It pickles if the model does, without what it remembers.
    5. Vectors are taken to be deterministic and of one model. When the model changes, make a new scorer.

    See `embedding_scorer` for the arguments.
    """

    __slots__ = ("_batch_size", "_embeddings", "_max_bytes", "_queries", "_source", "_texts")

    def __init__(self, embeddings: Any, *, max_bytes: int, batch_size: int) -> None:
        check_whole("max_bytes", max_bytes, minimum=0, unit="bytes")
        check_whole("batch_size", batch_size, minimum=1, unit="texts")
        self._embeddings = embeddings
        self._source = source_of(embeddings)
        self._max_bytes = max_bytes
        self._batch_size = batch_size
        self._queries: TextCache[UnitVector] = TextCache(max_bytes // _SHARE_OF_QUERIES)
        self._texts: TextCache[UnitVector] = TextCache(max_bytes - max_bytes // _SHARE_OF_QUERIES)

    def __repr__(self) -> str:
        embeddings = self._embeddings
        return f"{type(self).__name__}({getattr(embeddings, '__qualname__', type(embeddings).__qualname__)})"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self._embeddings, self._max_bytes, self._batch_size)

    @property
    def size_bytes(self) -> int:
        """Memory that the remembered vectors take, with their texts, in bytes."""
        return self._texts.size_bytes + self._queries.size_bytes

    def __call__(self, query: str, texts: Sequence[str], /) -> list[float]:
        """Return the similarity of each text with the query.

        Raises:
            TypeError: The model gives something other than vectors of numbers, or can only be awaited.
            ValueError: The model gives too many or too few vectors, or vectors that cannot be compared.
        """
        vectors, missing = self._known(query, texts)
        if not vectors and not missing:
            return [0.0] * len(texts)
        asked = self._queries.get(query)
        if asked is None:
            asked = self._learn_query(query, self._source.embed_query(_sendable(query)))
        for batch in self._batches(missing):
            vectors.update(self._learn(batch, self._source.embed_texts(list(map(_sendable, batch)))))
        return _similarities(asked, texts, vectors)

    async def ascore(self, query: str, texts: Sequence[str], /) -> list[float]:
        """Return what a plain call returns, by the model's own coroutines where it has them, else in a thread."""
        vectors, missing = self._known(query, texts)
        if not vectors and not missing:
            return [0.0] * len(texts)
        asked = self._queries.get(query)
        if asked is None:
            asked = self._learn_query(query, await self._source.embed_query_async(_sendable(query)))
        for batch in self._batches(missing):
            vectors.update(self._learn(batch, await self._source.embed_texts_async(list(map(_sendable, batch)))))
        return _similarities(asked, texts, vectors)

    def _known(self, query: str, texts: Sequence[str]) -> tuple[dict[str, UnitVector], list[str]]:
        """Return the vectors that are remembered, and the texts that are to be embedded: nothing without a query."""
        known: dict[str, UnitVector] = {}
        missing: list[str] = []
        for text in dict.fromkeys(texts if query.strip() else ()):
            vector = self._texts.get(text)
            if vector is not None:
                known[text] = vector
            elif text.strip():
                missing.append(text)
        return known, missing

    def _batches(self, texts: list[str]) -> Iterator[list[str]]:
        for start in range(0, len(texts), self._batch_size):
            yield texts[start : start + self._batch_size]

    def _learn(self, texts: list[str], found: Any) -> dict[str, UnitVector]:
        learnt = dict(zip(texts, unit_vectors(found, len(texts)), strict=True))
        for text, vector in learnt.items():
            self._texts.store(text, vector, _size(text, vector))
        return learnt

    def _learn_query(self, query: str, found: Any) -> UnitVector:
        vector = unit_vector(found)
        self._queries.store(query, vector, _size(query, vector))
        return vector


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
    """Return a text that can be written as UTF-8, as every service wants it."""
    return joined_surrogates(text) if has_surrogates(text) else text


def _size(text: str, vector: UnitVector) -> int:
    return _BYTES_PER_ENTRY + sys.getsizeof(text) + vector.itemsize * len(vector)


def _rebuild(kind: type[EmbeddingScorer], embeddings: Any, max_bytes: int, batch_size: int) -> EmbeddingScorer:
    return kind(embeddings, max_bytes=max_bytes, batch_size=batch_size)
