"""The windows that the framework's model object and the user's catalog report.

Neither may make a run fail: an entry that cannot be used is skipped with one warning, and the next source is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from ctxopt_core.models.model_lookup import ModelIndex
from ctxopt_core.models.model_window import ModelWindow, Source, WindowEntry, read_window
from ctxopt_core.runtime.warn_once import warn_once

UserCatalog: TypeAlias = Mapping[str, WindowEntry] | Callable[[str], WindowEntry | None]
"""Model id -> window: a mapping, or a function that returns None for an id that it does not know."""


class WindowSourceWarning(UserWarning):
    """A source of windows could not be used, or only in part, and the next one was used."""


def live_window(model: str, live: WindowEntry | None) -> ModelWindow | None:
    """Return the window that the framework's model object reports, or None."""
    return None if live is None else _read(model, live, "live")


def user_window(model: str, catalog: UserCatalog | None) -> ModelWindow | None:
    """Return the window of `model` in the user's catalog, or None.

    A mapping is searched like the built-in catalog, in any spelling of the id.

    Raises:
        TypeError: `catalog` is neither a mapping nor callable.
    """
    if catalog is None:
        return None
    if not isinstance(catalog, Mapping) and not callable(catalog):
        kind = type(catalog).__name__
        message = f"`catalog` must be a mapping or a function from model id to window, got {kind}"
        raise TypeError(message)
    rows = ((listed, _read(listed, entry, "user catalog")) for listed, entry in _entries(catalog, model))
    index = ModelIndex([(listed, window) for listed, window in rows if window is not None])
    found = index.find(model)
    return None if found is None else replace(found, model=model)


def _entries(catalog: UserCatalog, model: str) -> list[tuple[str, object]]:
    try:
        if not isinstance(catalog, Mapping):
            entry = catalog(model)
            return [] if entry is None else [(model, entry)]
        return [(model, catalog[model])] if model in catalog else list(catalog.items())
    except Exception as error:  # noqa: BLE001 - a custom function may raise anything
        message = f"`catalog` raised {type(error).__name__} when asked for {model!r}; the next source was used"
        warn_once(message, WindowSourceWarning, stacklevel=4)
        return []


def _read(listed: str, entry: object, source: Source) -> ModelWindow | None:
    try:
        window = read_window(listed, entry, source)
    except ValueError as error:
        problem = str(error)
    else:
        if window is not None or source == "live":
            return window
        problem = "it names neither `context_window` nor `max_input_tokens`"
    message = f"the {source} entry of {listed!r} was skipped: {problem}"
    warn_once(message, WindowSourceWarning, stacklevel=4)
    return None
