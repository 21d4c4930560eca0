"""Warnings that are issued once per message in the life of the process."""

from __future__ import annotations

import threading
import warnings

# Messages. Bounds the memory of a process that names many unknown models; after so many, a warning may be repeated.
_MOST_REMEMBERED = 4096

_given: set[tuple[type[Warning], str]] = set()
_lock = threading.Lock()


def warn_once(message: str, category: type[Warning], *, stacklevel: int) -> None:
    """Warn, unless the same message, with what distinguishes it such as the model's id, was issued before.

    `stacklevel` is counted from the caller, as in `warnings.warn`.
    """
    key = (category, message)
    with _lock:
        if key in _given:
            return
        if len(_given) >= _MOST_REMEMBERED:
            _given.clear()
        _given.add(key)
    warnings.warn(message, category, stacklevel=stacklevel + 1)
