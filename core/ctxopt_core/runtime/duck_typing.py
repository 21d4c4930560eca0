"""Which methods a user's object has, and whether its coroutines are its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def method_of(model: Any, name: str) -> Callable[..., Any] | None:
    """Return a method of an object, or None if it has none of that name."""
    found = getattr(model, name, None)
    return found if callable(found) else None


def has_own_coroutines(model: Any, coroutines: tuple[str, ...], plain: tuple[str, ...]) -> bool:
    """Return whether the coroutines of an object do more than call its plain functions.

    Those that it inherits from a base class without its plain functions can only call them: in the default thread pool
    (LangChain), or on the event loop, which is blocked meanwhile (LlamaIndex).

    Args:
        model: The object.
        coroutines: The method that is awaited, then those that subclasses override to change it.
        plain: The method that is called, then those that subclasses override to change it.
    """
    return _nearest(model, coroutines) <= _nearest(model, plain)


def _nearest(model: Any, names: tuple[str, ...]) -> int:
    """Return the position of the first class that defines one of these names."""
    classes = type(model).__mro__
    return next((place for place, cls in enumerate(classes) if not vars(cls).keys().isdisjoint(names)), len(classes))
