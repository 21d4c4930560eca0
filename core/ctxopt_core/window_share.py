"""The part of a model's window that documents alone may take."""

from __future__ import annotations

from typing import Any

from ctxopt_core.budget import ContextBudget
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.shares import Percent, Shares, exact_percentage

_DOCUMENTS = Shares().documents


def checked_share(share: Any) -> Percent | None:
    """Return a share of the window, a percentage above 0, or None, as it is.

    Raises:
        ValueError: It is something else.
    """
    if share is not None and not exact_percentage("share", share):
        message = f"`share` must be a percentage above 0, for example 50, got {share!r}"
        raise ValueError(message)
    return share  # type: ignore[no-any-return]


def tokens_of_share(share: Percent | None, budget: ContextBudget) -> int:
    """Return the tokens that a share of an input budget is; None is the share that documents have by default.

    Raises:
        ContextBudgetError: It is less than one token.
    """
    available = budget.input_tokens
    if tokens := int(available * exact_percentage("share", _DOCUMENTS if share is None else share) / 100):
        return tokens
    message = f"`share` of {available} input tokens is less than one token, got {share!r}; raise it"
    raise ContextBudgetError(message, needed=1, available=0)
