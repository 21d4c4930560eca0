"""The errors of ctxopt.

* CtxoptError
  * ContextBudgetError (also a ValueError): the request cannot be made to fit, or a budget is invalid
  * UnknownModelError (also a LookupError): no window or no tokenizer is known for a model
  * SummaryError: a summarizer gave no text that could be used
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


class CtxoptError(Exception):
    """Base class of every error that ctxopt raises on purpose."""


class ContextBudgetError(CtxoptError, ValueError):
    """The parts that may not be cut are larger than the input budget, or the budget itself is invalid.

    Attributes:
        needed: Tokens that the untouchable parts need, or None when no request was measured.
        available: Tokens that the input budget offers, or None.
        costs: Tokens of each part by name (`fixed`, `system`, `query`, ...). Counts only, no content.
    """

    def __init__(
        self,
        message: str,
        *,
        needed: int | None = None,
        available: int | None = None,
        costs: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(message)
        self.needed = needed
        self.available = available
        self.costs: Mapping[str, int] = MappingProxyType(dict(costs or {}))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with the figures, so that the error crosses process borders whole."""
        return _rebuild, (type(self), str(self), self.needed, self.available, dict(self.costs))


class UnknownModelError(CtxoptError, LookupError):
    """No context window or no tokenizer is known for the model that was named."""


class SummaryError(CtxoptError):
    """A summarizer gave no text, or none of it fits."""


def _rebuild(
    kind: type[ContextBudgetError],
    message: str,
    needed: int | None,
    available: int | None,
    costs: Mapping[str, int],
) -> ContextBudgetError:
    return kind(message, needed=needed, available=available, costs=costs)
