"""Stores of summaries: any mutable mapping, shared by several summarizers."""

from __future__ import annotations

import pickle
import queue
from collections import UserDict
from collections.abc import MutableMapping
from types import MappingProxyType

import pytest

from counting_summaries import WORDS, PlainModel, chat
from ctxopt_core.runtime.event_loop import in_worker
from ctxopt_core.summaries.model_summarizer import RecentSummaries, summarizer

MESSAGES = chat("Where is Rome?", "In Italy.")


class Files(MutableMapping):
    """A mapping whose values are files."""

    def __init__(self, folder):
        self.folder = folder

    def __getitem__(self, key):
        try:
            return (self.folder / key).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise KeyError(key) from None

    def __setitem__(self, key, value):
        (self.folder / key).write_text(value, encoding="utf-8")

    def __delitem__(self, key):
        (self.folder / key).unlink()

    def __iter__(self):
        return (path.name for path in self.folder.iterdir())

    def __len__(self):
        return len(list(self))


STORES = {"dict": lambda tmp_path: {}, "user_dict": lambda tmp_path: UserDict(), "files": Files}


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
def test_h16_what_is_no_text_in_a_store_counts_as_absent(value):
    store = {}
    summarizer(PlainModel("New."), store=store).summarize(MESSAGES, WORDS, 20)
    store.update(dict.fromkeys(store, value))
    model = PlainModel("Newer.")
    assert summarizer(model, store=store).summarize(MESSAGES, WORDS, 20) == "Newer."
    assert len(model.answer.asked) == 1


def test_h16_a_text_from_a_store_is_cut_to_the_limit():
    store = {}
    summarizer(PlainModel(), store=store).summarize(MESSAGES, WORDS, 4)
    store.update(dict.fromkeys(store, "One two. Three four. Five."))
    assert summarizer(PlainModel(), store=store).summarize(MESSAGES, WORDS, 4) == "One two. Three four."


def test_bytes_of_a_mapping_are_read_as_a_text():
    store = {}
    summarizer(PlainModel("é."), store=store).summarize(MESSAGES, WORDS, 20)
    store.update({key: text.encode() for key, text in store.items()})
    assert summarizer(PlainModel("Newer."), store=store).summarize(MESSAGES, WORDS, 20) == "é."


@pytest.mark.parametrize("broken", ["__getitem__", "__setitem__"])
def test_what_a_store_raises_comes_through(broken):
    failure = ConnectionError("away")

    def failing(*arguments):
        raise failure

    store = type("Away", (UserDict,), {broken: failing, "__contains__": lambda *_: True})()
    with pytest.raises(ConnectionError) as raised:
        summarizer(PlainModel(), store=store).summarize(MESSAGES, WORDS, 20)
    assert raised.value is failure


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("redis://somewhere", "got str"),
        (dict, "got type"),
        ([], "got list"),
        (queue.Queue(), "got Queue"),
        (object(), "got object"),
        (frozenset(), "got frozenset"),
        (MappingProxyType({}), "got mappingproxy"),
    ],
    ids=["address", "class", "list", "queue", "object", "set", "read_only"],
)
def test_what_is_no_store_is_refused(store, said):
    with pytest.raises(TypeError, match=rf"`store` must be a mutable mapping from strings to strings.*{said}; wrap"):
        summarizer(PlainModel(), store=store)


def test_a_summarizer_pickles_with_its_store():
    by = summarizer(PlainModel(), store={})
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
