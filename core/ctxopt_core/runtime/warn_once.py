"""Warnings that are given once per message in the life of the process."""

from __future__ import annotations

import threading
import warnings

_REMEMBERED = 4096

_given: set[tuple[type[Warning], str]] = set()
_lock = threading.Lock()


def warn_once(message: str, category: type[Warning], *, stacklevel: int) -> None:
    """Warn, unless the same message was given before.

    Args:
        message: Holds what makes the warning one of its own, such as the model's id.
        category: The class to filter by.
        stacklevel: As in `warnings.warn`, counted from the caller.
    """
    key = (category, message)
    with _lock:
        if key in _given:
            return
        if len(_given) >= _REMEMBERED:
            _given.clear()
        _given.add(key)
    warnings.warn(message, category, stacklevel=stacklevel + 1)
