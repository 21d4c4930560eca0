"""What a request costs as input, and what was saved by fitting it."""

from __future__ import annotations

from dataclasses import dataclass

from ctxopt_core.models.prices import InputPrice, Prices, own_price


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCost:
    """The cost of the input of one request, in USD. The answer is not in it, since its length is not known.

    Args:
        input: What the fitted request costs when nothing of it is read from a cache.
        saved: What the request as it was given would have cost more; tiers included, never negative.
        cached: What it costs when all that repeats the request before is read from the provider's cache; what a
            provider charges for writing into the cache is not in it. None where it is not known how much repeats.
        source: Where the price comes from.
    """

    input: float
    saved: float
    cached: float | None
    source: str


def cost_of(model: str | None, *, before: int, after: int, repeated: int | None, prices: Prices) -> RequestCost | None:
    """Return the cost of a request; None where the price of the model is not known.

    Args:
        model: The model's id.
        before: Tokens of the request as it was given.
        after: Tokens of the request as it is sent.
        repeated: Tokens of it that repeat the start of the request before, where that is known.
        prices: The user's own prices by model id. They go before those of the table, for their models alone.
    """
    price = None if model is None else _price_of(model, prices)
    if price is None:
        return None
    cost = price.usd(after)
    return RequestCost(
        input=cost,
        saved=max(0.0, price.usd(before) - cost),
        cached=None if repeated is None else price.usd(after, cached=min(repeated, after)),
        source=price.source,
    )


def _price_of(model: str, prices: Prices) -> InputPrice | None:
    own = own_price(model, prices)
    if own is not None:
        return own
    from ctxopt_core.models.genai_prices import table_price

    return table_price(model)
