"""The request that a model is just sending, so that it is not fitted a second time by the model's own methods.

A completion model turns messages into a string and completes it. A chat model turns a string into a message and answers
it. An asynchronous method may call its synchronous twin. In each case it is the same request.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from llama_index.core.llms import LLM, ChatMessage

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InFlight:
    """A request that was fitted.

    Args:
        llm: The model that sends it.
        messages: Its messages; None where it is a string.
        text: The string that was counted; None where messages alone were counted.
    """

    llm: LLM
    messages: Sequence[ChatMessage] | None = None
    text: str | None = None

    @contextmanager
    def marked(self) -> Iterator[None]:
        """Make this the request in flight for the methods of the model that are called within the block."""
        token = _in_flight.set(self)
        try:
            yield
        finally:
            _in_flight.reset(token)

    def stream(self, chunks: Iterable[T]) -> Generator[T, None, None]:
        """Yield the chunks of an answer; some streams send their request only when the first chunk is read."""
        iterator = iter(chunks)
        try:
            while True:
                with self.marked():
                    chunk = next(iterator, _END)
                if chunk is _END:
                    return
                yield chunk
        finally:
            if isinstance(iterator, Generator):
                iterator.close()

    async def astream(self, chunks: AsyncIterable[T]) -> AsyncGenerator[T, None]:
        """Yield the chunks of an asynchronous stream, as `stream` does."""
        iterator = aiter(chunks)
        try:
            while True:
                with self.marked():
                    chunk = await anext(iterator, _END)
                if chunk is _END:
                    return
                yield chunk
        finally:
            if isinstance(iterator, AsyncGenerator):
                await iterator.aclose()


def in_flight(llm: LLM, given: Sequence[ChatMessage] | str) -> InFlight | None:
    """Return the request that `llm` is just sending, if `given` is that request, as messages or as a string."""
    current = _in_flight.get()
    if current is None or current.llm is not llm:
        return None
    if isinstance(given, str):
        return current if given == current.text else None
    if current.messages is not None:
        return current if given is current.messages else None
    return current if len(given) == 1 and given[0].content == current.text else None


_in_flight: ContextVar[InFlight | None] = ContextVar("ctxopt_request_in_flight", default=None)
_END: Any = object()
