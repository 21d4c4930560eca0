"""Errors of the LangChain adapter, which LangChain's own fallbacks understand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from langchain_core.exceptions import ContextOverflowError
from pydantic import ValidationError

from ctxopt_core import ContextBudget, ContextBudgetError, CtxoptError
from ctxopt_core.adapters import BudgetSettings, ModelInfo

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

    _Runnable = Runnable[Any, Any]
else:
    _Runnable = object


class RequestOverflowError(ContextBudgetError, ContextOverflowError):
    """What may not be cut is larger than the input budget, or the provider refused a second, smaller request as well.

    It is both a `ContextBudgetError` and LangChain's `ContextOverflowError`, so that `with_fallbacks` to a model with a
    larger window, written for a provider's overflow, works for this one as well. Another try of the same request is
    refused in the same way, and `is_retryable` says so: LangChain's `ModelRetryMiddleware` does not try again by
    default. The `with_retry` of a chain does: pass it
    `retry_if_exception_type=lambda error: getattr(error, "is_retryable", True)`.

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
        return cls(
            error.problem, needed=error.needed, available=error.available, costs=error.costs, remedies=error.remedies
        )


@contextmanager
def typed_errors() -> Iterator[None]:
    """Raise the errors of ctxopt as what they are where pydantic has wrapped them while it checked settings."""
    try:
        yield
    except ValidationError as error:
        causes = (problem.get("ctx", {}).get("error") for problem in error.errors())
        cause = next((cause for cause in causes if isinstance(cause, CtxoptError)), None)
        if cause is None:
            raise
        raise (RequestOverflowError.of(cause) if isinstance(cause, ContextBudgetError) else cause) from None


class TypedConstruction:
    """Base of the fronts that are pydantic models and may be made for a model.

    Settings that contradict each other are pydantic's error. That a model leaves nothing for the input, for example by
    its answer limit, is the error of ctxopt, which fallbacks know.
    """

    def __init__(self, **settings: Any) -> None:
        with nullcontext() if settings.get("model") is None else typed_errors():
            super().__init__(**settings)


def remedies(settings: BudgetSettings, budget: ContextBudget, model: ModelInfo | None) -> dict[str, str]:
    """Return what helps where a request cannot fit, in the words of the settings and of the model that give the limit.

    Args:
        settings: The settings of the front.
        budget: The budget that they came to.
        model: What the model says about itself; None where there is none.
    """
    found = {"context_window": "a larger `context_window`"}
    if budget.input_budget == settings.max_input_tokens:
        found["context_window"] = "a larger `max_input_tokens`"
    elif settings.context_window is None and model is not None:
        larger = "a model with a larger context window"
        found["context_window"] = larger if model.loaded_tokens is None else "a larger `num_ctx` of the model"
    if settings.output_reserve is None and model is not None and model.answer_tokens is not None:
        kept = f"{budget.output_reserve:,} tokens are kept free for it"
        found["output_reserve"] = f"a smaller limit of the answer (`max_tokens` of the model; {kept})"
    return found


class RetriesWhatMayChange(_Runnable):
    """A `with_retry` that by default does not try again what was refused as too long."""

    def with_retry(self, **options: Any) -> Runnable[Any, Any]:
        """Return a runnable that tries again after errors; not after a `RequestOverflowError`, which cannot change.

        Args:
            options: Those of LangChain's `with_retry`. `retry_if_exception_type` replaces the default. Releases of
                LangChain that take only types there try everything again by default.
        """
        from langchain_ctxopt.retries import EachRetried, with_default

        retrying: Any = super().with_retry(**with_default(options))
        return EachRetried.of(retrying)
