"""Counters that do not know the model's vocabulary, and say so."""

from __future__ import annotations

import math
import re
import unicodedata
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxopt_core.tokens import TokenCounter

_RUN = re.compile(r"[A-Za-z]+|[0-9]+|[\r\n]+|[^\S\r\n]+|[^\w\s]|[^\W\d_]|.", re.DOTALL)
_DENSE = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_LETTERS_PER_TOKEN = Fraction(4)
_DENSE_PER_TOKEN = Fraction(5, 4)
_BLANKS_PER_TOKEN = 16
# Tokens for one character, by the first word of its Unicode name.
_PER_CHARACTER = {
    "LATIN": Fraction(1),
    "CYRILLIC": Fraction(3, 5),
    "GREEK": Fraction(4, 5),
    "ARABIC": Fraction(4, 5),
    "HEBREW": Fraction(9, 10),
    "HANGUL": Fraction(1),
    "CJK": Fraction(6, 5),
    "HIRAGANA": Fraction(1),
    "KATAKANA": Fraction(1),
    "DEVANAGARI": Fraction(9, 10),
    "THAI": Fraction(9, 10),
}
_OTHER_CHARACTER = Fraction(3)


class EstimateCounter:
    """Estimate tokens from the scripts of a text, with no vocabulary at all.

    It leans towards counting too many. Use it where no tokenizer can be had; reports mark its figures as estimates.
    """

    __slots__ = ()

    name = "estimate"
    exact = False

    def __repr__(self) -> str:
        return "EstimateCounter()"

    def __eq__(self, other: object) -> bool:
        return True if isinstance(other, EstimateCounter) else NotImplemented

    def __hash__(self) -> int:
        return hash(EstimateCounter)

    def count(self, text: str) -> int:
        """Return the estimated tokens of `text`; an empty or missing text counts 0."""
        if not text:
            return 0
        dense = sum(len(run) for run in _DENSE.findall(text) if not run.isalpha())
        plain = _DENSE.sub(_keep_words, text) if dense else text
        estimate = dense / _DENSE_PER_TOKEN + sum((_run_cost(run) for run in _RUN.findall(plain)), Fraction(0))
        return max(1, math.ceil(estimate))

    def exceeds(self, text: str, limit: int) -> bool:
        """Tell whether `text` is estimated at more than `limit` tokens."""
        return limit < 0 or self.count(text) > limit

    def prefix_length(self, text: str, limit: int) -> int:
        """Return how many characters from the start are estimated at most at `limit` tokens."""
        low, high = 0, len(text) if limit > 0 else 0
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.count(text[:middle]) <= limit else (low, middle - 1)
        return low

    def suffix_length(self, text: str, limit: int) -> int:
        """Return how many characters up to the end are estimated at most at `limit` tokens."""
        low, high = 0, len(text) if limit > 0 else 0
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.count(text[len(text) - middle :]) <= limit else (low, middle - 1)
        return low


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
        return ScaledCounter, (self._counter, float(self._factor))

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


def _keep_words(match: re.Match[str]) -> str:
    return match.group() if match.group().isalpha() else " "


def _run_cost(run: str) -> Fraction:
    first = run[0]
    if first.isascii():
        if first.isalpha():
            return Fraction(max(1, math.ceil(len(run) / _LETTERS_PER_TOKEN)))
        if first.isdigit():
            return Fraction(math.ceil(len(run) / 2))
        if first in "\r\n":
            return Fraction(math.ceil(len(run) / 2))
        if first.isspace():
            return Fraction(0) if len(run) == 1 else Fraction(math.ceil(len(run) / _BLANKS_PER_TOKEN))
        return Fraction(1)
    script = unicodedata.name(first, "").partition(" ")[0]
    return _PER_CHARACTER.get(script, _OTHER_CHARACTER)
