"""Token counters around others: scaled, the largest, capped at a limit, with the rules of a model's provider."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import partial

from ctxopt_core.counting.token_counter import TokenCounter, cached_counts_of, most_tokens_per_byte
from ctxopt_core.providers.rules import ProviderRules, rules_of
from ctxopt_core.runtime.text_cache import CountCache

# Characters. Shorter strings are always counted, which is cheap. A smaller value makes the sizes in reports of cut
# requests less exact; with a larger one more strings over the limit are tokenized as a whole.
_ALWAYS_COUNTED = 8_000


class _BoundCounter:
    """What `CappedCounter` and `ModelCounter` take over from the counter that they wrap."""

    __slots__ = ("_counter", "exact", "exceeds", "name", "prefix_length", "rules", "suffix_length", "tokens_per_byte")

    def __init__(self, counter: TokenCounter, rules: ProviderRules) -> None:
        self._counter = counter
        self.rules = rules
        self.name = counter.name
        self.exact = counter.exact
        self.tokens_per_byte = most_tokens_per_byte(counter)
        # Bound methods, so that a call of one does not cost a second call.
        self.exceeds = counter.exceeds
        self.prefix_length = counter.prefix_length
        self.suffix_length = counter.suffix_length


class CappedCounter(_BoundCounter):
    """Another counter, except that `count` returns the limit plus 1 for a long string that is over the limit.

    A string that alone is larger than the whole input budget is cut whatever its exact size, so that finding out costs
    in proportion to the budget and not to the length of the string. The limit is usually the input budget, in tokens.
    """

    __slots__ = ("_cached", "_ceiling", "_over")

    def __init__(self, counter: TokenCounter, ceiling: int) -> None:
        super().__init__(counter, rules_of(counter))
        self._ceiling = max(0, ceiling)
        self._over: set[str] = set()
        self._cached = cached_counts_of(counter)

    def count(self, text: str) -> int:
        """Return the tokens of `text`, or the limit plus 1 for a long string that is over it."""
        if not text or len(text) <= _ALWAYS_COUNTED:
            return self._counter.count(text)
        if text in self._over or self._counter.exceeds(text, self._ceiling):
            self._over.add(text)
            return self._ceiling + 1
        return self._counter.count(text)

    def cached_count(self, text: str) -> int | None:
        """Return what `count` returns where the wrapped counter has the count in its cache, else None."""
        tokens = self._cached(text)
        if tokens is None or tokens <= self._ceiling or len(text) <= _ALWAYS_COUNTED:
            return tokens
        return self._ceiling + 1


class ModelCounter(_BoundCounter):
    """Another counter, together with the rules of a model's provider.

    Messages and schemas are counted by functions that get a counter, so the rules, which say how attachments and
    schemas are counted, are passed along with it.
    """

    __slots__ = ("cached_count", "count")

    def __init__(self, counter: TokenCounter, rules: ProviderRules) -> None:
        super().__init__(counter, rules)
        self.count = counter.count
        self.cached_count: Callable[[str], int | None] = cached_counts_of(counter)

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


@dataclass(frozen=True, slots=True, repr=False)
class ScaledCounter:
    """Another counter's counts times a safety factor, for models whose own tokenizer is not published.

    Args:
        counter: The counter to scale.
        factor: At least 1; the result is rounded up.
        name: What the report calls this estimate; by default the counter's name and the factor.

    Raises:
        ValueError: `factor` is below 1.
    """

    counter: TokenCounter
    factor: float
    _: KW_ONLY
    name: str = ""
    # The factor as two whole numbers, so that nothing is lost by rounding.
    _times: int = field(init=False, compare=False)
    _over: int = field(init=False, compare=False)

    exact = False

    def __post_init__(self) -> None:
        if not self.factor >= 1:
            message = f"`factor` must be at least 1, so that the estimate is not too low, got {self.factor!r}"
            raise ValueError(message)
        object.__setattr__(self, "name", self.name or f"{self.counter.name} x {self.factor:g}")
        times, over = Fraction(str(self.factor)).as_integer_ratio()
        object.__setattr__(self, "_times", times)
        object.__setattr__(self, "_over", over)

    def __repr__(self) -> str:
        return f"ScaledCounter({self.counter!r}, {self.factor:g})"

    @property
    def tokens_per_byte(self) -> float | None:
        """The most tokens that one byte can have; None where that is not known."""
        unscaled = most_tokens_per_byte(self.counter)
        return None if unscaled is None else unscaled * self.factor

    def count(self, text: str) -> int:
        """Return the scaled tokens of `text`, rounded up."""
        return -(-self.counter.count(text) * self._times // self._over)

    def exceeds(self, text: str, limit: int) -> bool:
        """Return whether `text` has more than `limit` scaled tokens."""
        return limit < 0 or self.counter.exceeds(text, self._unscaled(limit))

    def prefix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of the longest prefix within `limit` scaled tokens."""
        return self.counter.prefix_length(text, self._unscaled(limit))

    def suffix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of the longest suffix within `limit` scaled tokens."""
        return self.counter.suffix_length(text, self._unscaled(limit))

    def _unscaled(self, limit: int) -> int:
        return limit * self._over // self._times


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LargestCounter:
    """The largest of the counts of several counters, for a model whose own tokenizer is not published.

    Args:
        counters: At least one.
        name: What the report calls this estimate.

    Raises:
        ValueError: `counters` is empty.
    """

    counters: tuple[TokenCounter, ...]
    name: str
    # One look-up instead of one for each counter.
    _cache: CountCache = field(init=False, compare=False, default_factory=CountCache)

    exact = False

    def __post_init__(self) -> None:
        if not self.counters:
            message = "`counters` must hold at least one counter, got none"
            raise ValueError(message)

    def __repr__(self) -> str:
        return f"LargestCounter({self.name!r})"

    @property
    def tokens_per_byte(self) -> float | None:
        """The most tokens that one byte can have; None where that is not known."""
        found = [most_tokens_per_byte(counter) for counter in self.counters]
        return None if None in found else max(most for most in found if most is not None)

    def __reduce__(self) -> tuple[Callable[..., LargestCounter], tuple[()]]:
        return partial(LargestCounter, counters=self.counters, name=self.name), ()

    def count(self, text: str) -> int:
        """Return the most tokens that one of the counters has for `text`."""
        tokens = self._cache.get(text)
        if tokens is None:
            tokens = max([counter.count(text) for counter in self.counters])
            self._cache.store(text, tokens)
        return tokens

    def cached_count(self, text: str) -> int | None:
        """Return what `count` returns where it is known without counting, else None."""
        return self._cache.get(text)

    def exceeds(self, text: str, limit: int) -> bool:
        """Return whether `text` has more than `limit` tokens by one of the counters."""
        return any(counter.exceeds(text, limit) for counter in self.counters)

    def prefix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of a prefix that is within `limit` tokens by all of the counters."""
        return self._within_all(text, lambda counter, part: part[: counter.prefix_length(part, limit)])

    def suffix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of a suffix that is within `limit` tokens by all of the counters."""
        return self._within_all(text, lambda counter, part: part[len(part) - counter.suffix_length(part, limit) :])

    def _within_all(self, text: str, cut: Callable[[TokenCounter, str], str]) -> int:
        """Return the length that no counter shortens any more: a part may have more tokens alone than in the whole."""
        length = -1
        while length != len(text):
            length = len(text)
            for counter in self.counters:
                text = cut(counter, text)
        return length
