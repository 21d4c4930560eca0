"""Retries of a runnable, each request of a batch by itself."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable
from langchain_core.runnables.retry import RunnableRetry


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
