"""Calling what a caller gave: plain in this thread, or on the event loop that waits for this thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from inspect import CORO_CREATED, getcoroutinestate, isawaitable, iscoroutine, iscoroutinefunction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxopt_core.runtime.event_loop import AwaitingLoop

announced: ContextVar[AwaitingLoop | None] = ContextVar("ctxopt_awaiting_loop", default=None)
"""The event loop that waits for the work of this thread; see `ctxopt_core.awaiting`."""


def call_or_await(
    plain: Callable[..., Any] | None, awaited: Callable[..., Awaitable[Any]] | None, *arguments: Any, named: str
) -> Any:
    """Return what a function or a coroutine function gives, whichever serves here.

    If an event loop waits for this thread, the coroutine function runs on that loop; without one, or without a
    loop, the plain function runs in this thread.

    Args:
        plain: The plain function; what it returns may be awaitable. None if there is none.
        awaited: The coroutine function. None if there is none.
        arguments: What both are called with.
        named: How an error names what the caller gave, such as "`scorer` my_scorer".

    Raises:
        TypeError: It can only be awaited, and no event loop waits.
    """
    loop = announced.get()
    if loop is not None and not loop.is_elsewhere():
        loop = None
    if loop is not None and awaited is not None:
        return loop.result_of(awaited, *arguments)
    if plain is not None:
        found = plain(*arguments)
        if not isawaitable(found):
            return found
        if loop is not None:
            return _result_of(loop, found)
        if iscoroutine(found):
            found.close()
    message = (
        f"{named} can only be awaited, and no event loop waits for this call; use `afit` or `ainvoke` in place of "
        "`fit` or `invoke`"
    )
    raise TypeError(message)


def is_coroutine_function(function: Any) -> bool:
    """Tell whether a function, or an object that is called as one, was written as a coroutine function."""
    return iscoroutinefunction(function) or iscoroutinefunction(type(function).__call__)


def _result_of(loop: AwaitingLoop, found: Awaitable[Any]) -> Any:
    try:
        return loop.result_of(lambda: found)
    finally:
        # It was not started if nobody waits any more.
        if iscoroutine(found) and getcoroutinestate(found) == CORO_CREATED:
            found.close()
