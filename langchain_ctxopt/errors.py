"""Errors of the LangChain adapter, which LangChain's own fallbacks understand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.exceptions import ContextOverflowError

from ctxopt_core import ContextBudgetError

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

    _Runnable = Runnable[Any, Any]
else:
    _Runnable = object


class RequestOverflowError(ContextBudgetError, ContextOverflowError):
    """What may not be cut is larger than the input budget.

    It is both a `ContextBudgetError` and LangChain's `ContextOverflowError`, so that `with_fallbacks` to a model with a
    larger window, written for a provider's overflow, works for this one as well. Another try of the same request is
    refused in the same way, and `is_retryable` says so: LangChain's `ModelRetryMiddleware` does not try again by
    default. The
    `with_retry` of a chain does: pass it `retry_if_exception_type=lambda error: getattr(error, "is_retryable", True)`.

    Example:
        >>> from langchain_ctxopt import ContextOptimizer, RequestOverflowError
        >>> optimizer = ContextOptimizer(max_input_tokens=60, protect=("query",), token_counter=len)
        >>> try:
        ...     optimizer.invoke("What is wrong with this log? " * 10)
        ... except RequestOverflowError as error:
        ...     print(f"{error.needed} tokens are needed, {error.available} are available")
        300 tokens are needed, 60 are available
    """

    is_retryable = False
    """That another try of the same request cannot succeed."""

    @classmethod
    def of(cls, error: ContextBudgetError) -> RequestOverflowError:
        """Return the same error in the form that LangChain knows."""
        return cls(str(error), needed=error.needed, available=error.available, costs=error.costs)


class RetriesWhatMayChange(_Runnable):
    """A `with_retry` that by default does not try again what was refused as too long."""

    def with_retry(self, **options: Any) -> Runnable[Any, Any]:
        """Return a runnable that tries again after errors; not after a `RequestOverflowError`, which cannot change.

        Args:
            options: Those of LangChain's `with_retry`. `retry_if_exception_type` replaces the default. Releases of
                LangChain that take only types there try everything again by default.
        """
        from langchain_core.runnables.retry import RunnableRetry

        if "Callable" in str(RunnableRetry.model_fields["retry_exception_types"].annotation):
            options.setdefault("retry_if_exception_type", _may_change)
        return super().with_retry(**options)


def _may_change(error: BaseException) -> bool:
    return isinstance(error, Exception) and not isinstance(error, RequestOverflowError)
