"""Pickling of values with read-only views of mappings, which pickle refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any


def reduced(value: Any) -> tuple[object, ...]:
    """Return the `__reduce__` of a dataclass with slots: its fields, with mappings as plain dicts."""
    fields = {name: getattr(value, name) for name in type(value).__slots__}
    plain = {name: dict(field) if isinstance(field, Mapping) else field for name, field in fields.items()}
    kind: Callable[..., object] = type(value)
    return partial(kind, **plain), ()
