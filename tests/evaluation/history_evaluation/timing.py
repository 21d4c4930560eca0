"""Calling a candidate: warm, timed, and without an end to the run when it raises an error."""

from __future__ import annotations

import contextlib
import sys
import time

from history_evaluation.requests import Fit, Kept, Request

_warm: set[tuple[int, object]] = set()
_fits: list[Fit] = []


def warm_up(fit: Fit, request: Request, budget: int, key: object) -> None:
    """Call a candidate once for each key before it is timed: what it loads and remembers is not what is measured."""
    if (id(fit), key) not in _warm:
        _warm.add((id(fit), key))
        _fits.append(fit)
        with contextlib.suppress(Exception):
            fit(request, budget)


def timed(fit: Fit, request: Request, budget: int) -> tuple[Kept | None, float]:
    """Return what stays, None after an error, and the milliseconds of CPU time that it took."""
    started = time.process_time()
    try:
        kept = fit(request, budget)
    except Exception as error:  # noqa: BLE001  a candidate that raises anything has failed, and the others go on
        if type(error).__name__ not in _told:
            _told.add(type(error).__name__)
            print(f"failed: {type(error).__name__}: {error}", file=sys.stderr)
        kept = None
    return kept, (time.process_time() - started) * 1_000


_told: set[str] = set()
