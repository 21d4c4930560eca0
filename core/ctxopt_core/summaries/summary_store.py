"""Where summaries are kept: in the memory of one summarizer, and in a store that several machines share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, Protocol, get_args

from ctxopt_core.runtime.duck_typing import MethodNames, method_of, pair_of

_COLLECTION = "ctxopt_summaries"
_FIELD = "summary"


class SummaryStore(Protocol):
    """A store of texts, whatever its own interface is.

    1. Its coroutines are used where an event loop waits for the call and they are its own; else it is called.
    2. What it holds under a key and is no text counts as absent.
    3. Its errors come through unchanged.
    """

    def read(self, key: str) -> str | None:
        """Return the text under a key, or None."""

    def write(self, key: str, text: str) -> None:
        """Keep a text under a key."""


def store_of(store: Any) -> SummaryStore:
    """Return how texts are read from and written to `store`.

    Raises:
        TypeError: It is no store of a known kind.
    """
    if not isinstance(store, type):
        if _has(store, "mget", "mset") or _has(store, "amget", "amset"):
            return _BatchStore(store)
        if _has(store, "get", "put") and _takes_a_collection(store):
            return _CollectionStore(store)
        if isinstance(store, MutableMapping):
            return _MappingStore(store)
    what = f"the class {store.__name__}" if isinstance(store, type) else type(store).__name__
    message = (
        "`store` must be a LangChain store (`mget`, `mset`), a LlamaIndex key-value store (`get`, `put`) or a mutable "
        f"mapping from texts to texts such as a dict, got {what}"
    )
    raise TypeError(message)


class RecentSummaries:
    """The texts that were used last, up to a number of entries. It may be used from any thread.

    Args:
        entries: The most that are kept.
    """

    __slots__ = ("_entries", "_lock", "_texts")

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._texts)

    def read(self, key: str) -> str | None:
        """Return the text under a key, which becomes the newest, or None."""
        with self._lock:
            if key not in self._texts:
                return None
            self._texts.move_to_end(key)
            return self._texts[key]

    def write(self, key: str, text: str) -> None:
        """Keep a text under a key; the one that was not used for longest goes when there are too many."""
        with self._lock:
            self._texts[key] = text
            self._texts.move_to_end(key)
            while len(self._texts) > self._entries:
                self._texts.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _BatchStore:
    """LangChain's `BaseStore`; one of bytes holds the text as UTF-8."""

    store: Any

    def read(self, key: str) -> str | None:
        found = _use(self.store, "mget", [key])
        return _text(found[0]) if isinstance(found, (list, tuple)) and found else None

    def write(self, key: str, text: str) -> None:
        _use(self.store, "mset", [(key, text.encode() if _holds_bytes(self.store) else text)])


@dataclass(frozen=True, slots=True)
class _CollectionStore:
    """LlamaIndex's `BaseKVStore`, whose values are dictionaries."""

    store: Any

    def read(self, key: str) -> str | None:
        found = _use(self.store, "get", key, _COLLECTION)
        return _text(found.get(_FIELD)) if isinstance(found, Mapping) else None

    def write(self, key: str, text: str) -> None:
        _use(self.store, "put", key, {_FIELD: text}, _COLLECTION)


@dataclass(frozen=True, slots=True)
class _MappingStore:
    """A mapping from texts to texts."""

    store: MutableMapping[str, str]

    def read(self, key: str) -> str | None:
        return _text(self.store.get(key))

    def write(self, key: str, text: str) -> None:
        self.store[key] = text


def _use(store: Any, name: str, *arguments: Any) -> Any:
    pair = pair_of(store, MethodNames((name,), (f"a{name}",)))
    return pair.call(*arguments, named=f"`store` {type(store).__qualname__}")


def _has(store: Any, *names: str) -> bool:
    return all(method_of(store, name) is not None for name in names)


def _takes_a_collection(store: Any) -> bool:
    """Tell LlamaIndex's stores from queues and others that have `get` and `put`, too."""
    try:
        return all("collection" in signature(method).parameters for method in (store.get, store.put))
    except (TypeError, ValueError):
        return False


def _holds_bytes(store: Any) -> bool:
    """Tell whether a store says in its classes that its values are bytes, as `BaseStore[str, bytes]` does."""
    bases = (base for cls in type(store).__mro__ for base in getattr(cls, "__orig_bases__", ()))
    return any(bytes in get_args(base) for base in bases)


def _text(found: Any) -> str | None:
    if isinstance(found, bytes):
        try:
            return found.decode()
        except UnicodeDecodeError:
            return None
    return found if isinstance(found, str) else None
