"""What the input of one model costs, as a user gives it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, TypeAlias

from ctxopt_core.models.model_ids import id_spellings

_MILLION = 1_000_000
_FIELDS = frozenset({"input", "cached"})


class InputPrice(Protocol):
    """What the input of one model costs.

    1. `source` names where the figures come from.
    2. `usd(tokens, cached=n)` is the price in USD of an input of `tokens` tokens, `n` of which are read from the
       provider's prompt cache. It may follow tiers, so that it need not be proportional.
    3. It is pure and asks no network.
    """

    @property
    def source(self) -> str:
        """Where the figures come from."""

    def usd(self, tokens: int, *, cached: int = 0) -> float:
        """Return the price of an input in USD."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """A flat price of one's own.

    Args:
        input: USD for a million input tokens.
        cached: USD for a million input tokens that are read from the provider's cache; None for no discount.

    Raises:
        ValueError: A price is no number, or is negative.
    """

    input: float
    cached: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "input", _dollars("input", self.input))
        if self.cached is not None:
            object.__setattr__(self, "cached", _dollars("cached", self.cached))

    @property
    def source(self) -> str:
        """The caller."""
        return "user"

    def usd(self, tokens: int, *, cached: int = 0) -> float:
        """Return the price of an input in USD."""
        cheaper = self.input if self.cached is None else self.cached
        return ((tokens - cached) * self.input + cached * cheaper) / _MILLION


PriceEntry: TypeAlias = float | Decimal | Mapping[str, object] | ModelPrice
"""One price: USD for a million input tokens, a mapping of `input` and `cached`, or a `ModelPrice`."""

Prices: TypeAlias = Mapping[str, PriceEntry]
"""Prices of one's own, by model id."""


def read_prices(prices: object) -> dict[str, ModelPrice]:
    """Return prices by model id, each checked.

    Raises:
        ValueError: It is no mapping of model ids to prices, or one of the prices is none.
    """
    if not isinstance(prices, Mapping) or not all(isinstance(model, str) and model.strip() for model in prices):
        message = f"`prices` must map model ids to prices, like {{'gpt-4o': 2.5}}, got {prices!r}"
        raise ValueError(message)
    return {model.strip(): _read(model, entry) for model, entry in prices.items()}


def own_price(model: str, prices: Prices) -> ModelPrice | None:
    """Return the price that is given for a model, however its id is spelled; None where there is none.

    A price of a bare id holds for that id at every provider; one of an id with a provider's path for that path alone.
    """
    if not prices:
        return None
    by_spelling = {id_spellings(given)[0]: price for given, price in read_prices(prices).items()}
    return next((by_spelling[spelling] for spelling in id_spellings(model) if spelling in by_spelling), None)


def _read(model: str, entry: object) -> ModelPrice:
    if isinstance(entry, ModelPrice):
        return entry
    if not isinstance(entry, Mapping):
        return ModelPrice(input=_dollars(f"prices[{model!r}]", entry))
    if not {"input"} <= entry.keys() <= _FIELDS:
        message = f"`prices[{model!r}]` must have `input` and may have `cached`, got {', '.join(map(repr, entry))}"
        raise ValueError(message)
    return ModelPrice(**entry)


def _dollars(name: str, value: object) -> float:
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
        return float(value)
    message = f"`{name}` must be a price in USD for a million tokens, 0 or more, got {value!r}"
    raise ValueError(message)
