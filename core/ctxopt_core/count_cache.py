"""A bounded memory of token counts, keyed by the text itself."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from itertools import islice

DEFAULT_CACHE_BYTES = 32 * 1024 * 1024
_LARGEST_PART = 8


class CountCache:
    """Token counts of texts that were counted before.

    1. A count is stored under the text itself, so equal texts share one entry and nothing can collide.
    2. The texts are kept alive by the cache, so it is bounded by their bytes; the older half goes when it is full.
    3. A text of more than an eighth of that bound is not stored.
    4. Reading and storing are safe from any thread.

    Args:
        max_bytes: The most memory that the stored texts may take, in bytes.
    """

    __slots__ = ("_bytes", "_counts", "_lock", "_max_bytes", "get")

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._counts: dict[str, int] = {}
        self._bytes = 0
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self.get: Callable[[str], int | None] = self._counts.get

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def size_bytes(self) -> int:
        """Memory of the stored texts, in bytes."""
        return self._bytes

    def store(self, text: str, tokens: int) -> None:
        """Remember that `text` counts `tokens`."""
        size = sys.getsizeof(text)
        if size > self._max_bytes // _LARGEST_PART:
            return
        with self._lock:
            if text in self._counts:
                return
            self._counts[text] = tokens
            self._bytes += size
            while self._bytes > self._max_bytes:
                self._forget_older_half()

    def clear(self) -> None:
        """Forget every count."""
        with self._lock:
            self._counts.clear()
            self._bytes = 0

    def _forget_older_half(self) -> None:
        for text in list(islice(self._counts, (len(self._counts) + 1) // 2)):
            del self._counts[text]
        # Summed anew: a text takes more than when it was stored once its UTF-8 form has been asked for.
        self._bytes = sum(map(sys.getsizeof, self._counts))


_shared: dict[str, CountCache] = {}
_shared_lock = threading.Lock()


def shared_cache(tokenizer_name: str) -> CountCache:
    """Return the process-wide cache of one tokenizer; counters of the same encoding share it."""
    found = _shared.get(tokenizer_name)
    if found is None:
        with _shared_lock:
            found = _shared.setdefault(tokenizer_name, CountCache())
    return found
