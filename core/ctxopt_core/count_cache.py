"""The token counts that are remembered, for the whole process, by tokenizer."""

from __future__ import annotations

import threading

from ctxopt_core.text_memory import TextMemory

DEFAULT_CACHE_BYTES = 32 * 1024 * 1024


class CountCache(TextMemory[int]):
    """Token counts of texts that were counted before; a `TextMemory` of 32 MiB by default."""

    __slots__ = ()

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        super().__init__(max_bytes)


_shared: dict[str, CountCache] = {}
_shared_lock = threading.Lock()


def shared_cache(tokenizer_name: str) -> CountCache:
    """Return the process-wide cache of one tokenizer; counters of the same encoding share it."""
    found = _shared.get(tokenizer_name)
    if found is None:
        with _shared_lock:
            found = _shared.setdefault(tokenizer_name, CountCache())
    return found
