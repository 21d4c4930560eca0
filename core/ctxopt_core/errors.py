"""The errors of ctxopt.

* CtxoptError
  * ContextBudgetError (also a ValueError): the request cannot be made to fit, or a budget is invalid
  * ServerStateError: a call refers to what the provider's server holds, which cannot be counted
  * UnknownModelError (also a LookupError): no window or no tokenizer is known for a model
  * SummaryError: a summarizer returned no usable summary
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Self


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
        needed: The least input budget, in tokens, with which the request can be made to fit; None if no request was
            measured.
        available: Tokens of the input budget, or None.
        costs: Tokens of each part by name (`fixed`, `system`, `query`, ...). `tools` is the part of `fixed` that the
            tool schemas have. Counts only, no content.
        problem: The message without the remedies.
        remedies: What helps, each as a short phrase, by the setting or the part that it is about: `context_window`,
            `max_input_tokens`, `target_tokens`, `output_reserve`, `safety_margin`, `tools`, `fixed`, `system`, `query`.

    Example:
        >>> from ctxopt_core import CallableCounter, ContextBudget, ContextBudgetError, ContextRequest, fit
        >>> budget = ContextBudget(context_window=20, output_reserve=0)
        >>> try:
        ...     fit(ContextRequest(query="Where is Rome?"), budget, counter=CallableCounter(len), protect="query")
        ... except ContextBudgetError as error:
        ...     error.needed, error.available, dict(error.remedies)["context_window"]
        (24, 20, 'a larger context window')
    """

    def __init__(
        self,
        problem: str,
        *,
        needed: int | None = None,
        available: int | None = None,
        costs: Mapping[str, int] | None = None,
        remedies: Mapping[str, str] | None = None,
    ) -> None:
        self.problem = problem
        self.remedies: Mapping[str, str] = MappingProxyType(dict(remedies or {}))
        *most, last = self.remedies.values() or ("",)
        listed = f"{', '.join(most)} or {last}" if most else last
        super().__init__(f"{problem}; use {listed}" if listed else problem)
        self.needed = needed
        self.available = available
        self.costs: Mapping[str, int] = MappingProxyType(dict(costs or {}))

    def with_remedies(self, phrases: Mapping[str, str]) -> Self:
        """Return the error with other phrases for the remedies that it names, so that they name the caller's settings.

        Args:
            phrases: Phrases by the names of `remedies`. One for a remedy that the error does not name has no effect; an
                empty one takes the remedy away.

        Example:
            >>> from ctxopt_core import ContextBudgetError
            >>> error = ContextBudgetError("too long", remedies={"context_window": "a larger context window"})
            >>> str(error.with_remedies({"context_window": "a larger `num_ctx`", "tools": "fewer `tools`"}))
            'too long; use a larger `num_ctx`'
        """
        changed = {name: phrases.get(name, phrase) for name, phrase in self.remedies.items()}
        remedies = {name: phrase for name, phrase in changed.items() if phrase}
        return type(self)(
            self.problem, needed=self.needed, available=self.available, costs=self.costs, remedies=remedies
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with the figures and the remedies, which the arguments of an exception do not include."""
        figures: dict[str, Any] = {"needed": self.needed, "available": self.available, "costs": dict(self.costs)}
        return partial(type(self), self.problem, **figures, remedies=dict(self.remedies)), ()


class ServerStateError(CtxoptError):
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
