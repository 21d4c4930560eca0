"""Stores of summaries: of either framework or a mapping, shared by several summarizers."""

from __future__ import annotations

import asyncio
import pickle
import queue

import pytest

from counting_summaries import WORDS, PlainModel, chat
from ctxopt_core.runtime.event_loop import in_worker
from ctxopt_core.summaries.model_summarizer import summarizer
from ctxopt_core.summaries.summary_store import RecentSummaries, store_of

MESSAGES = chat("Where is Rome?", "In Italy.")


class Batches:
    """The methods of LangChain's stores."""

    def __init__(self):
        self.values = {}

    def mget(self, keys):
        return [self.values.get(key) for key in keys]

    def mset(self, pairs):
        self.values.update(pairs)


class AwaitedBatches:
    """The same to be awaited."""

    def __init__(self):
        self.plain = Batches()
        self.loops = set()

    async def amget(self, keys):
        self.loops.add(asyncio.get_running_loop())
        return self.plain.mget(keys)

    async def amset(self, pairs):
        self.loops.add(asyncio.get_running_loop())
        self.plain.mset(pairs)


def langchain_store(name):
    return getattr(pytest.importorskip("langchain_core.stores"), name)()


def llamaindex_store():
    return pytest.importorskip("llama_index.core.storage.kvstore").SimpleKVStore()


def file_store(tmp_path):
    return pytest.importorskip("langchain_classic.storage").LocalFileStore(tmp_path)


STORES = {
    "dict": lambda tmp_path: {},
    "batches": lambda tmp_path: Batches(),
    "langchain": lambda tmp_path: langchain_store("InMemoryStore"),
    "langchain_bytes": lambda tmp_path: langchain_store("InMemoryByteStore"),
    "langchain_files": file_store,
    "llamaindex": lambda tmp_path: llamaindex_store(),
}


@pytest.fixture(params=STORES.values(), ids=STORES.keys())
def store(request, tmp_path):
    return request.param(tmp_path)


@pytest.mark.parametrize("awaited", [False, True], ids=["called", "awaited"])
async def test_h16_summarizers_share_a_store(store, awaited):
    first, second = PlainModel("Über Rom 👋."), PlainModel("Something else.")
    for model in (first, second):
        by = summarizer(model, store=store)
        call = (MESSAGES, WORDS, 20)
        found = await in_worker(by.summarize, *call) if awaited else by.summarize(*call)
        assert found == "Über Rom 👋."
    assert (len(first.answer.asked), len(second.answer.asked)) == (1, 0)


def test_h16_what_is_read_from_the_store_is_remembered():
    read = []

    class Noting(dict):
        def get(self, key, default=None):
            read.append(key)
            return super().get(key, default)

    store = Noting()
    summarizer(PlainModel(), store=store).summarize(MESSAGES, WORDS, 20)
    by = summarizer(PlainModel(), store=store)
    for _ in range(3):
        by.summarize(MESSAGES, WORDS, 20)
    assert len(read) == 2


def test_h16_keys_are_digests_that_every_store_takes():
    store = {}
    summarizer(PlainModel(), store=store).summarize(MESSAGES, WORDS, 20)
    ((key, value),) = store.items()
    prefix, digest = key[:15], key[15:]
    assert (prefix, len(digest), value) == ("ctxopt-summary-", 64, "They talked.")
    assert set(digest) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("changes", "shared"),
    [
        ({}, True),
        ({"cache_entries": 5}, True),
        ({"name": "plain-1"}, True),
        ({"name": "plain-2"}, False),
        ({"instructions": "Be brief."}, False),
        ({"max_input_tokens": 7_000}, True),
    ],
    ids=str,
)
def test_h16_keys_tell_models_and_instructions_apart(changes, shared):
    store = {}
    summarizer(PlainModel(), store=store).summarize(MESSAGES, WORDS, 20)
    other = PlainModel()
    summarizer(other, store=store, **changes).summarize(MESSAGES, WORDS, 20)
    assert (other.answer.asked == []) == shared
    assert len(store) == (1 if shared else 2)


@pytest.mark.parametrize(
    "value", [None, "", " \n", 5, b"\xff\xfe", ["text"], {"summary": "text"}, {"summary": 5}], ids=repr
)
@pytest.mark.parametrize("kind", ["dict", "batches", "llamaindex"])
def test_h16_what_is_no_text_in_a_store_counts_as_absent(kind, value, tmp_path):
    store = STORES[kind](tmp_path)
    by = summarizer(PlainModel("New."), store=store, cache_entries=0)
    by.summarize(MESSAGES, WORDS, 20)
    if kind == "llamaindex":
        ((key, _),) = store.get_all(collection="ctxopt_summaries").items()
        value = {"summary": 5} if isinstance(value, dict) else {"summary": value}
        store.put(key, value, collection="ctxopt_summaries")
    else:
        values = store if kind == "dict" else store.values
        values.update(dict.fromkeys(values, value))
    model = PlainModel("Newer.")
    assert summarizer(model, store=store).summarize(MESSAGES, WORDS, 20) == "Newer."
    assert len(model.answer.asked) == 1


def test_h16_a_text_from_a_store_is_cut_to_the_limit():
    store = {}
    summarizer(PlainModel(), store=store).summarize(MESSAGES, WORDS, 4)
    store.update(dict.fromkeys(store, "One two. Three four. Five."))
    assert summarizer(PlainModel(), store=store).summarize(MESSAGES, WORDS, 4) == "One two. Three four."


def test_bytes_of_a_mapping_are_read_as_a_text():
    store = store_of({"key": "é".encode()})
    assert store.read("key") == "é"


async def test_a_store_that_can_only_be_awaited_is_awaited_on_the_loop_that_waits():
    store = AwaitedBatches()
    by = summarizer(PlainModel(), store=store)
    assert await in_worker(by.summarize, MESSAGES, WORDS, 20) == "They talked."
    assert store.loops == {asyncio.get_running_loop()}
    assert list(store.plain.values.values()) == ["They talked."]
    with pytest.raises(TypeError, match=r"`store` AwaitedBatches can only be awaited"):
        summarizer(PlainModel(), store=store).summarize(MESSAGES, WORDS, 20)


class Odd:
    """What has the names, but says nothing about how it is called."""

    get = put = max


@pytest.mark.parametrize("broken", ["mget", "mset"])
def test_what_a_store_raises_comes_through(broken):
    failure = ConnectionError("away")

    def failing(*arguments):
        raise failure

    store = Batches()
    setattr(store, broken, failing)
    by = summarizer(PlainModel(), store=store)
    with pytest.raises(ConnectionError) as raised:
        by.summarize(MESSAGES, WORDS, 20)
    assert raised.value is failure


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("redis://somewhere", "got str"),
        (dict, "got the class dict"),
        ([], "got list"),
        (queue.Queue(), "got Queue"),
        (object(), "got object"),
        (frozenset(), "got frozenset"),
        (Odd(), "got Odd"),
    ],
    ids=["address", "class", "list", "queue", "object", "set", "odd"],
)
def test_what_is_no_store_is_refused(store, said):
    with pytest.raises(TypeError, match=rf"`store` must be a LangChain store \(`mget`, `mset`\).*{said}"):
        summarizer(PlainModel(), store=store)


def test_a_store_of_langgraph_is_refused_since_it_is_called_otherwise():
    memory = pytest.importorskip("langgraph.store.memory")
    with pytest.raises(TypeError, match="got InMemoryStore"):
        store_of(memory.InMemoryStore())


def test_a_summarizer_pickles_with_its_store():
    by = summarizer(PlainModel(), store=Batches())
    by.summarize(MESSAGES, WORDS, 20)
    again = pickle.loads(pickle.dumps(by))  # noqa: S301
    assert again.summarize(MESSAGES, WORDS, 20) == "They talked."
    assert "0 summaries" not in repr(again)


def test_recent_summaries_forget_what_was_not_used_for_longest():
    recent = RecentSummaries(2)
    recent.write("a", "1")
    recent.write("b", "2")
    assert recent.read("a") == "1"
    recent.write("c", "3")
    recent.write("c", "4")
    assert [recent.read(key) for key in "abc"] == ["1", None, "4"]
    assert len(recent) == 2
