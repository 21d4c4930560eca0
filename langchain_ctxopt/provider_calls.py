"""The methods through which a chat model asks its provider: each fits the messages that it is given first.

LangChain calls them after it has told tracers and callbacks what the caller gave, so that a run's inputs, and the
conversation that is stored from them, hold every message.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import wraps
from typing import Any, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from ctxopt_core.adapters import in_worker

Method = Callable[..., Any]


class FittedMessages(list[BaseMessage]):
    """Messages that were fitted already: one of these methods often calls another one with them."""

    __slots__ = ()


class Fits(Protocol):
    """A model that fits its requests.

    1. `fitted_messages` returns `FittedMessages` as they are, so that a request is fitted once.
    2. `sent_arguments` returns the arguments that the provider's client knows.
    """

    def fitted_messages(self, messages: list[BaseMessage], arguments: Mapping[str, Any]) -> FittedMessages:
        """Return the messages of one request that fit."""

    def sent_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call without those that are for the fitting alone."""


def fitting_methods(plain: type[BaseChatModel]) -> dict[str, Method]:
    """Return the methods of a class of chat models that ask the provider, each with its messages fitted first.

    A method that the class has from LangChain is left out where it calls another one of these: whether a class has its
    own is how LangChain finds out what it can do.

    Args:
        plain: The class of the model.
    """
    found = {name: getattr(plain, name, None) for name in _WRAPPERS}
    return {
        name: _WRAPPERS[name](method)
        for name, method in found.items()
        if method is not None and not (name in _OPTIONAL and method is getattr(BaseChatModel, name))
    }


def _answer(method: Method) -> Method:
    @wraps(method)
    def fitted(self: Fits, messages: list[BaseMessage], *rest: Any, **arguments: Any) -> Any:
        return method(self, self.fitted_messages(messages, arguments), *rest, **self.sent_arguments(arguments))

    return fitted


def _answer_later(method: Method) -> Method:
    @wraps(method)
    async def fitted(self: Fits, messages: list[BaseMessage], *rest: Any, **arguments: Any) -> Any:
        kept = await _afitted(self, messages, arguments)
        return await method(self, kept, *rest, **self.sent_arguments(arguments))

    return fitted


def _chunks(method: Method) -> Method:
    @wraps(method)
    def fitted(self: Fits, messages: list[BaseMessage], *rest: Any, **arguments: Any) -> Iterator[Any]:
        kept = self.fitted_messages(messages, arguments)
        yield from method(self, kept, *rest, **self.sent_arguments(arguments))

    return fitted


def _chunks_later(method: Method) -> Method:
    @wraps(method)
    async def fitted(self: Fits, messages: list[BaseMessage], *rest: Any, **arguments: Any) -> AsyncIterator[Any]:
        kept = await _afitted(self, messages, arguments)
        async for chunk in method(self, kept, *rest, **self.sent_arguments(arguments)):
            yield chunk

    return fitted


async def _afitted(model: Fits, messages: list[BaseMessage], arguments: Mapping[str, Any]) -> FittedMessages:
    """Return the messages that fit; the work is done in a worker thread."""
    if isinstance(messages, FittedMessages):
        return messages
    return await in_worker(model.fitted_messages, messages, arguments)


_WRAPPERS: Mapping[str, Callable[[Method], Method]] = {
    "_generate_with_cache": _answer,  # before the cache, whose key is then the request that is sent
    "_agenerate_with_cache": _answer_later,
    "_generate": _answer,
    "_agenerate": _answer_later,
    "_stream": _chunks,
    "_astream": _chunks_later,
    "_stream_chat_model_events": _chunks,
    "_astream_chat_model_events": _chunks_later,
}
_OPTIONAL = frozenset({"_agenerate", "_stream", "_astream"})
