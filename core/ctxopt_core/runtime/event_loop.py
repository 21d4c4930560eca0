"""Work in a thread for an event loop that waits for it, and the way back to that loop for what must be awaited.

`asyncio` takes long to import, so this module is imported when something is awaited and not before.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from ctxopt_core.runtime.call_or_await import announced

P = ParamSpec("P")
T = TypeVar("T")

_SECONDS_BETWEEN_LOOKS = 1.0


async def in_worker(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a function returns that runs in a worker thread, for which scorers are awaited on this event loop.

    Context variables are handed on. When this is cancelled, what the function waits for on the loop is cancelled too,
    and its next call of an awaited scorer ends it.
    """
    loop = asyncio.get_running_loop()
    with awaiting_on(loop):
        context = copy_context()
        return await loop.run_in_executor(_workers(), lambda: context.run(_run, function, *args, **kwargs))


@contextmanager
def awaiting_on(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Announce that `loop` waits for what is started within the block and runs in other threads.

    Leaving the block takes that back: what still runs on the loop for one of them is cancelled. A thread that waits for
    the loop should not be one of the loop's default executor, since what it waits for may need a thread of that; see
    `in_worker`.
    """
    awaiting = AwaitingLoop(loop)
    token = announced.set(awaiting)
    try:
        yield
    finally:
        announced.reset(token)
        awaiting.leave()


class AwaitingLoop:
    """An event loop that waits for work in other threads, which can have coroutines run on it meanwhile.

    Args:
        loop: The event loop. It must go on running while threads wait for it.
    """

    __slots__ = ("_futures", "_left", "_lock", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._futures: set[Future[Any]] = set()
        self._left = False
        self._lock = Lock()

    def is_elsewhere(self) -> bool:
        """Tell whether this thread may wait for the loop: it runs none itself."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return True
        return False

    def result_of(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an async function on the loop and wait for what it returns.

        Raises:
            concurrent.futures.CancelledError: Nobody waits any more, or the loop was closed.
        """

        async def awaited() -> T:
            return await function(*args, **kwargs)

        # The lock is held so that the loop, when it leaves, knows of all that it was given.
        with self._lock:
            if self._left or self._loop.is_closed():
                raise CancelledError
            coroutine = awaited()
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
            self._futures.add(future)
        try:
            while wait([future], timeout=_SECONDS_BETWEEN_LOOKS).not_done:
                if self._loop.is_closed():
                    coroutine.close()
                    raise CancelledError
            return future.result()
        finally:
            self._futures.discard(future)

    def leave(self) -> None:
        """Cancel what runs for threads that wait, and let none wait again."""
        with self._lock:
            self._left = True
            futures = tuple(self._futures)
        for future in futures:
            future.cancel()


@cache
def _workers() -> ThreadPoolExecutor:
    """Return the threads that wait for event loops.

    They are our own. In the default executor, as many fits as it has threads would wait for embeddings that wait for
    one of its threads.
    """
    return ThreadPoolExecutor(thread_name_prefix="ctxopt")


def _run(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return function(*args, **kwargs)
    except StopIteration as error:
        # A future cannot hold it and would stay pending for ever.
        message = f"{getattr(function, '__qualname__', type(function).__qualname__)} raised StopIteration"
        raise RuntimeError(message) from error


if hasattr(os, "register_at_fork"):
    # The threads are not there in the child.
    os.register_at_fork(after_in_child=_workers.cache_clear)
