"""A progress bar on stderr, which results on stdout do not mix with."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

_WIDTH = 30
_PLAIN_EVERY = 30.0


class Progress:
    """How much of some work is done; a line now and then where stderr is no terminal.

    Args:
        total: How much there is to do.
        unit: Of what.
    """

    def __init__(self, total: int, unit: str) -> None:
        self._total = total
        self._unit = unit
        self._done = 0
        self._started = time.monotonic()
        self._shown = self._started

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._total and sys.stderr.isatty():
            print(file=sys.stderr)

    def advance(self, by: int) -> None:
        """Count some work as done, and show it."""
        self._done += by
        now = time.monotonic()
        if sys.stderr.isatty():
            print(f"\r{self._line(now)} ", end="", file=sys.stderr, flush=True)
        elif now - self._shown > _PLAIN_EVERY or self._done == self._total:
            self._shown = now
            print(self._line(now), file=sys.stderr, flush=True)

    def _line(self, now: float) -> str:
        share = self._done / self._total
        left = (now - self._started) * (1 / share - 1) if share else 0.0
        bar = "#" * int(_WIDTH * share)
        return f"[{bar:<{_WIDTH}}] {self._done:,}/{self._total:,} {self._unit}, {left / 60:.0f} min left"
