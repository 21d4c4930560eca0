"""The context window of one model, and how it is read from the entries of a catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any, Literal, TypeAlias

from ctxopt_core.models.model_ids import EncodingChoice, checked_model_name, encoding_for
from ctxopt_core.validation import optional_token_amount

Source: TypeAlias = Literal["explicit", "live", "user catalog", "catalog", "fallback"]
"""Where a window comes from: the arguments, the model object, a catalog, or the smallest chat window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWindow:
    """The context window of one model, in tokens, and how its tokens are counted.

    Attributes:
        model: The id as it was given.
        context_window: Input and answer together, in tokens. None if only an input limit is known.
        max_input_tokens: Input alone, in tokens, if it is limited below the window.
        max_output_tokens: The longest answer, in tokens, or None if unknown.
        encoding: The tiktoken encoding to count with.
        exact: Whether that is the model's own encoding; if not, every count is an estimate.
        safety_factor: By what an estimated count must be multiplied, as `counter_for(model)` does.
        source: Where the window comes from.
        checked: When the limits of a catalog were looked up.

    Raises:
        ValueError: A limit is no positive whole number, or neither a window nor an input limit is given.

    Example:
        >>> from ctxopt_core import ModelWindow
        >>> window = ModelWindow(
        ...     model="mine", context_window=8_000, max_input_tokens=6_000, encoding="o200k_base", exact=False
        ... )
        >>> window.input_limit
        6000
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
        for name in _LIMITS:
            object.__setattr__(self, name, optional_token_amount(name, getattr(self, name)))
        if self.context_window is None and self.max_input_tokens is None:
            message = f"`context_window` or `max_input_tokens` must be given for {self.model!r}"
            raise ValueError(message)
        if not self.safety_factor >= 1:
            message = f"`safety_factor` must be at least 1, got {self.safety_factor!r}"
            raise ValueError(message)

    @property
    def input_limit(self) -> int:
        """The most tokens that the input may have if no answer is reserved."""
        return min(limit for limit in (self.context_window, self.max_input_tokens) if limit is not None)


_LIMITS = ("context_window", "max_input_tokens", "max_output_tokens")

WindowEntry: TypeAlias = int | str | Mapping[str, object] | ModelWindow
"""One entry of a catalog: the window alone, a mapping with some of `context_window`, `max_input_tokens`,
`max_output_tokens` and `encoding`, or a ModelWindow. Other keys of a mapping are ignored."""


def read_window(model: str, entry: object, source: Source) -> ModelWindow | None:
    """Return the window that `entry` describes, or None if it has no limit of the input.

    Zero means "not known", as it does in the profiles of LangChain.

    Raises:
        ValueError: `entry` is no `WindowEntry`, or one of its limits is no amount of tokens.
    """
    if isinstance(entry, ModelWindow):
        return replace(entry, model=model, source=source)
    named: Mapping[str, object] = entry if isinstance(entry, Mapping) else {"context_window": entry}
    limits: dict[str, Any] = {name: optional_token_amount(name, named.get(name), minimum=0) or None for name in _LIMITS}
    if limits["context_window"] is None and limits["max_input_tokens"] is None:
        return None
    return ModelWindow(model=model, source=source, **limits, **asdict(_encoding(model, named.get("encoding"))))


def _encoding(model: str, named: object) -> EncodingChoice:
    if named is None:
        return encoding_for(model)
    if isinstance(named, str) and named.strip():
        return EncodingChoice(encoding=named.strip(), exact=True, safety_factor=1.0)
    message = f"`encoding` must be the name of an encoding, for example 'o200k_base', got {named!r}"
    raise ValueError(message)
