"""A bounded, thread-safe cache keyed by strings, and the registry of those that hold token counts."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from itertools import islice
from typing import Generic, TypeVar

DEFAULT_CACHE_BYTES = 32 * 1024 * 1024
_shared: dict[str, CountCache] = {}
_shared_lock = threading.Lock()
Value = TypeVar("Value")
DEFAULT_MEMORY_BYTES = 16 * 1024 * 1024
_LARGEST_PART = 8


def shared_cache(tokenizer_name: str) -> CountCache:
    """Return the process-wide cache of one tokenizer; counters of the same encoding share it."""
    found = _shared.get(tokenizer_name)
    if found is None:
        with _shared_lock:
            found = _shared.setdefault(tokenizer_name, CountCache())
    return found


class TextCache(Generic[Value]):
    """Values that were derived from texts, kept under the text itself.

    1. Equal texts share one entry and nothing can collide.
    2. The texts are kept alive, so the memory is bounded by bytes, as told by those who store; the older half goes when
       it is full, and what takes more than an eighth of it is not stored.
    3. Reading and storing are safe from any thread. Values are shared, so they must not be changed.

    Args:
        max_bytes: The most memory that the entries may take, in bytes.
    """

    __slots__ = ("_bytes", "_lock", "_max_bytes", "_sizes", "_values", "get")

    def __init__(self, max_bytes: int = DEFAULT_MEMORY_BYTES) -> None:
        self._values: dict[str, Value] = {}
        self._sizes: dict[str, int] = {}
        self._bytes = 0
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self.get: Callable[[str], Value | None] = self._values.get

    def __len__(self) -> int:
        return len(self._values)

    @property
    def size_bytes(self) -> int:
        """Memory that the entries take, in bytes."""
        return self._bytes

    def store(self, text: str, value: Value, size: int | None = None) -> None:
        """Remember `value` under `text`; together they take `size` bytes, by default what the text takes."""
        size = sys.getsizeof(text) if size is None else size
        if size > self._max_bytes // _LARGEST_PART:
            return
        with self._lock:
            if text in self._values:
                return
            self._values[text] = value
            self._sizes[text] = size
            self._bytes += size
            while self._bytes > self._max_bytes:
                self._forget_older_half()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self._sizes.clear()
            self._bytes = 0

    def _forget_older_half(self) -> None:
        for text in list(islice(self._values, (len(self._values) + 1) // 2)):
            del self._values[text]
            self._bytes -= self._sizes.pop(text)


class CountCache(TextCache[int]):
    """Token counts of texts that were counted before; a `TextCache` of 32 MiB by default."""

    __slots__ = ()

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        super().__init__(max_bytes)
