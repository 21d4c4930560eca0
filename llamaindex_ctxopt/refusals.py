"""What helps where a request cannot be made to fit, in the words of the front that raises the error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from ctxopt_core import ContextBudget, ContextBudgetError

NODES = "nodes"
"""The name of the remedy for the budget of nodes, which each front has under a name of its own."""

OF_ENGINE: Mapping[str, str] = MappingProxyType({"fixed": "a shorter system prompt or shorter templates"})
"""Other phrases for what is fixed in the requests of an engine."""


@contextmanager
def in_words_of_front(
    budget: ContextBudget, padding: int = 0, phrases: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """Have errors of the block name what the user can set at this front.

    Args:
        budget: The budget of the request.
        padding: Tokens of its `safety_margin` that LlamaIndex keeps free for itself, and no setting of the user.
        phrases: Further phrases, by the names of `ContextBudgetError.remedies`.
    """
    try:
        yield
    except ContextBudgetError as error:
        raise error.with_remedies({**_limits(budget, padding), **phrases}) from error


def remedies_of(budget: ContextBudget) -> dict[str, str]:
    """Return the settings that make a budget larger, each with a phrase."""
    names = {
        "target_tokens": "a larger `target_tokens`",
        "max_input_tokens": "a larger `max_input_tokens`",
        "context_window": "",
        "output_reserve": "a smaller `output_reserve`",
        "safety_margin": "a smaller `safety_margin`",
    }
    return {name: names[name] or _limits(budget, 0)[name] for name in budget.binding}


def _limits(budget: ContextBudget, padding: int) -> dict[str, str]:
    by_setting = budget.window is None or budget.window.source == "explicit"
    phrases = {"context_window": "a larger `context_window`" if by_setting else "an `llm` with a larger context window"}
    if budget.safety_margin <= padding:
        phrases["safety_margin"] = ""
    return phrases
