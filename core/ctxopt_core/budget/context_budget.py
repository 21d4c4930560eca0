"""The input budget of a request: what the context window leaves after the answer and the safety margin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Unpack

from ctxopt_core.budget.shares import Shares
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.models.model_window import ModelWindow
from ctxopt_core.models.prices import Prices, read_prices
from ctxopt_core.models.resolve_window import WindowOptions, resolve_window
from ctxopt_core.providers.rules import read_allowances
from ctxopt_core.validation import exact_number, optional_token_amount, token_amount

_DEFAULT_SHARES = Shares()
_USUAL_RESERVE = 4096  # tokens: the answer limit that most providers and clients set where the user sets none
_RESERVE_DIVISOR = 8  # of the window: in a small one the reserve must leave most of it to the input


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBudget:
    """How many tokens a request may have, and how the components share them.

    Attributes:
        context_window: Input and answer together, in tokens.
        max_input_tokens: Input alone, in tokens, where it is limited below the window.
        output_reserve: Tokens of the window kept free for the answer.
        safety_margin: Further tokens of the window kept free.
        target_tokens: A custom limit, in tokens, below what the model could take.
        shares: The components' guarantees.
        trigger: The part of the input budget from which on requests are cut. At 1 only those above the budget
            are; below 1 those that reach `trigger` times the budget, and they are cut to below it.
        window: Where the figures come from, for the report.
        prices: Custom prices for the cost in the report, by model id: USD for a million input tokens, or a mapping of
            `input` and `cached`. They replace those of the price table for their models alone.
        attachment_tokens: What an attachment of unknown size is charged, by its kind: `image`, `audio`, `video`,
            `file`, `other`. A kind that is missing has the usual allowance.
        input_budget: The input budget: the smallest of `target_tokens`, `max_input_tokens` and what the window
            leaves.
        effective_target: The most tokens that a request may have without being cut, and what a cut one is fitted into:
            the input budget, or with a `trigger` below 1 the largest amount that does not reach it.

    Raises:
        ContextBudgetError: Nothing is left for the input.
        ValueError: No limit is given, an amount is no whole number of tokens, `trigger` is not in (0, 1], or a price
            or an allowance is none.
        TypeError: `shares` or `window` is of another type.

    Example:
        >>> from ctxopt_core import ContextBudget
        >>> ContextBudget(context_window=32_768, output_reserve=4_096, safety_margin=2_048).input_budget
        26624
        >>> ContextBudget.for_model("gpt-4").input_budget
        7168
    """

    context_window: int | None = None
    max_input_tokens: int | None = None
    output_reserve: int = 0
    safety_margin: int = 0
    target_tokens: int | None = None
    shares: Shares = _DEFAULT_SHARES
    trigger: float = 1.0
    window: ModelWindow | None = None
    prices: Prices = field(default_factory=dict, hash=False)
    attachment_tokens: Mapping[str, int] = field(default_factory=dict, hash=False)
    input_budget: int = field(init=False)
    effective_target: int = field(init=False)

    def __post_init__(self) -> None:
        for name in ("context_window", "max_input_tokens", "target_tokens"):
            object.__setattr__(self, name, optional_token_amount(name, getattr(self, name)))
        for name in ("output_reserve", "safety_margin"):
            object.__setattr__(self, name, token_amount(name, getattr(self, name), minimum=0))
        _check_type("shares", self.shares, Shares)
        if self.window is not None:
            _check_type("window", self.window, ModelWindow)
        trigger = _checked_trigger(self.trigger)
        object.__setattr__(self, "prices", read_prices(self.prices))
        object.__setattr__(self, "attachment_tokens", read_allowances(self.attachment_tokens))
        budget = self._input_budget()
        object.__setattr__(self, "input_budget", budget)
        object.__setattr__(
            self, "effective_target", budget if trigger == 1 else max(1, math.ceil(trigger * budget) - 1)
        )

    @classmethod
    def for_model(
        cls,
        model: str | ModelWindow,
        *,
        output_reserve: int | None = None,
        safety_margin: int = 0,
        target_tokens: int | None = None,
        shares: Shares = _DEFAULT_SHARES,
        trigger: float = 1.0,
        prices: Prices | None = None,
        attachment_tokens: Mapping[str, int] | None = None,
        **window_options: Unpack[WindowOptions],
    ) -> ContextBudget:
        """Return the budget for the window of a model.

        Args:
            model: A model id, or a window that `resolve_window` returned.
            output_reserve: Tokens kept free for the answer. None keeps 4,096, but at most an eighth of the
                window and at most the model's longest answer, so that the input always has most of the
                window.
            safety_margin: Further tokens kept free.
            target_tokens: A custom limit, in tokens.
            shares: The components' guarantees.
            trigger: The part of the input budget from which on requests are cut.
            prices: Custom prices, by model id.
            attachment_tokens: What an attachment of unknown size is charged, by its kind.
            window_options: Further arguments for `resolve_window`, such as `live` or `catalog`.

        Raises:
            ContextBudgetError: Nothing is left for the input.
            UnknownModelError: No window is known and `on_unknown_model` is `"error"`.
            ValueError: An argument is out of its range.
            TypeError: An argument is of another type, or a window is given and `window_options` too.
        """
        if isinstance(model, ModelWindow):
            if window_options:
                named = ", ".join(window_options)
                message = f"`model` is a window already, so {named} must go to `resolve_window`"
                raise TypeError(message)
            window = model
        else:
            window = resolve_window(model, **window_options)
        return cls(
            context_window=window.context_window,
            max_input_tokens=window.max_input_tokens,
            output_reserve=default_output_reserve(window) if output_reserve is None else output_reserve,
            safety_margin=safety_margin,
            target_tokens=target_tokens,
            shares=shares,
            trigger=trigger,
            window=window,
            prices=prices or {},
            attachment_tokens=attachment_tokens or {},
        )

    @classmethod
    def from_mapping(cls, settings: Mapping[str, object]) -> ContextBudget:
        """Return the budget that the settings describe; see `ctxopt_core.budget.config_sources`."""
        from ctxopt_core.budget.config_sources import budget_from_mapping

        return budget_from_mapping(settings)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> ContextBudget:
        """Return the budget in the environment; see `ctxopt_core.budget.config_sources`."""
        from ctxopt_core.budget.config_sources import budget_from_environment

        return budget_from_environment(environ)

    @property
    def binding(self) -> tuple[str, ...]:
        """The settings that the input budget follows from: raising the first, or lowering the others, enlarges it.

        A limit that the model's window has, and not a setting, is `context_window`.
        """
        if self.input_budget == self.target_tokens:
            return ("target_tokens",)
        if self.input_budget == self.max_input_tokens:
            of_model = self.window is not None and self.window.max_input_tokens == self.max_input_tokens
            return ("context_window" if of_model else "max_input_tokens",)
        return ("context_window", *(name for name in ("output_reserve", "safety_margin") if getattr(self, name)))

    def should_act(self, count: int) -> bool:
        """Return whether a request of `count` tokens reaches `trigger` times the input budget, so that it is fitted.

        One that exactly fills the input budget is fitted, too, and loses nothing.
        """
        return count > self.effective_target or count >= self.input_budget

    def _input_budget(self) -> int:
        limits = [limit for limit in (self.target_tokens, self.max_input_tokens) if limit is not None]
        if self.context_window is not None:
            limits.append(self.context_window - self.output_reserve - self.safety_margin)
        if not limits:
            message = "one of `context_window`, `max_input_tokens` and `target_tokens` must be given"
            raise ValueError(message)
        budget = min(limits)
        if budget <= 0:
            message = (
                f"nothing is left for the input: a window of {self.context_window} tokens less "
                f"`output_reserve` {self.output_reserve} and `safety_margin` {self.safety_margin} leaves "
                f"{budget}; lower these two, or use a model with a larger window"
            )
            needed = self.output_reserve + self.safety_margin
            raise ContextBudgetError(message, needed=needed, available=self.context_window)
        return budget


def usual_output_reserve(context_window: int | None) -> int:
    """Return 4,096 tokens, but at most an eighth of the window; 0 where only an input limit is known."""
    return 0 if context_window is None else min(_USUAL_RESERVE, context_window // _RESERVE_DIVISOR)


def default_output_reserve(window: ModelWindow) -> int:
    """Return the tokens that are kept free for the answer where the caller does not say how many.

    `usual_output_reserve`, and at most the model's longest answer.
    """
    usual = usual_output_reserve(window.context_window)
    return usual if window.max_output_tokens is None else min(usual, window.max_output_tokens)


def _checked_trigger(trigger: object) -> Fraction:
    share = exact_number(trigger)
    if share is None or not 0 < share <= 1:
        message = f"`trigger` must be above 0 and at most 1, for example 0.8, got {trigger!r}"
        raise ValueError(message)
    return share


def _check_type(name: str, value: object, expected: type) -> None:
    if not isinstance(value, expected):
        message = f"`{name}` must be {expected.__name__}, got {type(value).__name__}"
        raise TypeError(message)
