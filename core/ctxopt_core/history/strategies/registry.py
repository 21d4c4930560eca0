"""The strategies by their names, which are those of `HistoryPolicy.strategy`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ctxopt_core.history.strategies.custom import CustomStrategy
from ctxopt_core.history.strategies.recent_turns import NewestTurns, SlidingWindow
from ctxopt_core.history.strategies.relevant_turns import Auto, Hybrid, RelevantTurns
from ctxopt_core.history.strategies.stable_prefix import StablePrefix, Summarize
from ctxopt_core.history.strategies.strategy import Strategy

STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "auto": Auto(),
        "turns": NewestTurns(),
        "sliding_window": SlidingWindow(),
        "relevance": RelevantTurns(),
        "summarize": Summarize(NewestTurns()),
        "hybrid": Hybrid(),
    }
)


def strategy_of(strategy: str | Callable[..., Any], *, stable_prefix: bool = False) -> Strategy:
    """Return the object of a strategy's name or of a user's function.

    Args:
        strategy: The name, or the function.
        stable_prefix: Whether it has to move in steps, so that requests begin with the one before them.
    """
    if not isinstance(strategy, str):
        return CustomStrategy(strategy)
    found = STRATEGIES[strategy]
    return StablePrefix(found) if stable_prefix and not found.moves_in_steps else found
