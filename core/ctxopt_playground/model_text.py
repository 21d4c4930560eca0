"""The window of a model that the user names, in words."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from ctxopt_core.budget.shares import BudgetWarning
from ctxopt_core.models.catalog import builtin_rows
from ctxopt_core.models.model_window import ModelWindow
from ctxopt_core.models.resolve_window import UnknownModelWarning, resolve_window


@cache
def model_ids() -> tuple[str, ...]:
    """Return the ids of chat models that the box offers: those without a host's path or a version."""
    ids = (identity for row in builtin_rows() if row.kind == "chat" for identity in row.ids)
    return tuple(dict.fromkeys(identity for identity in ids if not {"/", ":", "@"} & set(identity)))


@contextmanager
def without_model_warnings() -> Iterator[None]:
    """Silence the warnings that the playground shows as status lines."""
    with warnings.catch_warnings():
        for category in (UnknownModelWarning, BudgetWarning):
            warnings.simplefilter("ignore", category)
        yield


def window_of(model: str) -> ModelWindow:
    """Return the window of a model; for an unknown one the smallest chat window known."""
    with without_model_warnings():
        return resolve_window(model)


def described(window: ModelWindow) -> str:
    """Return a window in words."""
    limits = [f"{window.context_window:,} tokens"] if window.context_window else []
    limits += [f"at most {window.max_input_tokens:,} of input"] if window.max_input_tokens else []
    counted = f"counted with {window.encoding}"
    if not window.exact:
        counted = f"estimated with {window.encoding}"
        counted += f" times {window.safety_factor:g}" if window.safety_factor > 1 else ""
    if window.source == "fallback":
        return f"Not in the catalog, so the smallest chat window known is assumed: {limits[0]}, {counted}."
    return f"{', '.join(limits).capitalize()}; {counted}."
