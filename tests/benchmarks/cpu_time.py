"""Medians of CPU time, the candidates taking turns so that a slow moment of the machine hits all of them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something whose time is taken.

    Args:
        name: What the table calls it.
        run: What is timed.
        prepare: What goes before each run, outside the time.
        most_rounds: How often it is run at most; for what takes seconds.
    """

    name: str
    run: Callable[[], object]
    prepare: Callable[[], object] = _nothing
    most_rounds: int | None = None


def milliseconds(candidates: Sequence[Candidate], rounds: int) -> dict[str, float]:
    """Return the median CPU time of each candidate, in milliseconds.

    The collector of cyclic garbage is off while the clock runs, as in `timeit`. Each round begins with another
    candidate.
    """
    times: dict[str, list[float]] = {candidate.name: [] for candidate in candidates}
    for number in range(rounds):
        start = number % len(candidates)
        for candidate in (*candidates[start:], *candidates[:start]):
            if candidate.most_rounds is None or number < candidate.most_rounds:
                times[candidate.name].append(_timed(candidate))
    return {name: median(values) * 1000 for name, values in times.items()}


def _timed(candidate: Candidate) -> float:
    candidate.prepare()
    gc.disable()
    try:
        start = time.process_time()
        candidate.run()
        return time.process_time() - start
    finally:
        gc.enable()
