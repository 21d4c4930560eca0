"""The embedding scorer: any model, only new texts, within its memory, and clear about what is wrong."""

from __future__ import annotations

import asyncio
import math
import pickle
import threading
from array import array
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting_embeddings import AsyncMethods, CountingCoroutine, CountingFunction, PlainMethods, vector_of
from ctxopt_core import bm25_scorer, embedding_scorer
from ctxopt_core.relevance.embedding_scorer import cosine, unit_vector

QUERY = "rain"
TEXTS = ["sun and rain", "snow", "rain", "sun", "nothing of it", "rain, rain, rain and snow"]
SIMILARITIES = [math.sqrt(1 / 2), 0.0, 1.0, 0.0, 0.0, 3 / math.sqrt(10)]


class NumberArrays(CountingFunction):
    def __call__(self, texts):
        return [array("f", vector) for vector in super().__call__(texts)]


class Rows(CountingFunction):
    def __call__(self, texts):
        return (tuple(vector) for vector in super().__call__(texts))


def whole_numbers(texts):
    return [[int(number) for number in vector_of(text)] for text in texts]


def returns_an_awaitable(texts):
    return CountingCoroutine()(texts)


def matrix(texts):
    numpy = pytest.importorskip("numpy")
    return numpy.array([vector_of(text) for text in texts], dtype=numpy.float32)


def langchain_model():
    base = pytest.importorskip("langchain_core.embeddings").Embeddings
    return type("Model", (PlainMethods, base), {})()


def llamaindex_model(**methods):
    base = pytest.importorskip("llama_index.core.embeddings").BaseEmbedding

    class Model(base):
        def _get_text_embedding(self, text):
            return vector_of(text)

        def _get_query_embedding(self, query):
            return vector_of(query)

        async def _aget_query_embedding(self, query):
            return vector_of(query)

    return type("Own", (Model,), methods)() if methods else Model()


MODELS = {
    "function": CountingFunction,
    "arrays": NumberArrays,
    "iterator": Rows,
    "whole_numbers": lambda: whole_numbers,
    "matrix": lambda: matrix,
    "methods": PlainMethods,
    "langchain": langchain_model,
    "llamaindex": llamaindex_model,
}
ASYNC_MODELS = {
    "coroutine": CountingCoroutine,
    "partial": lambda: partial(CountingCoroutine.__call__, CountingCoroutine()),
    "bound_method": lambda: AsyncMethods().texts.__call__,
    "returns_an_awaitable": lambda: returns_an_awaitable,
    "methods": AsyncMethods,
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_every_kind_of_model_gives_cosines(model):
    assert embedding_scorer(model())(QUERY, TEXTS) == pytest.approx(SIMILARITIES, abs=1e-6)


@pytest.mark.parametrize("model", [*MODELS.values(), *ASYNC_MODELS.values()], ids=[*MODELS, *ASYNC_MODELS])
async def test_every_kind_of_model_can_be_awaited(model):
    assert await embedding_scorer(model()).ascore(QUERY, TEXTS) == pytest.approx(SIMILARITIES, abs=1e-6)


@pytest.mark.parametrize("model", ASYNC_MODELS.values(), ids=ASYNC_MODELS.keys())
def test_a_model_that_can_only_be_awaited_says_so_without_a_loop(model):
    with pytest.raises(TypeError, match=r"can only be awaited.*`afit` or `ainvoke`"):
        embedding_scorer(model())(QUERY, TEXTS)


def test_real_models_of_both_frameworks_agree_with_themselves():
    langchain = pytest.importorskip("langchain_core.embeddings")
    llamaindex = pytest.importorskip("llama_index.core.embeddings")
    for model in (langchain.DeterministicFakeEmbedding(size=32), llamaindex.MockEmbedding(embed_dim=8)):
        scorer = embedding_scorer(model)
        scores = scorer("one text", ["another", "one text", "a third"])
        assert scores[1] == max(scores) == pytest.approx(1.0)
        assert asyncio.run(embedding_scorer(model).ascore("one text", ["another", "one text", "a third"])) == scores


def test_only_new_texts_are_embedded_each_once_in_batches():
    model = PlainMethods()
    scorer = embedding_scorer(model, batch_size=2)

    first = scorer(QUERY, ["rain", "sun", "rain", "snow", "  ", ""])
    again = scorer(QUERY, ["snow", "sun and snow", "rain"])
    scorer("sun", ["snow"])

    assert model.texts.calls == [["rain", "sun"], ["snow"], ["sun and snow"]]
    assert model.queries.calls == [["rain"], ["sun"]]
    assert (first[2:4], again[2]) == ([first[0], 0.0], first[0])


async def test_calls_and_awaited_calls_share_what_is_remembered():
    model = CountingFunction()
    scorer = embedding_scorer(model)
    assert await scorer.ascore(QUERY, TEXTS) == scorer(QUERY, TEXTS)
    assert sorted(model.embedded) == sorted([QUERY, *TEXTS])


@pytest.mark.parametrize(
    ("query", "texts"), [("", TEXTS), (" \n", TEXTS), (QUERY, []), (QUERY, ["", "  \t"])], ids=repr
)
def test_nothing_is_embedded_without_a_query_or_a_text(query, texts):
    model = CountingFunction()
    scorer = embedding_scorer(model)
    assert scorer(query, texts) == asyncio.run(scorer.ascore(query, texts)) == [0.0] * len(texts)
    assert model.calls == []


def test_the_memory_is_bounded():
    model = CountingFunction()
    scorer = embedding_scorer(model, max_bytes=64_000)
    for start in range(0, 2_000, 100):
        scorer(QUERY, [f"rain {number}" for number in range(start, start + 100)])
        assert 0 < scorer.size_bytes <= 64_000
    newest = len(model.embedded)
    scorer(QUERY, ["rain 1999"])
    assert len(model.embedded) == newest
    scorer(QUERY, ["rain 0"])
    assert len(model.embedded) == newest + 1


def test_the_memory_counts_the_vectors():
    scorer = embedding_scorer(lambda texts: [[1.0] * 1_000 for _ in texts])
    scorer(QUERY, TEXTS)
    assert 4_000 * 7 < scorer.size_bytes < 5_000 * 7


def test_without_memory_all_texts_are_still_scored():
    scorer = embedding_scorer(CountingFunction(), max_bytes=0)
    assert scorer(QUERY, TEXTS) == pytest.approx(SIMILARITIES, abs=1e-6)
    assert scorer.size_bytes == 0


def test_threads_share_a_scorer():
    scorer = embedding_scorer(CountingFunction(), max_bytes=100_000, batch_size=7)
    start = threading.Barrier(4)

    def work(number):
        start.wait()
        return [scorer(QUERY, [*TEXTS, f"sun {number} {i}", f"rain {i % 5}"]) for i in range(50)]

    with ThreadPoolExecutor(4) as pool:
        found = [scores for rows in pool.map(work, range(4)) for scores in rows]
    assert all(scores == pytest.approx([*SIMILARITIES, 0.0, 1.0], abs=1e-6) for scores in found)
    assert scorer.size_bytes <= 100_000


@pytest.mark.parametrize(
    ("model", "error", "said"),
    [
        (None, TypeError, "got NoneType"),
        ("text-embedding-3-small", TypeError, "got str"),
        (PlainMethods, TypeError, "got the class PlainMethods"),
        (object(), TypeError, "instance of a LangChain or LlamaIndex"),
    ],
    ids=["none", "name", "class", "object"],
)
def test_what_is_no_model_is_refused(model, error, said):
    with pytest.raises(error, match=f"`embeddings` must be.*{said}|`embeddings`.*{said}"):
        embedding_scorer(model)


@pytest.mark.parametrize(
    ("option", "value"), [("max_bytes", -1), ("max_bytes", 1.5), ("batch_size", 0), ("batch_size", True)], ids=repr
)
def test_options_out_of_their_range_are_refused(option, value):
    with pytest.raises(ValueError, match=f"`{option}` must be a whole number of .*got {value}"):
        embedding_scorer(CountingFunction(), **{option: value})


BAD_VECTORS = {
    "none": (None, TypeError, "one vector for each text, got NoneType"),
    "text": ("abc", TypeError, "one vector for each text, got str"),
    "too_few": ([], ValueError, "one vector for each text, got 0 for 1"),
    "too_many": ([[1.0], [1.0]], ValueError, "one vector for each text, got 2 for 1"),
    "numbers": ([1.0], TypeError, "vectors of numbers, got float"),
    "words": ([["a"]], TypeError, "vectors of numbers, got list"),
    "bytes": ([b"12345678"], TypeError, "vectors of numbers, got bytes"),
    "huge": ([[10**400]], TypeError, "vectors of numbers, got list"),
    "empty": ([[]], ValueError, "finite numbers, got an empty one"),
    "nan": ([[1.0, math.nan]], ValueError, "finite numbers, got one that holds NaN"),
    "infinite": ([[math.inf, 1.0]], ValueError, "finite numbers, got one that holds NaN or an inf"),
}


@pytest.mark.parametrize(("found", "error", "said"), BAD_VECTORS.values(), ids=BAD_VECTORS.keys())
def test_vectors_that_are_none_are_an_error_and_not_remembered(found, error, said):
    scorer = embedding_scorer(lambda texts: found)
    for call in (scorer, lambda query, texts: asyncio.run(scorer.ascore(query, texts))):
        with pytest.raises(error, match=f"`embeddings` must return.*{said}"):
            call(QUERY, ["a text"])
    assert scorer.size_bytes == 0


def test_vectors_of_different_lengths_are_an_error():
    scorer = embedding_scorer(lambda texts: [[1.0] * len(text) for text in texts])
    with pytest.raises(ValueError, match=r"one length, got 4 and 6 numbers; make a new scorer"):
        scorer(QUERY, ["rain", "clouds"])


@pytest.mark.parametrize("awaited", [False, True], ids=["called", "awaited"])
def test_an_error_of_the_model_comes_through_and_keeps_what_came_before(awaited):
    failure = ConnectionError("the service is away")

    class Failing(CountingFunction):
        def __call__(self, texts):
            if "snow" in texts:
                raise failure
            return super().__call__(texts)

    scorer = embedding_scorer(Failing(), batch_size=1)
    with pytest.raises(ConnectionError) as raised:
        asyncio.run(scorer.ascore(QUERY, ["sun", "snow"])) if awaited else scorer(QUERY, ["sun", "snow"])
    assert raised.value is failure
    assert scorer.size_bytes > 0


def test_texts_reach_the_model_in_a_form_that_can_be_sent():
    model = CountingFunction()
    embedding_scorer(model)("rain \ud800", ["sun \ud83d\ude00", "snow \udfff"])
    assert model.embedded == ["rain �", "sun \U0001f600", "snow �"]


def test_a_scorer_pickles_without_what_it_remembers():
    scorer = embedding_scorer(CountingFunction(), max_bytes=50_000, batch_size=3)
    again = pickle.loads(pickle.dumps(scorer))  # noqa: S301
    assert again(QUERY, TEXTS) == scorer(QUERY, TEXTS)
    full = embedding_scorer(whole_numbers)
    full(QUERY, TEXTS * 20)
    assert len(pickle.dumps(full)) < 200


def test_what_is_printed_holds_no_content():
    scorer = embedding_scorer(CountingFunction())
    scorer("secret rain", ["secret sun"])
    assert repr(scorer) == "EmbeddingScorer(CountingFunction)"
    assert repr(embedding_scorer(whole_numbers)) == "EmbeddingScorer(whole_numbers)"


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(numbers, min_size=1, max_size=8), st.lists(numbers, min_size=1, max_size=8))
def test_every_finite_vector_has_length_one_or_none(left, right):
    size = min(len(left), len(right))
    one, other = unit_vector(left[:size]), unit_vector(right[:size])
    assert math.hypot(*one) == pytest.approx(1.0 if any(left[:size]) else 0.0, abs=1e-6)
    assert -1.0 <= cosine(one, other) == cosine(other, one) <= 1.0
    assert cosine(one, one) == pytest.approx(1.0 if any(left[:size]) else 0.0, abs=1e-6)


@given(st.lists(st.sampled_from(TEXTS), max_size=12), st.integers(1, 5), st.sampled_from([0, 3_000, 1_000_000]))
def test_scores_follow_the_texts_whatever_the_batches_and_the_memory(texts, batch_size, max_bytes):
    scorer = embedding_scorer(CountingFunction(), batch_size=batch_size, max_bytes=max_bytes)
    wanted = dict(zip(TEXTS, embedding_scorer(whole_numbers)(QUERY, TEXTS), strict=True))
    for _ in range(2):
        assert scorer(QUERY, texts) == [wanted[text] for text in texts]


def test_meaning_is_found_where_no_word_is_shared():
    texts = ["a long text about bread", "the forecast says showers"]
    near = embedding_scorer(lambda found: [[1.0, 0.0] if "bread" in text else [0.1, 1.0] for text in found])
    assert bm25_scorer("will it be wet", texts) == [0.0, 0.0]
    assert near("will it be wet", texts)[1] > near("will it be wet", texts)[0]
