"""The prices of the package `genai-prices`, if it is installed.

It is imported when a cost is first computed. Only the prices that it has in this process are read: nothing here makes
it update itself over the network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from ctxopt_core.models.catalog import builtin_aliases
from ctxopt_core.models.model_ids import id_spellings

_BEDROCK = "aws"
# Models whose price a process looks up only once; one looks up few. With more it searches the table again.
_CACHED_MODELS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePrice:
    """The price of one model in the table, with its tiers.

    Args:
        model: The id of the model in the table.
        provider: The provider whose price it is; None for the home provider of the model.
        source: The table and its version.
    """

    model: str
    provider: str | None
    source: str

    def usd(self, tokens: int, *, cached: int = 0) -> float:
        """Return the price of an input in USD."""
        return float(_calculated(self.model, self.provider, tokens, cached).input_price)


@lru_cache(maxsize=_CACHED_MODELS)
def table_price(model: str) -> TablePrice | None:
    """Return the price of a model, or None if the package is not installed or has no price of the model.

    An id that names a provider has the price of that provider, or none.
    """
    if find_spec("genai_prices") is None:
        return None
    for provider, name in _names(model):
        try:
            price = _calculated(name, provider, 1, 0)
        except LookupError:
            continue
        if price.input_price is not None:
            return TablePrice(model=name, provider=provider, source=f"genai-prices {version('genai-prices')}")
    return None


def _calculated(model: str, provider: str | None, tokens: int, cached: int) -> Any:
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=tokens, cache_read_tokens=cached or None)
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
