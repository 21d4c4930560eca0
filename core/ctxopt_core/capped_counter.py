"""Counting no further than a request can matter."""

from __future__ import annotations

from ctxopt_core.provider_rules import rules_of
from ctxopt_core.tokens import TokenCounter, memory_of

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
