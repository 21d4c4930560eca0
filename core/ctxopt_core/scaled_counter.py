"""Another tokenizer's figures times a factor, for models whose own tokenizer is not published."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxopt_core.tokens import TokenCounter


class ScaledCounter:
    """Another counter's figures times a safety factor, for models whose own tokenizer is not published.

    Args:
        counter: The counter to scale.
        factor: At least 1; the result is rounded up.
        name: What the report calls this estimate; by default the counter's name and the factor.

    Raises:
        ValueError: `factor` is below 1.
    """

    __slots__ = ("_counter", "_factor", "name")

    exact = False

    def __init__(self, counter: TokenCounter, factor: float, *, name: str | None = None) -> None:
        if not factor >= 1:
            message = f"`factor` must be at least 1, so that the estimate stays on the safe side, got {factor!r}"
            raise ValueError(message)
        self._counter = counter
        self._factor = Fraction(str(factor))
        self.name = name or f"{counter.name} x {factor:g}"

    def __repr__(self) -> str:
        return f"ScaledCounter({self._counter!r}, {float(self._factor):g})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScaledCounter):
            return NotImplemented
        return (self._counter, self._factor, self.name) == (other._counter, other._factor, other.name)

    def __hash__(self) -> int:
        return hash((self._counter, self._factor, self.name))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self._counter, float(self._factor), self.name)

    def count(self, text: str) -> int:
        """Return the scaled tokens of `text`, rounded up."""
        return math.ceil(self._counter.count(text) * self._factor)

    def exceeds(self, text: str, limit: int) -> bool:
        """Tell whether `text` counts more than `limit` scaled tokens."""
        return limit < 0 or self._counter.exceeds(text, self._unscaled(limit))

    def prefix_length(self, text: str, limit: int) -> int:
        """Return how many characters from the start count at most `limit` scaled tokens."""
        return self._counter.prefix_length(text, self._unscaled(limit))

    def suffix_length(self, text: str, limit: int) -> int:
        """Return how many characters up to the end count at most `limit` scaled tokens."""
        return self._counter.suffix_length(text, self._unscaled(limit))

    def _unscaled(self, limit: int) -> int:
        return math.floor(limit / self._factor)


def _rebuild(counter: TokenCounter, factor: float, name: str) -> ScaledCounter:
    return ScaledCounter(counter, factor, name=name)
