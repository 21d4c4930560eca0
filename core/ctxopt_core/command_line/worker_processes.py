"""Fits the lines of a batch in several processes, in their order and with few of them in memory.

Processes and not threads, since nearly all of the work holds the interpreter's lock. They are started with `spawn` on
every system: a fork of a process that has threads can hang.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context, parent_process

import click

from ctxopt_core.command_line.fitting_options import FittingChoices
from ctxopt_core.command_line.line_outcomes import Outcome, outcome_of
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.command_line.request_input import Line

LINES_TOGETHER = 16  # lines of a bundle: sending one costs little beside fitting them, and few are lost by a Ctrl-C
_BYTES_TOGETHER = 1 << 18  # bytes of a bundle: a quarter of a mebibyte, for files with long lines
WAITING_PER_JOB = 3  # bundles for each process: one in work, one next, and one whose result waits for its turn
_BROKEN = (
    "a worker process was ended from outside, as happens where memory runs out; take fewer --jobs, and --resume to "
    "continue after what is written"
)


def outcomes_by_jobs(
    lines: Iterable[Line], choices: FittingChoices, *, jobs: int, with_reports: bool
) -> Generator[tuple[Line, Outcome]]:
    """Yield each line with its outcome, in their order.

    Lines are sent to the processes in bundles, of which only a few are in work, so that memory does not grow with the
    file.

    Args:
        lines: The lines.
        choices: How requests are fitted. `RequestFitter` takes them.
        jobs: How many processes there are.
        with_reports: Whether reports are asked for.

    Raises:
        click.ClickException: A process was ended from outside.
    """
    waiting: deque[tuple[list[Line], Future[list[Outcome]]]] = deque()
    with _processes(choices, jobs, with_reports=with_reports) as pool:
        for bundle in _bundles(lines):
            with _interrupts_held_back():
                waiting.append((bundle, pool.submit(_outcomes_of, bundle)))
            if len(waiting) == WAITING_PER_JOB * jobs:
                yield from _next(waiting)
        while waiting:
            yield from _next(waiting)


def _next(waiting: deque[tuple[list[Line], Future[list[Outcome]]]]) -> Iterator[tuple[Line, Outcome]]:
    bundle, future = waiting.popleft()
    yield from zip(bundle, future.result(), strict=True)


def _bundles(lines: Iterable[Line]) -> Iterator[list[Line]]:
    bundle: list[Line] = []
    size = 0
    for line in lines:
        bundle.append(line)
        size += line.size
        if len(bundle) == LINES_TOGETHER or size >= _BYTES_TOGETHER:
            yield bundle
            bundle, size = [], 0
    if bundle:
        yield bundle


@contextmanager
def _processes(choices: FittingChoices, jobs: int, *, with_reports: bool) -> Iterator[ProcessPoolExecutor]:
    pool = ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_start, initargs=(choices, with_reports)
    )
    try:
        yield pool
    except BrokenProcessPool as error:
        raise click.ClickException(_BROKEN) from error
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back while a process may be started: the new process would print a traceback for it.

    It is delivered afterwards. Windows cannot do this.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker:
    """The state of a worker process between bundles."""

    fitter: RequestFitter
    with_reports: bool


def _start(choices: FittingChoices, with_reports: bool) -> None:  # noqa: FBT001
    """Prepare a worker process; Ctrl-C is handled by the process that has started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the main process has built the same fitter, and has shown its warnings
        _Worker.fitter = RequestFitter(choices)
    _Worker.with_reports = with_reports


def _end_with_parent() -> None:
    """End this process when the one that has started it is killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _outcomes_of(bundle: list[Line]) -> list[Outcome]:
    return [_outcome_with_warnings(line) for line in bundle]


def _outcome_with_warnings(line: Line) -> Outcome:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = outcome_of(line, _Worker.fitter, with_report=_Worker.with_reports)
    return replace(outcome, warnings=tuple((found.category, str(found.message)) for found in caught))
