"""A bounded, thread-safe cache keyed by strings, and the caches of token counts that a process shares."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable
from itertools import islice
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

# Bytes, of up to 32 million characters whose counts are cached: several long conversations with their documents.
# A smaller cache counts strings of a long-running process again, a larger one takes memory from it.
DEFAULT_CACHE_BYTES = 32 * 1024 * 1024
# Bytes, for each cache of another kind (terms, embeddings, sentences): half of the above, since there are several.
_DEFAULT_BYTES = 16 * 1024 * 1024
# A string that takes more than one part in so many of the cache is not stored, so that it does not evict the rest.
_LARGEST_PART = 8

_shared: dict[str, CountCache] = {}
_shared_lock = threading.Lock()


def shared_cache(tokenizer_name: str) -> CountCache:
    """Return the process-wide cache of one tokenizer; counters of the same encoding share it."""
    with _shared_lock:
        return _shared.setdefault(tokenizer_name, CountCache())


class BoundedCache(Generic[Key, Value]):
    """Values that were computed from strings or tuples of them, which are the keys.

    1. Equal keys share one entry and nothing can collide.
    2. The keys are kept alive, so that memory is limited, by the sizes given to `store`. If the cache is full, the
       older half is removed; an entry of more than an eighth of it is not stored.
    3. Reading and storing are safe from any thread. Values are shared, so that they must not be changed.

    Args:
        max_bytes: The most memory of the entries, in bytes.
    """

    __slots__ = ("_bytes", "_lock", "_max_bytes", "_sizes", "_values", "get")

    def __init__(self, max_bytes: int = _DEFAULT_BYTES) -> None:
        self._values: dict[Key, Value] = {}
        self._sizes: dict[Key, int] = {}
        self._bytes = 0
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self.get: Callable[[Key], Value | None] = self._values.get

    def __len__(self) -> int:
        return len(self._values)

    @property
    def size_bytes(self) -> int:
        """Memory that the entries take, in bytes."""
        return self._bytes

    def store(self, key: Key, value: Value, size: int) -> None:
        """Store `value` under `key`; together they take `size` bytes."""
        if size > self._max_bytes // _LARGEST_PART:
            return
        with self._lock:
            if key not in self._values:
                self._put(key, value, size)

    def replace(self, key: Key, value: Value, size: int) -> None:
        """Store `value` in place of another under `key`; nothing where there is none, or where it is too large."""
        if size > self._max_bytes // _LARGEST_PART:
            return
        with self._lock:
            if key in self._values:
                self._bytes -= self._sizes[key]
                self._put(key, value, size)

    def _put(self, key: Key, value: Value, size: int) -> None:
        self._values[key] = value
        self._sizes[key] = size
        self._bytes += size
        while self._bytes > self._max_bytes:
            for older in list(islice(self._values, (len(self._values) + 1) // 2)):
                del self._values[older]
                self._bytes -= self._sizes.pop(older)

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._values.clear()
            self._sizes.clear()
            self._bytes = 0


class TextCache(BoundedCache[str, Value]):
    """Values that were computed from strings, with the string as the key."""

    __slots__ = ()

    def store(self, key: str, value: Value, size: int | None = None) -> None:
        """Store `value` under a string; together they take `size` bytes, by default the size of the string."""
        super().store(key, value, sys.getsizeof(key) if size is None else size)


class CountCache(TextCache[int]):
    """Token counts of strings; a `TextCache` of 32 MiB by default."""

    __slots__ = ()

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        super().__init__(max_bytes)
