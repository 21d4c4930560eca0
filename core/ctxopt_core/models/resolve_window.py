"""The context window of a model: from arguments, the model object, a catalog, or the smallest chat window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Literal, TypeAlias, TypedDict

from ctxopt_core.errors import UnknownModelError
from ctxopt_core.models.catalog import CatalogRow, ModelIndex, builtin_index, builtin_rows, smallest_chat_window
from ctxopt_core.models.model_ids import checked_model_name, encoding_for
from ctxopt_core.models.model_window import ModelWindow, Source, WindowEntry, read_window
from ctxopt_core.runtime.warn_once import warn_once
from ctxopt_core.validation import optional_token_amount

OnUnknownModel: TypeAlias = Literal["fallback", "error"]
"""What to do about a model whose window is not known."""

UserCatalog: TypeAlias = Mapping[str, WindowEntry] | Callable[[str], WindowEntry | None]
"""Model id -> window: a mapping, or a function that returns None for an id that it does not know."""


class WindowOptions(TypedDict, total=False):
    """The arguments of `resolve_window` besides the model."""

    context_window: int | str | None
    max_input_tokens: int | str | None
    max_output_tokens: int | str | None
    live: WindowEntry | None
    catalog: UserCatalog | None
    on_unknown_model: OnUnknownModel


class UnknownModelWarning(UserWarning):
    """The window of a model is not known, and the smallest chat window of the catalog is used for it.

    Example:
        >>> import warnings
        >>> from ctxopt_core import UnknownModelWarning, resolve_window
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", UnknownModelWarning)
        ...     resolve_window("my-own-model")
        Traceback (most recent call last):
            ...
        ctxopt_core.models.resolve_window.UnknownModelWarning: the context window of 'my-own-model' is not known, ...
    """


class WindowSourceWarning(UserWarning):
    """A source of windows could not be used, or only in part, and the next one was used."""


def resolve_window(
    model: str,
    *,
    context_window: int | str | None = None,
    max_input_tokens: int | str | None = None,
    max_output_tokens: int | str | None = None,
    live: WindowEntry | None = None,
    catalog: UserCatalog | None = None,
    on_unknown_model: OnUnknownModel = "fallback",
) -> ModelWindow:
    """Return the window of `model` and the encoding to count with.

    The first of these that has a window or an input limit is used: the arguments, the live value, the user's catalog,
    the built-in catalog, and last the smallest chat window of the built-in catalog, with one warning per model. If it
    has no answer limit or input limit, that is taken from the built-in catalog.

    Args:
        model: A model id in any spelling: with provider, region, version or date.
        context_window: Input and answer together, in tokens.
        max_input_tokens: Input alone, in tokens.
        max_output_tokens: The longest answer, in tokens.
        live: What the framework's model object reports, for example a model profile of LangChain. If it has an input
            limit only, that is taken as the whole window, unless a larger window is known.
        catalog: A custom table of windows. It is read at each call.
        on_unknown_model: `"error"` raises instead of using the smallest chat window.

    Raises:
        ValueError: `model` is no string or blank, an amount is no positive whole number, or `on_unknown_model` is not
            known.
        TypeError: `catalog` is neither a mapping nor callable.
        UnknownModelError: The model is not known and `on_unknown_model` is `"error"`.

    Example:
        >>> from ctxopt_core import resolve_window
        >>> window = resolve_window("openai/gpt-4o-2024-08-06")
        >>> window.context_window, window.max_output_tokens, window.source
        (128000, 16384, 'catalog')
        >>> resolve_window("my-own-model", context_window=8_000).source
        'explicit'
    """
    name = checked_model_name(model)
    if on_unknown_model not in ("fallback", "error"):
        message = f"`on_unknown_model` must be 'fallback' or 'error', got {on_unknown_model!r}"
        raise ValueError(message)
    longest_answer = optional_token_amount("max_output_tokens", max_output_tokens)
    row = builtin_index().find(name)
    given = {"context_window": context_window, "max_input_tokens": max_input_tokens}
    limits = {limit: optional_token_amount(limit, amount) for limit, amount in given.items()}
    window = read_window(name, limits, "explicit") or _read(name, live, "live") or _user_window(name, catalog)
    if window is not None:
        found = _completed(window, row)
    elif row is not None:
        found = _from_row(name, row)
    else:
        found = _smallest_known(name, on_unknown_model)
    return found if longest_answer is None else replace(found, max_output_tokens=longest_answer)


def _completed(window: ModelWindow, row: CatalogRow | None) -> ModelWindow:
    """Return the window with the limits that it leaves open, from the row of the model."""
    total, limit = window.context_window, window.max_input_tokens
    if total is None and limit is not None:
        if row is not None and row.context_window > limit:
            total = row.context_window
        elif window.source != "explicit":
            # Providers' tables call the whole window an input limit if the two are the same.
            total, limit = limit, None
    if limit is None and row is not None and row.context_window == total:
        limit = row.max_input_tokens
    longest_answer = window.max_output_tokens or (row.max_output_tokens if row else None)
    return replace(window, context_window=total, max_input_tokens=limit, max_output_tokens=longest_answer)


def _from_row(name: str, row: CatalogRow) -> ModelWindow:
    return ModelWindow(
        model=name,
        context_window=row.context_window,
        max_input_tokens=row.max_input_tokens,
        max_output_tokens=row.max_output_tokens,
        source="catalog",
        checked=row.checked,
        **asdict(encoding_for(name)),
    )


def _smallest_known(name: str, on_unknown_model: OnUnknownModel) -> ModelWindow:
    remedy = "pass `context_window`, or a `catalog` that knows the model"
    if on_unknown_model == "error":
        message = f"the context window of {name!r} is not known; {remedy}"
        raise UnknownModelError(message)
    smallest = smallest_chat_window(builtin_rows())
    message = (
        f"the context window of {name!r} is not known, so the smallest chat window known is used: "
        f"{smallest} tokens; {remedy}, or use `on_unknown_model='error'`"
    )
    warn_once(message, UnknownModelWarning, stacklevel=3)
    return ModelWindow(model=name, context_window=smallest, source="fallback", **asdict(encoding_for(name)))


def _user_window(model: str, catalog: UserCatalog | None) -> ModelWindow | None:
    """Return the window of `model` in the user's catalog, or None.

    A mapping is searched like the built-in catalog, in any spelling of the id.

    Raises:
        TypeError: `catalog` is neither a mapping nor callable.
    """
    if catalog is None:
        return None
    if not isinstance(catalog, Mapping) and not callable(catalog):
        message = f"`catalog` must be a mapping or a function from model id to window, got {type(catalog).__name__}"
        raise TypeError(message)
    read = ((listed, _read(listed, entry, "user catalog")) for listed, entry in _entries(catalog, model))
    found = ModelIndex((listed, window) for listed, window in read if window is not None).find(model)
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
    warn_once(message, WindowSourceWarning, stacklevel=3)
    return None
