"""Counters cross process borders whole: a worker counts what its parent counts."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest

from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.counting.counter_wrappers import ScaledCounter
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.counting.estimate_counter import EstimateCounter
from ctxopt_core.counting.rewritten_counter import RewrittenCounter
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.runtime.text_cache import CountCache
from shape_rows import SCRIPTS, SENTENCE

TEXTS = ["", SENTENCE, *SCRIPTS.values()]
COUNTERS = {
    "cl100k": TiktokenCounter("cl100k_base"),
    "o200k": TiktokenCounter("o200k_base", cache=CountCache()),
    "callable": CallableCounter(len, name="characters", exact=False),
    "list": CallableCounter(str.split, name="words"),
    "estimate": EstimateCounter(),
    "newer_estimate": EstimateCounter(like="o200k_base"),
    "scaled": ScaledCounter(TiktokenCounter("o200k_base"), 1.35, name="a model"),
    "scaled_estimate": ScaledCounter(EstimateCounter(), 1.1),
    "model": counter_for("claude-sonnet-4-5"),
    "mistral": counter_for("mistral-large-latest"),
    "rewritten": RewrittenCounter(counter_for("mistral-large-latest")),
}
each = pytest.mark.parametrize("counter", COUNTERS.values(), ids=COUNTERS.keys())


@each
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_counter_pickles_with_all_that_it_is(counter, protocol):
    again = pickle.loads(pickle.dumps(counter, protocol))  # noqa: S301

    assert type(again) is type(counter)
    assert (again.name, again.exact, repr(again)) == (counter.name, counter.exact, repr(counter))
    assert [again.count(text) for text in TEXTS] == [counter.count(text) for text in TEXTS]


@each
def test_a_counter_can_be_copied(counter):
    for again in (copy.copy(counter), copy.deepcopy(counter)):
        assert (again.name, again.exact) == (counter.name, counter.exact)
        assert again.count(SENTENCE) == counter.count(SENTENCE)


def test_neither_vocabulary_nor_counts_are_pickled():
    counter = TiktokenCounter("cl100k_base")
    counter.count(SENTENCE * 1_000)

    assert len(pickle.dumps(counter)) < 150
    assert pickle.loads(pickle.dumps(counter)) == counter  # noqa: S301


def test_a_counter_around_what_cannot_be_pickled_says_so():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(CallableCounter(lambda text: len(text) + 1))


def test_a_worker_process_counts_the_same():
    counters = [counter for name, counter in COUNTERS.items() if name != "list"]
    spawn = multiprocessing.get_context("spawn")

    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        for counter in counters:
            assert list(pool.map(counter.count, TEXTS)) == [counter.count(text) for text in TEXTS]
