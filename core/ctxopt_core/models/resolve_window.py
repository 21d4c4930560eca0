"""The context window of a model: given, asked of the framework, looked up, or the smallest one known."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias, TypedDict

from ctxopt_core.errors import UnknownModelError
from ctxopt_core.models.catalog import CatalogRow, builtin_index, builtin_rows, smallest_chat_window
from ctxopt_core.models.model_ids import checked_model_name, encoding_for, encoding_of_tokenizer
from ctxopt_core.models.model_window import ModelWindow, Source, WindowEntry, read_window
from ctxopt_core.models.window_sources import UserCatalog, WindowSourceWarning, live_window, user_window
from ctxopt_core.runtime.warn_once import warn_once
from ctxopt_core.validation import optional_token_amount

__all__ = [
    "ModelWindow",
    "OnUnknownModel",
    "Source",
    "UnknownModelWarning",
    "UserCatalog",
    "WindowEntry",
    "WindowOptions",
    "WindowSourceWarning",
    "resolve_window",
]

OnUnknownModel: TypeAlias = Literal["fallback", "error"]
"""What to do about a model whose window nobody knows."""


class WindowOptions(TypedDict, total=False):
    """The arguments of `resolve_window` besides the model."""

    context_window: int | str | None
    max_input_tokens: int | str | None
    max_output_tokens: int | str | None
    live: WindowEntry | None
    catalog: UserCatalog | None
    on_unknown_model: OnUnknownModel


class UnknownModelWarning(UserWarning):
    """The window of a model is not known, and the smallest chat window known stands in for it."""


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

    The first of these that knows a window or an input limit decides: the arguments given here, the live
    value, the user's catalog, the built-in catalog, and at last the smallest chat window of the built-in
    catalog, with one warning per model. An answer limit or an input limit that it leaves open is taken from
    the built-in catalog.

    Args:
        model: A model id in any spelling: with provider, region, version or date.
        context_window: Input and answer together, in tokens.
        max_input_tokens: Input alone, in tokens.
        max_output_tokens: The longest answer, in tokens.
        live: What the framework's model object reports, for example a model profile of LangChain. A live
            value that has an input limit only is taken for the whole window, unless a larger window is known.
        catalog: The user's own table of windows. It is read again at each call.
        on_unknown_model: `"error"` raises instead of falling back.

    Raises:
        ValueError: `model` is no text or blank, an amount is no positive whole number, or `on_unknown_model` is not
            known.
        TypeError: `catalog` is neither a mapping nor callable.
        UnknownModelError: Nothing is known about the model and `on_unknown_model` is `"error"`.
    """
    name = checked_model_name(model)
    if on_unknown_model not in ("fallback", "error"):
        message = f"`on_unknown_model` must be 'fallback' or 'error', got {on_unknown_model!r}"
        raise ValueError(message)
    longest_answer = optional_token_amount("max_output_tokens", max_output_tokens)
    row = builtin_index().find(name)
    window = (
        _explicit_window(name, context_window, max_input_tokens)
        or live_window(name, live)
        or user_window(name, catalog)
    )
    found = _from_catalog(name, row, on_unknown_model) if window is None else _completed(window, row)
    return found if longest_answer is None else replace(found, max_output_tokens=longest_answer)


def _explicit_window(
    name: str, context_window: int | str | None, max_input_tokens: int | str | None
) -> ModelWindow | None:
    given = {
        "context_window": optional_token_amount("context_window", context_window),
        "max_input_tokens": optional_token_amount("max_input_tokens", max_input_tokens),
    }
    return read_window(name, given, "explicit")


def _completed(window: ModelWindow, row: CatalogRow | None) -> ModelWindow:
    total, limit = _limits(window, row)
    longest_answer = window.max_output_tokens or (row.max_output_tokens if row else None)
    return replace(window, context_window=total, max_input_tokens=limit, max_output_tokens=longest_answer)


def _limits(window: ModelWindow, row: CatalogRow | None) -> tuple[int | None, int | None]:
    total, limit = window.context_window, window.max_input_tokens
    if total is None and limit is not None:
        if row is not None and row.context_window > limit:
            total = row.context_window
        elif window.source != "explicit":
            # Providers' tables call the whole window an input limit where the two do not differ.
            total, limit = limit, None
    if limit is None and row is not None and row.context_window == total:
        limit = row.max_input_tokens
    return total, limit


def _from_catalog(name: str, row: CatalogRow | None, on_unknown_model: OnUnknownModel) -> ModelWindow:
    if row is None:
        return _smallest_known(name, on_unknown_model)
    choice = encoding_of_tokenizer(row.tokenizer)
    return ModelWindow(
        model=name,
        context_window=row.context_window,
        max_input_tokens=row.max_input_tokens,
        max_output_tokens=row.max_output_tokens,
        encoding=choice.name,
        exact=choice.exact,
        safety_factor=choice.safety_factor,
        source="catalog",
        checked=row.checked,
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
    warn_once(message, UnknownModelWarning, stacklevel=4)
    choice = encoding_for(name)
    return ModelWindow(
        model=name,
        context_window=smallest,
        encoding=choice.name,
        exact=choice.exact,
        safety_factor=choice.safety_factor,
        source="fallback",
    )
