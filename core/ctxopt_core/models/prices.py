"""Prices of the input of a model, custom ones or those of the package `genai-prices`, and the cost of a request.

`genai-prices` is imported when a cost is first computed. Only the prices that it has in this process are read: nothing
here makes it update itself over the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, TypeAlias

from ctxopt_core.models.catalog import builtin_aliases
from ctxopt_core.models.model_ids import id_spellings
from ctxopt_core.validation import exact_number

_MILLION = 1_000_000  # tokens: the unit of all published prices
_BEDROCK = "aws"
# Models whose price a process looks up only once; one looks up few. With more it searches the table again.
_CACHED_MODELS = 256
_FIELDS = frozenset({"input", "cached", "written"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """A custom price without tiers.

    Args:
        input: USD for a million input tokens.
        cached: USD for a million input tokens that are read from the provider's prompt cache; None for no discount.
        written: USD for a million input tokens that are written into a cache that charges for it; None for no premium.

    Raises:
        ValueError: A price is no number, or is negative.
    """

    input: float
    cached: float | None = None
    written: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "input", _dollars("input", self.input))
        for name in ("cached", "written"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _dollars(name, getattr(self, name)))

    @property
    def source(self) -> str:
        """Where the price comes from: the caller."""
        return "user"

    def usd(self, tokens: int, *, cached: int = 0, written: int = 0) -> float:
        """Return the price in USD of an input, of which tokens are read from the prompt cache and written into it."""
        cheaper = self.input if self.cached is None else self.cached
        dearer = self.input if self.written is None else self.written
        return ((tokens - cached - written) * self.input + cached * cheaper + written * dearer) / _MILLION


PriceEntry: TypeAlias = float | Decimal | Mapping[str, object] | ModelPrice
"""One price: USD for a million input tokens, a mapping with `input`, `cached` and `written`, or a `ModelPrice`."""

Prices: TypeAlias = Mapping[str, PriceEntry]
"""Custom prices by model id."""


def read_prices(prices: object) -> dict[str, ModelPrice]:
    """Return prices by model id, each checked.

    Raises:
        ValueError: It is no mapping of model ids to prices, or a price is invalid.
    """
    if not isinstance(prices, Mapping) or not all(isinstance(model, str) and model.strip() for model in prices):
        message = f"`prices` must map model ids to prices, like {{'gpt-4o': 2.5}}, got {prices!r}"
        raise ValueError(message)
    return {model.strip(): _read(model, entry) for model, entry in prices.items()}


def custom_price(model: str, prices: Prices) -> ModelPrice | None:
    """Return the custom price of a model in any spelling, or None.

    The price of a bare id is valid at every provider; that of an id with a path at that provider alone.
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
        given = ", ".join(map(repr, entry))
        message = f"`prices[{model!r}]` must have `input` and may have `cached` and `written`, got {given}"
        raise ValueError(message)
    return ModelPrice(**entry)


def _dollars(name: str, value: object) -> float:
    price = exact_number(value)
    if price is not None and price >= 0:
        return float(price)
    message = f"`{name}` must be a price in USD for a million tokens, 0 or more, got {value!r}"
    raise ValueError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePrice:
    """The price of one model in the table, with its tiers, so that it need not be proportional."""

    model: str
    provider: str | None  # None is the home provider of the model
    source: str  # the table and its version

    def usd(self, tokens: int, *, cached: int = 0, written: int = 0) -> float:
        """Return the price in USD of an input, of which tokens are read from the prompt cache and written into it."""
        return float(_calculated(self.model, self.provider, tokens, cached, written).input_price)


@lru_cache(maxsize=_CACHED_MODELS)
def table_price(model: str) -> TablePrice | None:
    """Return the price of a model, or None if the package is not installed or has no price of the model.

    An id that names a provider has the price of that provider, or none.
    """
    if find_spec("genai_prices") is None:
        return None
    from importlib.metadata import version

    for provider, name in _names(model):
        try:
            price = _calculated(name, provider, 1)
        except LookupError:
            continue
        if price.input_price is not None:
            return TablePrice(model=name, provider=provider, source=f"genai-prices {version('genai-prices')}")
    return None


def _calculated(model: str, provider: str | None, tokens: int, cached: int = 0, written: int = 0) -> Any:
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=tokens, cache_read_tokens=cached or None, cache_write_tokens=written or None)
    return calc_price(usage, model, provider_id=provider)


def _names(model: str) -> Iterator[tuple[str | None, str]]:
    """Yield the (provider, name) pairs under which the table may have a model, the most specific first."""
    name = model.strip().lower()
    scope, rest = _scope(name)
    *paths, bare = id_spellings(name)
    if bare in builtin_aliases():
        # In the table, the name may belong to an older model than the newest, which it means here.
        rest = bare = builtin_aliases()[bare]
    if scope is not None and _is_provider(scope):
        yield from ((scope, rest), (scope, bare))
    elif scope is None and paths:
        yield _BEDROCK, name
    elif paths:
        host = paths[0].partition("/")[0]
        if _is_provider(host):
            yield from ((host, rest), (host, bare))
    elif ":" in name:
        # The part after the colon says which tune or size is meant, as in `ft:...` or `llama3:8b`.
        yield None, name
    else:
        yield from ((None, rest), (None, bare))


def _scope(name: str) -> tuple[str | None, str]:
    """Return the provider in an id, as in `openrouter/...` or `openai:...`, or None, and the rest."""
    for mark in ("/", ":"):
        scope, found, rest = name.partition(mark)
        if found and scope and rest and "." not in scope:
            return scope, rest
    return None, name


@cache
def _is_provider(scope: str) -> bool:
    from genai_prices.data_snapshot import find_provider_by_id, get_snapshot

    return find_provider_by_id(get_snapshot().providers, scope) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCost:
    """The cost of the input of one request, in USD, without the answer, whose length is not known.

    Args:
        input: The cost of the fitted request if none of it is read from the prompt cache.
        saved: How much more the request as it was given would have cost, with tiers; never negative.
        cached: The cost if all that repeats the previous request is read from the provider's prompt cache, without what
            a provider charges for writing into it. None if it is not known how much repeats.
        source: Where the price comes from.
    """

    input: float
    saved: float
    cached: float | None
    source: str


def price_of(model: str | None, prices: Prices) -> ModelPrice | TablePrice | None:
    """Return the price of a model, custom or in the table, or None if it is not known.

    Args:
        model: The model's id.
        prices: Custom prices by model id. They are used before those of the table, for their models alone.
    """
    return None if model is None else custom_price(model, prices) or table_price(model)


def cost_of(model: str | None, *, before: int, after: int, repeated: int | None, prices: Prices) -> RequestCost | None:
    """Return the cost of a request, or None if the price of the model is not known.

    Args:
        model: The model's id.
        before: Tokens of the request as it was given.
        after: Tokens of the request as it is sent.
        repeated: Tokens of the sent request that repeat the start of the previous one, or None if not known.
        prices: Custom prices by model id. They are used before those of the table, for their models alone.
    """
    price = price_of(model, prices)
    if price is None:
        return None
    cost = price.usd(after)
    return RequestCost(
        input=cost,
        saved=max(0.0, price.usd(before) - cost),
        cached=None if repeated is None else price.usd(after, cached=min(repeated, after)),
        source=price.source,
    )
