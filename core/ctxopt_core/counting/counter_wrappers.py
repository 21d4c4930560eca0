"""Token counters around another one: scaled by a factor, capped at a limit, with the rules of a model."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from ctxopt_core.counting.token_counter import TokenCounter, memory_of
from ctxopt_core.providers.rules import ProviderRules, rules_of

if TYPE_CHECKING:
    from ctxopt_core.counting.token_counter import TokenCounter

_ALWAYS_COUNTED = 8_000


class CappedCounter:
    """Another counter, except that a long text over the ceiling counts one more than the ceiling.

    A text that alone is larger than the whole input budget is cut whatever its exact size, so the cost of finding that
    out follows the budget and not the text.

    Args:
        counter: The counter whose figures are capped.
        ceiling: The input budget, in tokens.
    """

    __slots__ = (
        "_ceiling",
        "_counter",
        "_known",
        "_over",
        "exact",
        "exceeds",
        "name",
        "prefix_length",
        "rules",
        "suffix_length",
    )

    def __init__(self, counter: TokenCounter, ceiling: int) -> None:
        self._counter = counter
        self._ceiling = max(0, ceiling)
        self._over: set[str] = set()
        self._known = memory_of(counter)
        self.name = counter.name
        self.exact = counter.exact
        self.rules = rules_of(counter)
        self.exceeds = counter.exceeds
        self.prefix_length = counter.prefix_length
        self.suffix_length = counter.suffix_length

    def count(self, text: str) -> int:
        """Return the tokens of `text`, or one more than the ceiling for a long text that is over it."""
        if not text or len(text) <= _ALWAYS_COUNTED:
            return self._counter.count(text)
        if text in self._over or self._counter.exceeds(text, self._ceiling):
            self._over.add(text)
            return self._ceiling + 1
        return self._counter.count(text)

    def known(self, text: str) -> int | None:
        """Return what `count` gives, where the counter remembers the text; it is capped as well, so that both agree."""
        tokens = self._known(text)
        if tokens is None or tokens <= self._ceiling or len(text) <= _ALWAYS_COUNTED:
            return tokens
        return self._ceiling + 1


class ModelCounter:
    """Counts texts as another counter does, and carries the rules of a model's provider.

    Whoever counts messages or schemas is handed a counter, so that the rules are wherever they are needed.

    Args:
        counter: Counts texts.
        rules: How attachments are counted.
    """

    __slots__ = (
        "_counter",
        "count",
        "exact",
        "exceeds",
        "known",
        "name",
        "prefix_length",
        "rules",
        "suffix_length",
    )

    def __init__(self, counter: TokenCounter, rules: ProviderRules) -> None:
        self._counter = counter
        self.rules = rules
        self.name = counter.name
        self.exact = counter.exact
        # Bound here, so that counting a text costs no further call.
        self.count = counter.count
        self.exceeds = counter.exceeds
        self.prefix_length = counter.prefix_length
        self.suffix_length = counter.suffix_length
        self.known = memory_of(counter)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._counter!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ModelCounter):
            return NotImplemented
        return self._counter == other._counter and self.rules == other.rules

    def __hash__(self) -> int:
        return hash((type(self), self._counter, self.rules))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._counter, self.rules)


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
