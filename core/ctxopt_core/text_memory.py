"""A bounded memory of what was worked out about a text."""

from __future__ import annotations

import threading
from itertools import islice
from typing import Generic, TypeVar

Value = TypeVar("Value")

DEFAULT_MEMORY_BYTES = 16 * 1024 * 1024


class TextMemory(Generic[Value]):
    """Values that were derived from texts, kept under the text itself.

    1. Equal texts share one entry and nothing can collide.
    2. It holds at most `max_bytes`, as told by those who store; the older half goes when it is full, and what takes
       more than half of it is not stored.
    3. Reading and storing are safe from any thread. Values are shared, so they must not be changed.

    Args:
        max_bytes: The most memory that the entries may take, in bytes.
    """

    __slots__ = ("_bytes", "_entries", "_lock", "_max_bytes")

    def __init__(self, max_bytes: int = DEFAULT_MEMORY_BYTES) -> None:
        self._entries: dict[str, tuple[Value, int]] = {}
        self._bytes = 0
        self._max_bytes = max_bytes
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size_bytes(self) -> int:
        """Memory that the entries take, in bytes."""
        return self._bytes

    def get(self, text: str) -> Value | None:
        """Return what is remembered of `text`, or None."""
        entry = self._entries.get(text)
        return None if entry is None else entry[0]

    def store(self, text: str, value: Value, size: int) -> None:
        """Remember `value`, which takes `size` bytes together with the text."""
        with self._lock:
            if text in self._entries or size > self._max_bytes // 2:
                return
            self._entries[text] = (value, size)
            self._bytes += size
            if self._bytes > self._max_bytes:
                self._forget_older_half()

    def _forget_older_half(self) -> None:
        for text in list(islice(self._entries, (len(self._entries) + 1) // 2)):
            self._bytes -= self._entries.pop(text)[1]
