"""What is known about the window of one model, and how to read it from the shapes in which people keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal, TypeAlias

from ctxopt_core.models.model_ids import EncodingChoice, checked_model_name, encoding_for
from ctxopt_core.validation import optional_token_amount

Source: TypeAlias = Literal["explicit", "live", "user catalog", "catalog", "fallback"]
"""Where a window comes from: the caller, the model object, a catalog, or the smallest window known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWindow:
    """The context window of one model, in tokens, and how to count for it.

    Attributes:
        model: The id as it was asked for.
        context_window: Input and answer together. None if only an input limit is known.
        max_input_tokens: Input alone, where it is limited below the window.
        max_output_tokens: The longest answer, or None if unknown.
        encoding: The tiktoken encoding to count with.
        exact: Whether that is the model's own encoding; False marks every count as an estimate.
        safety_factor: What an estimated count must be multiplied with; `counter_for(model)` does so.
        source: Where the window comes from.
        checked: When a catalog's figures were looked up.

    Raises:
        ValueError: A figure is no positive whole number, or neither a window nor an input limit is given.
    """

    model: str
    context_window: int | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    encoding: str
    exact: bool
    safety_factor: float = 1.0
    source: Source = "explicit"
    checked: date | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", checked_model_name(self.model))
        for name in _FIGURES:
            object.__setattr__(self, name, optional_token_amount(name, getattr(self, name)))
        if self.context_window is None and self.max_input_tokens is None:
            message = f"`context_window` or `max_input_tokens` must be given for {self.model!r}"
            raise ValueError(message)
        if not self.safety_factor >= 1:
            message = f"`safety_factor` must be at least 1, got {self.safety_factor!r}"
            raise ValueError(message)

    @property
    def input_limit(self) -> int:
        """The most that input could count if no answer were wanted, in tokens."""
        return min(limit for limit in (self.context_window, self.max_input_tokens) if limit is not None)


_FIGURES = ("context_window", "max_input_tokens", "max_output_tokens")

WindowEntry: TypeAlias = int | str | Mapping[str, object] | ModelWindow
"""One entry of a catalog: the window alone, a mapping with some of `context_window`, `max_input_tokens`,
`max_output_tokens` and `encoding`, or a ModelWindow. Other keys of a mapping do not matter."""


def read_window(model: str, entry: object, source: Source) -> ModelWindow | None:
    """Return the window that `entry` describes, or None if it names no figure for the input.

    Zero stands for "not known", as it does in the profiles of LangChain.

    Raises:
        ValueError: `entry` is no `WindowEntry`, or one of its figures is no amount of tokens.
    """
    if isinstance(entry, ModelWindow):
        return replace(entry, model=model, source=source)
    if isinstance(entry, Mapping):
        return _from_mapping(model, entry, source)
    return _from_mapping(model, {"context_window": entry}, source)


def _from_mapping(model: str, entry: Mapping[str, object], source: Source) -> ModelWindow | None:
    figures = {name: optional_token_amount(name, entry.get(name), minimum=0) or None for name in _FIGURES}
    if figures["context_window"] is None and figures["max_input_tokens"] is None:
        return None
    choice = _encoding(model, entry.get("encoding"))
    return ModelWindow(
        model=model,
        context_window=figures["context_window"],
        max_input_tokens=figures["max_input_tokens"],
        max_output_tokens=figures["max_output_tokens"],
        encoding=choice.name,
        exact=choice.exact,
        safety_factor=choice.safety_factor,
        source=source,
    )


def _encoding(model: str, named: object) -> EncodingChoice:
    if named is None:
        return encoding_for(model)
    if isinstance(named, str) and named.strip():
        return EncodingChoice(name=named.strip(), exact=True, safety_factor=1.0)
    message = f"`encoding` must be the name of an encoding, for example 'o200k_base', got {named!r}"
    raise ValueError(message)
