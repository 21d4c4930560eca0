"""How scorers are asked: what they may return, and how one is awaited on the caller's event loop."""

from __future__ import annotations

import asyncio
import gc
import math
import threading
import time
from concurrent.futures import CancelledError
from contextvars import ContextVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting_embeddings import AsyncMethods, CountingCoroutine, CountingFunction, PlainMethods, vector_of
from ctxopt_core import (
    ContextBudget,
    ContextRequest,
    Document,
    DocumentPolicy,
    afit,
    bm25_scorer,
    embedding_scorer,
    fit,
)
from ctxopt_core.relevance.scorer import AsyncScorer, call_scorer
from ctxopt_core.runtime.event_loop import AwaitingLoop, awaiting_on, in_worker

QUERY = "rain"
TEXTS = ["sun and rain", "snow", "rain"]
SCORES = pytest.approx([math.sqrt(1 / 2), 0.0, 1.0], abs=1e-6)
PARALLEL = 40


def giving(scores):
    def scorer(query, texts):
        return scores

    return scorer


class Fraction:
    def __float__(self):
        return 0.25


@pytest.mark.parametrize(
    ("found", "scores"),
    [
        ([0.5, 0.0, -1.0], [0.5, 0.0, -1.0]),
        ((2, 1, 0), [2.0, 1.0, 0.0]),
        (iter([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]),
        ([math.inf, -math.inf, 0.0], [math.inf, -math.inf, 0.0]),
        ([Fraction(), True, 0], [0.25, 1.0, 0.0]),
    ],
    ids=["list", "whole_numbers", "iterator", "infinite", "numbers_of_other_types"],
)
def test_scores_come_back_as_numbers(found, scores):
    assert call_scorer(giving(found), QUERY, TEXTS) == scores


def test_d1_a_score_that_is_no_number_ranks_last():
    assert call_scorer(giving([math.nan, -5.0, 0.0]), QUERY, TEXTS) == [-math.inf, -5.0, 0.0]


@pytest.mark.parametrize(
    ("found", "error", "said"),
    [
        (None, TypeError, "one score for each text, got NoneType"),
        (0.5, TypeError, "one score for each text, got float"),
        ([0.5], ValueError, "one score for each text, got 1 for 3"),
        ([0.5] * 4, ValueError, "one score for each text, got 4 for 3"),
        (["0.5", "0.1", "0.2"], TypeError, "numbers, got str"),
        ("123", TypeError, "numbers, got str"),
        ([0.5, None, 0.1], TypeError, "numbers, got NoneType"),
        ([1j, 1.0, 1.0], TypeError, "numbers, got complex"),
        ([10**400, 1, 1], TypeError, "numbers, got int"),
    ],
    ids=["none", "one_number", "too_few", "too_many", "texts", "a_text", "missing", "complex", "huge"],
)
def test_d1_what_is_no_score_is_an_error_that_names_the_scorer(found, error, said):
    with pytest.raises(error, match=rf"`scorer` giving\.<locals>\.scorer must return {said}"):
        call_scorer(giving(found), QUERY, TEXTS)


@given(st.lists(st.floats(), min_size=1))
def test_every_list_of_floats_is_kept_but_for_nan(scores):
    found = call_scorer(giving(scores), QUERY, ["text"] * len(scores))
    assert found == [-math.inf if math.isnan(score) else score for score in scores]


@pytest.mark.parametrize("scorer", [bm25_scorer, embedding_scorer(PlainMethods())], ids=["bm25", "embeddings"])
def test_the_scorers_of_the_package_can_be_asked(scorer):
    assert len(call_scorer(scorer, QUERY, TEXTS)) == len(TEXTS)
    assert isinstance(scorer, AsyncScorer) == (scorer is not bm25_scorer)


async def own_coroutine(query, texts):
    await asyncio.sleep(0)
    return [float(len(text)) for text in texts]


def test_an_error_of_a_scorer_comes_through_unchanged():
    failure = ConnectionError("away")

    def scorer(query, texts):
        raise failure

    with pytest.raises(ConnectionError) as raised:
        call_scorer(scorer, QUERY, TEXTS)
    assert raised.value is failure


@pytest.mark.parametrize("scorer", [own_coroutine, embedding_scorer(AsyncMethods())], ids=["function", "embeddings"])
def test_what_can_only_be_awaited_says_so_without_a_loop(scorer):
    with pytest.raises(TypeError, match=r"can only be awaited.*`afit` or `ainvoke`"):
        call_scorer(scorer, QUERY, TEXTS)


async def test_what_can_only_be_awaited_says_so_on_the_loop_itself():
    with awaiting_on(asyncio.get_running_loop()), pytest.raises(TypeError, match="can only be awaited"):
        call_scorer(embedding_scorer(AsyncMethods()), QUERY, TEXTS)


async def test_a_worker_awaits_on_the_loop_that_waits_for_it():
    model = AsyncMethods()
    assert await in_worker(call_scorer, embedding_scorer(model), QUERY, TEXTS) == SCORES
    assert await in_worker(call_scorer, own_coroutine, QUERY, TEXTS) == [12.0, 4.0, 4.0]
    assert {*model.texts.loops, *model.queries.loops} == {asyncio.get_running_loop()}


async def test_any_thread_that_copies_the_context_is_served():
    runnables = pytest.importorskip("langchain_core.runnables.config")
    model = AsyncMethods()
    scorer = embedding_scorer(model, max_bytes=0)
    with awaiting_on(asyncio.get_running_loop()):
        assert await asyncio.to_thread(call_scorer, scorer, QUERY, TEXTS) == SCORES
        assert await runnables.run_in_executor({}, call_scorer, scorer, QUERY, TEXTS) == SCORES
    assert len(model.texts.calls) == 2
    with pytest.raises(TypeError, match="can only be awaited"):
        await asyncio.to_thread(call_scorer, scorer, QUERY, TEXTS)


async def test_the_loop_is_not_blocked_meanwhile():
    scorer = embedding_scorer(AsyncMethods(pause=0.05), batch_size=1)
    ticks = 0
    scoring = asyncio.create_task(in_worker(call_scorer, scorer, QUERY, TEXTS))
    while not scoring.done():
        await asyncio.sleep(0.005)
        ticks += 1
    assert await scoring == SCORES
    assert ticks > 10


async def test_a_plain_model_does_not_run_on_the_loop():
    threads = set()

    class Noting(PlainMethods):
        def embed_documents(self, texts):
            threads.add(threading.current_thread())
            return super().embed_documents(texts)

    assert await in_worker(call_scorer, embedding_scorer(Noting()), QUERY, TEXTS) == SCORES
    assert threading.main_thread() not in threads


async def test_inherited_coroutines_that_would_block_the_loop_are_not_used():
    base = pytest.importorskip("llama_index.core.embeddings").BaseEmbedding
    threads = []

    class OnlyPlainTexts(base):
        def _get_text_embedding(self, text):
            threads.append(threading.current_thread())
            return vector_of(text)

        def _get_query_embedding(self, query):
            return vector_of(query)

        async def _aget_query_embedding(self, query):
            threads.append(threading.current_thread())
            return vector_of(query)

    class OwnTexts(OnlyPlainTexts):
        async def _aget_text_embedding(self, text):
            return self._get_text_embedding(text)

    main = threading.main_thread()
    for model, on_loop in ((OnlyPlainTexts(), False), (OwnTexts(), True)):
        threads.clear()
        assert await in_worker(call_scorer, embedding_scorer(model), QUERY, TEXTS) == SCORES
        assert threads[0] is main
        assert {thread is main for thread in threads[1:]} == {on_loop}


async def test_many_at_once_do_not_wait_for_each_other_for_ever():
    def slow(texts):
        time.sleep(0.002)
        return [vector_of(text) for text in texts]

    class ThroughThreads(PlainMethods):
        async def aembed_documents(self, texts):
            return await asyncio.get_running_loop().run_in_executor(None, slow, texts)

        async def aembed_query(self, text):
            return (await self.aembed_documents([text]))[0]

    scorers = [embedding_scorer(model) for _ in range(PARALLEL) for model in (ThroughThreads(), slow)]
    works = [in_worker(call_scorer, scorer, QUERY, TEXTS) for scorer in scorers]
    assert await asyncio.wait_for(asyncio.gather(*works), 30) == [SCORES] * len(scorers)


async def test_cancelling_cancels_what_is_awaited_and_ends_the_worker():
    model = CountingCoroutine(pause=60)
    ended = threading.Event()
    errors = []

    def work():
        for _ in range(2):
            try:
                call_scorer(embedding_scorer(model), QUERY, TEXTS)
            except CancelledError as error:
                errors.append(error)
        ended.set()

    scoring = asyncio.create_task(in_worker(work))
    await model.started.wait()
    scoring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await scoring
    assert await asyncio.to_thread(ended.wait, 10)
    await asyncio.sleep(0)
    assert (len(errors), len(model.loops), model.cancelled) == (2, 1, 1)
    gc.collect()


def test_a_run_that_is_given_up_leaves_nothing_behind():
    model = CountingCoroutine(pause=60)

    async def impatient():
        await asyncio.wait_for(in_worker(call_scorer, embedding_scorer(model), QUERY, TEXTS), 0.05)

    started = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    assert time.monotonic() - started < 5
    assert model.cancelled == 1
    gc.collect()


def test_a_loop_that_was_closed_is_not_waited_for():
    loop = asyncio.new_event_loop()
    awaiting = AwaitingLoop(loop)
    threading.Timer(0.05, loop.close).start()
    with pytest.raises(CancelledError):
        awaiting.result_of(own_coroutine, QUERY, TEXTS)
    with pytest.raises(CancelledError):
        awaiting.result_of(own_coroutine, QUERY, TEXTS)
    gc.collect()


async def test_a_worker_has_the_context_and_gives_back_errors():
    variable = ContextVar("variable", default="none")
    variable.set("given")
    assert await in_worker(variable.get) == "given"
    with pytest.raises(ZeroDivisionError):
        await in_worker(divmod, 1, 0)
    with pytest.raises(RuntimeError, match="next raised StopIteration"):
        await asyncio.wait_for(in_worker(next, iter(())), 5)


async def test_i10_a_fit_with_embeddings_is_the_same_awaited():
    documents = [Document(id=str(i), text=f"{text} {i}. " * 40) for i, text in enumerate(TEXTS * 3)]
    request = ContextRequest(query="When does the rain come?", documents=documents)
    budget = ContextBudget(max_input_tokens=300)
    model = AsyncMethods()
    policies = [DocumentPolicy(scorer=embedding_scorer(source)) for source in (CountingFunction(), model)]

    awaited = [await afit(request, budget, documents=policy) for policy in policies]

    assert awaited[0] == awaited[1] == fit(request, budget, documents=policies[0])
    assert set(model.texts.loops) <= {asyncio.get_running_loop()}
