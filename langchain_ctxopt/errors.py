"""Errors of the LangChain adapter, which LangChain's own fallbacks understand."""

from __future__ import annotations

from langchain_core.exceptions import ContextOverflowError

from ctxopt_core import ContextBudgetError


class RequestOverflowError(ContextBudgetError, ContextOverflowError):
    """What may not be cut is larger than the input budget.

    It is both a `ContextBudgetError` and LangChain's `ContextOverflowError`, so that `with_fallbacks` to a model with a
    larger window, written for a provider's overflow, works for this one as well.
    """

    @classmethod
    def of(cls, error: ContextBudgetError) -> RequestOverflowError:
        """Return the same error in the form that LangChain knows."""
        return cls(str(error), needed=error.needed, available=error.available, costs=error.costs)
