"""Work in a thread while an event loop waits for it, and coroutines of that work on the loop.

`asyncio` takes long to import, so that this module is imported only when something is awaited.
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

from ctxopt_core.runtime.call_or_await import run_on_waiting_loop

P = ParamSpec("P")
T = TypeVar("T")

# Seconds after which a waiting thread checks whether its loop was closed, so that no result will come. It waits at most
# this long in vain; a shorter time only wakes it up more often.
_SECONDS_BETWEEN_CHECKS = 1.0


async def in_worker(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a worker thread and return its result; its async scorers are awaited on this event loop.

    Context variables are passed on. If this is cancelled, what the function waits for on the loop is cancelled too, and
    its next call of an async scorer raises.
    """
    loop = asyncio.get_running_loop()
    with awaiting_on(loop):
        context = copy_context()
        return await loop.run_in_executor(_workers(), lambda: context.run(_run, function, *args, **kwargs))


@contextmanager
def awaiting_on(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let the work of other threads that is started within the block run coroutines on `loop`.

    After the block, coroutines that still run on the loop for them are cancelled. These threads should not be of the
    loop's default executor, since the coroutines may need one of its threads; see `in_worker`.
    """
    awaiting = AwaitingLoop(loop)
    token = run_on_waiting_loop.set(awaiting.result_of)
    try:
        yield
    finally:
        run_on_waiting_loop.reset(token)
        awaiting.leave()


class AwaitingLoop:
    """An event loop that waits for work in other threads, which can run coroutines on it.

    Call `result_of` any number of times from other threads, then `leave` once on the loop.

    Args:
        loop: The event loop. It must go on running while threads wait for it.
    """

    __slots__ = ("_futures", "_left", "_lock", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._futures: set[Future[Any]] = set()
        self._left = False
        self._lock = Lock()

    def result_of(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an async function on the loop and wait for its result.

        Raises:
            concurrent.futures.CancelledError: `leave` was called, or the loop was closed.
        """

        async def awaited() -> T:
            return await function(*args, **kwargs)

        # The lock is held so that `leave` sees every future.
        with self._lock:
            if self._left or self._loop.is_closed():
                raise CancelledError
            coroutine = awaited()
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
            self._futures.add(future)
        try:
            while wait([future], timeout=_SECONDS_BETWEEN_CHECKS).not_done:
                if self._loop.is_closed():
                    coroutine.close()
                    raise CancelledError
            return future.result()
        finally:
            self._futures.discard(future)

    def leave(self) -> None:
        """Cancel the coroutines of threads that wait, and refuse new ones."""
        with self._lock:
            self._left = True
            futures = tuple(self._futures)
        for future in futures:
            future.cancel()


@cache
def _workers() -> ThreadPoolExecutor:
    """Return the threads that wait for event loops.

    They are not those of the default executor: as many fits as it has threads would wait there for embeddings that wait
    for one of its threads.
    """
    return ThreadPoolExecutor(thread_name_prefix="ctxopt")


def _run(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return function(*args, **kwargs)
    except StopIteration as error:
        # A future cannot hold it and would stay pending forever.
        message = f"{getattr(function, '__qualname__', type(function).__qualname__)} raised StopIteration"
        raise RuntimeError(message) from error


if hasattr(os, "register_at_fork"):
    # The child process has none of the threads.
    os.register_at_fork(after_in_child=_workers.cache_clear)
