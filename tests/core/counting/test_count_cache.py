"""A memory of counts that stays within its bounds, whatever is stored and from however many threads."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.runtime.text_cache import DEFAULT_CACHE_BYTES, BoundedCache, CountCache, shared_cache

EMPTY_BYTES = sys.getsizeof("")


def text_of(size_bytes, letter="x"):
    return letter * (size_bytes - EMPTY_BYTES)


def kept(cache, texts):
    return [text for text in texts if cache.get(text) is not None]


def test_a_count_is_remembered_under_the_text():
    cache = CountCache()
    cache.store("lantern", 2)

    assert cache.get("lan" + "tern") == 2
    assert cache.get("Lantern") is None
    assert (len(cache), cache.size_bytes) == (1, sys.getsizeof("lantern"))


def test_a_text_is_stored_once():
    cache = CountCache()
    for tokens in (2, 3):
        cache.store("lantern", tokens)

    assert cache.get("lantern") == 2
    assert (len(cache), cache.size_bytes) == (1, sys.getsizeof("lantern"))


def test_the_older_half_goes_when_it_is_full():
    cache = CountCache(1_000)
    texts = [text_of(100, letter) for letter in "abcdefghijk"]

    for text in texts[:10]:
        cache.store(text, 1)
    assert (len(cache), cache.size_bytes) == (10, 1_000)

    cache.store(texts[10], 1)
    assert kept(cache, texts) == texts[6:]
    assert cache.size_bytes == 500


@pytest.mark.parametrize(
    ("size_bytes", "stored"), [pytest.param(125, 1, id="an-eighth"), pytest.param(126, 0, id="more-than-an-eighth")]
)
def test_a_text_of_more_than_an_eighth_of_the_bound_is_not_stored(size_bytes, stored):
    cache = CountCache(1_000)
    cache.store(text_of(size_bytes), 1)

    assert len(cache) == stored


def test_a_cache_without_room_stores_nothing():
    cache = CountCache(0)
    cache.store("", 0)

    assert (len(cache), cache.size_bytes, cache.get("")) == (0, 0, None)


def test_it_can_be_cleared_and_filled_again():
    cache = CountCache()
    cache.store("lantern", 2)
    cache.clear()
    assert (len(cache), cache.size_bytes, cache.get("lantern")) == (0, 0, None)

    cache.store("lantern", 2)
    assert cache.get("lantern") == 2


@given(st.lists(st.tuples(st.integers(EMPTY_BYTES, 140), st.integers(0, 50)), max_size=120))
def test_it_never_takes_more_than_its_bound(sizes):
    cache = CountCache(1_000)
    for size, letter in sizes:
        text = text_of(size, chr(ord("A") + letter))
        cache.store(text, size)
        assert cache.size_bytes <= 1_000
        assert cache.get(text) in {None, size}
        assert (cache.get(text) is None) == (size > 125)


def test_large_texts_behind_many_small_ones_stay_within_the_bound():
    cache = CountCache(100_000)
    for number in range(1_500):
        cache.store(f"{number:04}", 1)
    for letter in "abcdefgh":
        cache.store(text_of(12_500, letter), 1)
        assert cache.size_bytes <= 100_000


def test_texts_that_grow_when_they_are_read_as_utf8_leave_as_much_room_as_they_took():
    cache = CountCache(20_000)
    counter = TiktokenCounter("cl100k_base", cache=CountCache(0))
    sizes = {f"{number:03}灯" * 60: 0 for number in range(60)}
    for text in sizes:
        sizes[text] = sys.getsizeof(text)
        cache.store(text, 1)
        counter.count(text)

    assert any(sys.getsizeof(text) > size for text, size in sizes.items())
    assert cache.size_bytes == sum(sizes[text] for text in kept(cache, sizes)) <= 20_000


def test_counters_of_one_encoding_share_what_they_remember():
    assert shared_cache("cl100k_base") is shared_cache("cl100k_base")
    assert shared_cache("cl100k_base") is not shared_cache("o200k_base")

    text = "a text that nothing else in these tests has counted"
    tokens = TiktokenCounter("cl100k_base").count(text)
    assert TiktokenCounter(" cl100k_base").cached_count(text) == tokens
    assert TiktokenCounter("o200k_base").cached_count(text) is None
    assert sys.getsizeof(text) <= shared_cache("cl100k_base").size_bytes <= DEFAULT_CACHE_BYTES


def test_a_text_too_large_for_the_cache_is_counted_all_the_same():
    cache = CountCache(1_000)
    counter = TiktokenCounter("cl100k_base", cache=cache)

    assert counter.count("lantern " * 1_000) == counter.count("lantern " * 1_000) > 1_000
    assert len(cache) == 0


def test_threads_share_a_cache_that_keeps_evicting():
    cache = CountCache(4_000)
    texts = [f"lantern {number}" * 3 for number in range(200)]

    def store_all(shift):
        wrong = 0
        for number in range(3_000):
            index = (number * (shift + 1) + shift) % len(texts)
            known = cache.get(texts[index])
            wrong += known is not None and known != index
            cache.store(texts[index], index)
        return wrong

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(store_all, range(8))) == 0
    assert cache.size_bytes == sum(map(sys.getsizeof, kept(cache, texts))) <= 4_000
    assert all(cache.get(text) == texts.index(text) for text in kept(cache, texts))


def test_threads_count_what_one_thread_counts():
    texts = [f"thread test {number}: " + "灯 lantern " * (number % 40) for number in range(400)]
    alone = TiktokenCounter("o200k_base", cache=CountCache())
    together = TiktokenCounter("o200k_base", cache=CountCache(6_000))

    with ThreadPoolExecutor(8) as pool:
        counted = list(pool.map(together.count, texts * 3))
    assert counted == [alone.count(text) for text in texts] * 3


def test_a_value_is_replaced_only_where_there_is_one_and_its_size_counts():
    cache = BoundedCache(800)
    cache.store("a", 1, 50)
    cache.replace("a", 2, 80)
    cache.replace("b", 3, 80)
    cache.replace("a", 4, 101)

    assert (cache.get("a"), cache.get("b"), len(cache), cache.size_bytes) == (2, None, 1, 80)
