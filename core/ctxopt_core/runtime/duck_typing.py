"""Which methods of a caller's object are used: what it can do, and whether its coroutines are its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def method_of(model: Any, name: str) -> Callable[..., Any] | None:
    """Return a method of an object, or None if it has none of that name."""
    found = getattr(model, name, None)
    return found if callable(found) else None


def has_own_coroutines(model: Any, coroutines: tuple[str, ...], plain: tuple[str, ...]) -> bool:
    """Tell whether an object has coroutines of its own.

    What it inherits from a class that does not know its plain functions can only call them: in a thread of the pool
    that everybody shares (LangChain), or on the event loop, which stands still meanwhile (LlamaIndex).

    Args:
        model: The object.
        coroutines: The method that is awaited, then those by which subclasses change what it does.
        plain: The method that is called, then those by which subclasses change what it does.
    """
    return _nearest(model, coroutines) <= _nearest(model, plain)


def _nearest(model: Any, names: tuple[str, ...]) -> int:
    """Return how far up its classes the first stands that defines one of these."""
    classes = type(model).__mro__
    return next((place for place, cls in enumerate(classes) if not vars(cls).keys().isdisjoint(names)), len(classes))
