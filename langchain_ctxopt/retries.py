"""Retries of a runnable: what is tried again by default, and each request of a batch by itself.

LangChain's own need a package that takes long to import, so that this file is imported when there are retries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable
from langchain_core.runnables.retry import RunnableRetry

from langchain_ctxopt.errors import RequestOverflowError


class EachRetried(RunnableRetry[Any, Any]):  # type: ignore[no-redef]
    """A `RunnableRetry` whose batches try each request again by itself.

    LangChain's own gives every request of a batch the error of one that is not tried again, also those with an answer.
    """

    @classmethod
    def of(cls, retrying: RunnableRetry[Any, Any]) -> EachRetried:
        """Return the same retries."""
        return cls(**{name: getattr(retrying, name) for name in RunnableRetry.model_fields})

    @classmethod
    def lc_id(cls) -> list[str]:
        """Return the id of LangChain's own class, which is what is stored."""
        return RunnableRetry.lc_id()

    def batch(self, inputs: list[Any], config: Any = None, **options: Any) -> list[Any]:
        """Return the answers to several requests."""
        return Runnable.batch(self, inputs, config, **options)

    async def abatch(self, inputs: list[Any], config: Any = None, **options: Any) -> list[Any]:
        """Return what `batch` returns."""
        return await Runnable.abatch(self, inputs, config, **options)


def with_default(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `with_retry`; by default all but a `RequestOverflowError` is tried again.

    Args:
        options: What the caller gave. Releases of LangChain that take only types of errors have no such default.
    """
    takes_functions = "Callable" in str(RunnableRetry.model_fields["retry_exception_types"].annotation)
    return {"retry_if_exception_type": _may_change, **options} if takes_functions else dict(options)


def _may_change(error: BaseException) -> bool:
    return isinstance(error, Exception) and not isinstance(error, RequestOverflowError)
