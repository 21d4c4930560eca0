"""Calling a user's function in this thread, or awaiting it on the event loop that waits for this thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from inspect import CORO_CREATED, getcoroutinestate, isawaitable, iscoroutine, iscoroutinefunction
from typing import Any

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
