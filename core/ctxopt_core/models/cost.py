"""The cost of the input of a request, and how much of it was saved by fitting."""

from __future__ import annotations

from dataclasses import dataclass

from ctxopt_core.models.prices import InputPrice, Prices, custom_price


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


def cost_of(model: str | None, *, before: int, after: int, repeated: int | None, prices: Prices) -> RequestCost | None:
    """Return the cost of a request, or None if the price of the model is not known.

    Args:
        model: The model's id.
        before: Tokens of the request as it was given.
        after: Tokens of the request as it is sent.
        repeated: Tokens of the sent request that repeat the start of the previous one, or None if not known.
        prices: Custom prices by model id. They are used before those of the table, for their models alone.
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
    from ctxopt_core.models.genai_prices import table_price

    return custom_price(model, prices) or table_price(model)
