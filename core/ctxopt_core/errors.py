"""The errors of ctxopt.

* CtxoptError
  * ContextBudgetError (also a ValueError): the request cannot be made to fit, or a budget is invalid
  * ServerStateError (also a ValueError): a call refers to what the provider's server holds, which cannot be counted
  * UnknownModelError (also a LookupError): no window or no tokenizer is known for a model
  * SummaryError: a summarizer returned no usable summary
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType


class CtxoptError(Exception):
    """Base class of all errors that ctxopt raises on purpose.

    Example:
        >>> from ctxopt_core import ContextBudgetError, CtxoptError
        >>> issubclass(ContextBudgetError, CtxoptError)
        True
    """


class ContextBudgetError(CtxoptError, ValueError):
    """The parts that may not be cut are larger than the input budget, or the budget itself is invalid.

    Attributes:
        needed: Tokens of the parts that may not be cut, or None if no request was measured.
        available: Tokens of the input budget, or None.
        costs: Tokens of each part by name (`fixed`, `system`, `query`, ...). Counts only, no content.

    Example:
        >>> from ctxopt_core import CallableCounter, ContextBudget, ContextBudgetError, ContextRequest, fit
        >>> budget = ContextBudget(context_window=10, output_reserve=0)
        >>> try:
        ...     fit(ContextRequest(query="Where is Rome?"), budget, counter=CallableCounter(len))
        ... except ContextBudgetError as error:
        ...     error.needed, error.available
        (11, 10)
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
        """Pickle with the numbers of tokens, which the arguments of an exception do not include."""
        costs = dict(self.costs)
        return partial(type(self), str(self), needed=self.needed, available=self.available, costs=costs), ()


class ServerStateError(CtxoptError, ValueError):
    """A call refers to what the provider's server holds, which it adds to the request and which cannot be counted.

    Example:
        >>> from ctxopt_core import ServerStateError
        >>> from ctxopt_core.adapters import ModelInfo
        >>> try:
        ...     ModelInfo(name="gpt-5").called_with({"previous_response_id": "resp_1"})
        ... except ServerStateError as error:
        ...     print(str(error)[:67])
        `previous_response_id` makes the server add what it holds to the re
    """


class UnknownModelError(CtxoptError, LookupError):
    """No context window or no tokenizer is known for the model.

    Example:
        >>> from ctxopt_core import UnknownModelError, resolve_window
        >>> try:
        ...     resolve_window("my-own-model", on_unknown_model="error")
        ... except UnknownModelError as error:
        ...     print(error)
        the context window of 'my-own-model' is not known; pass `context_window`, or a `catalog` that knows the model
    """


class SummaryError(CtxoptError):
    """A summarizer returned no string or an empty one, or none of it fits.

    Example:
        >>> from ctxopt_core import CallableCounter, Message, SummaryError, summarizer
        >>> silent = summarizer(lambda transcript: "", name="silent")
        >>> try:
        ...     silent.summarize([Message(role="user", content="Where is Rome?")], CallableCounter(len), 40)
        ... except SummaryError as error:
        ...     print(error)
        `source` silent must return a string with a summary in it, got an empty one
    """
