"""Calling a user's function or model in this thread, or awaiting it on the event loop that waits for this thread.

Models of other frameworks are known by their methods: one table for both frameworks, one way to look methods up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import CORO_CREATED, getcoroutinestate, isawaitable, iscoroutine, iscoroutinefunction
from typing import Any, TypeAlias

run_on_waiting_loop: ContextVar[Callable[..., Any] | None] = ContextVar("ctxopt_run_on_waiting_loop", default=None)
"""Runs a coroutine function on the event loop that waits for this thread and returns its result; None if none waits.

Set by `ctxopt_core.runtime.event_loop`, which is not imported here because `asyncio` takes long to import.
"""


def call_or_await(
    plain: Callable[..., Any] | None, awaited: Callable[..., Awaitable[Any]] | None, *arguments: Any, named: str
) -> Any:
    """Return what a function or a coroutine function returns, whichever can be used here.

    If an event loop waits for this thread, the coroutine function runs on that loop. If none waits, or there is no
    coroutine function, the plain function runs in this thread.

    Args:
        plain: The plain function, which may return an awaitable; None if there is none.
        awaited: The coroutine function; None if there is none.
        arguments: The arguments of both.
        named: How an error names what the user gave, such as "`scorer` my_scorer".

    Raises:
        TypeError: It can only be awaited, and no event loop waits.
    """
    run = run_on_waiting_loop.get()
    if run is not None and _runs_a_loop():
        run = None
    if run is not None and awaited is not None:
        return run(awaited, *arguments)
    if plain is not None:
        found = plain(*arguments)
        if not isawaitable(found):
            return found
        try:
            if run is not None:
                return run(lambda: found)
        finally:
            # It was not started if no loop waits, or none waits any more.
            if iscoroutine(found) and getcoroutinestate(found) == CORO_CREATED:
                found.close()
    message = (
        f"{named} can only be awaited, and no event loop waits for this call; use `afit` or `ainvoke` in place of "
        "`fit` or `invoke`"
    )
    raise TypeError(message)


def is_coroutine_function(function: Any) -> bool:
    """Return whether a function, or an object that is called as one, is a coroutine function."""
    return iscoroutinefunction(function) or iscoroutinefunction(type(function).__call__)


def _runs_a_loop() -> bool:
    """Return whether this thread runs an event loop itself, so that it must not wait for another."""
    from asyncio import get_running_loop

    try:
        get_running_loop()
    except RuntimeError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CallablePair:
    """A function, the coroutine function that does the same, or both.

    Args:
        plain: The function; what it returns may be awaitable.
        awaited: The coroutine function.
    """

    plain: Callable[..., Any] | None = None
    awaited: Callable[..., Awaitable[Any]] | None = None

    def call(self, *arguments: Any, named: str) -> Any:
        """Return the result, by the coroutine function if an event loop waits for this thread; see `call_or_await`.

        Raises:
            TypeError: There is no plain function, and no event loop waits.
        """
        return call_or_await(self.plain, self.awaited, *arguments, named=named)

    async def acall(self, *arguments: Any) -> Any:
        """Return the result without blocking the event loop; without a coroutine function, the function in a thread."""
        import asyncio

        plain: Any = self.plain
        found = self.awaited(*arguments) if self.awaited else await asyncio.to_thread(plain, *arguments)
        return await found if isawaitable(found) else found


MethodNames: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""One operation: the names of plain methods, then those of coroutine methods.

Of each, the first is the method that is called, the others are those that subclasses override to change it.
"""

LANGUAGE_MODELS = (
    ((("invoke", "_generate", "_call"), ("ainvoke", "_agenerate", "_acall")),),  # LangChain
    ((("complete",), ("acomplete",)),),  # LlamaIndex
)
"""The operation of a language model: answer a prompt."""

EMBEDDING_MODELS = (
    (  # LangChain
        (("embed_documents",), ("aembed_documents",)),
        (("embed_query",), ("aembed_query",)),
    ),
    (  # LlamaIndex
        (
            ("get_text_embedding_batch", "_get_text_embeddings", "_get_text_embedding"),
            ("aget_text_embedding_batch", "_aget_text_embeddings", "_aget_text_embedding"),
        ),
        (("get_query_embedding", "_get_query_embedding"), ("aget_query_embedding", "_aget_query_embedding")),
    ),
)
"""The operations of an embedding model: embed a list of strings, embed a query."""


def methods_of(model: Any, interfaces: Sequence[Sequence[MethodNames]]) -> tuple[CallablePair, ...] | None:
    """Return the methods of an object for each operation of the first interface that it has.

    All pairs have a plain function, or all have a coroutine function. None for a class, and for an object that has none
    of the interfaces.
    """
    for operations in () if isinstance(model, type) else interfaces:
        pairs = tuple(_pair_of(model, *names) for names in operations)
        if all(pair.plain for pair in pairs) or all(pair.awaited for pair in pairs):
            return pairs
    return None


def _pair_of(model: Any, plain_names: tuple[str, ...], awaited_names: tuple[str, ...]) -> CallablePair:
    """Return the plain method and the coroutine method of an object for one operation.

    A coroutine method is left out if the object inherits it from a class that does not know its plain method. It could
    only call that one: in the default thread pool (LangChain), or on the event loop, which is blocked meanwhile
    (LlamaIndex).
    """
    plain: Any = getattr(model, plain_names[0], None)
    awaited: Any = getattr(model, awaited_names[0], None)
    plain = plain if callable(plain) else None
    if not callable(awaited) or (plain is not None and _distance(model, awaited_names) > _distance(model, plain_names)):
        awaited = None
    found: Any = awaited
    return CallablePair(plain=plain, awaited=found)


def _distance(model: Any, names: tuple[str, ...]) -> int:
    """Return the place in the method resolution order of the first class that defines one of these names."""
    classes = type(model).__mro__
    return next((place for place, cls in enumerate(classes) if not vars(cls).keys().isdisjoint(names)), len(classes))


def function_of(source: Any, requirement: str) -> CallablePair:
    """Return a function or coroutine function as a pair.

    Raises:
        TypeError: It is a class, or cannot be called. The message starts with `requirement`.
    """
    if isinstance(source, type) or not callable(source):
        what = f"the class {source.__name__}" if isinstance(source, type) else type(source).__name__
        message = f"{requirement}, got {what}"
        raise TypeError(message)
    function: Any = source
    return CallablePair(awaited=function) if is_coroutine_function(function) else CallablePair(plain=function)
