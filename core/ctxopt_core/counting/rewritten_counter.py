"""Counts of strings as Mistral's template writes them: JSON with spaces, and the results of tools as JSON strings."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from ctxopt_core.counting.split_points import longest_fitting, part_of
from ctxopt_core.counting.token_counter import TokenCounter, cached_counts_of
from ctxopt_core.runtime.text_cache import CountCache

_OPENING = ("{", "[")


class RewrittenCounter:
    """Another counter, except that a string which the provider rewrites counts as it is rewritten, if that is more.

    Mistral reads the arguments of a call and the result of a tool, where they are JSON, and writes them with a space
    after each comma and colon. Which of them a string is cannot be seen, so that every string that is a JSON object or
    array counts so; other strings count as they are.

    Args:
        counter: Counts strings.
        escapes: Whether other strings count as the content of a JSON string, as older templates write results.
    """

    __slots__ = ("_cache", "_cached", "_counter", "_escapes", "exact", "name")

    def __init__(self, counter: TokenCounter, *, escapes: bool = False) -> None:
        self._counter = counter
        self._escapes = escapes
        # Counts of rewritten strings, by the strings before.
        self._cache = CountCache()
        self._cached = cached_counts_of(counter)
        self.name = counter.name
        self.exact = counter.exact

    def __repr__(self) -> str:
        return f"RewrittenCounter({self._counter!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RewrittenCounter):
            return NotImplemented
        return self._counter == other._counter and self._escapes == other._escapes

    def __hash__(self) -> int:
        return hash((RewrittenCounter, self._counter, self._escapes))

    def __reduce__(self) -> tuple[Callable[..., RewrittenCounter], tuple[TokenCounter]]:
        return partial(RewrittenCounter, escapes=self._escapes), (self._counter,)

    def count(self, text: str) -> int:
        """Return the tokens of `text`, as it is or as it is rewritten, whichever is more."""
        if not text or not self._may_be_rewritten(text):
            return self._counter.count(text)
        tokens = self._cache.get(text)
        if tokens is None:
            tokens = max(self._counter.count(text), self._counter.count(self._rewritten(text)))
            self._cache.store(text, tokens)
        return tokens

    def cached_count(self, text: str) -> int | None:
        """Return what `count` returns where it is known without counting, else None."""
        return self._cache.get(text) if text and self._may_be_rewritten(text) else self._cached(text)

    def exceeds(self, text: str, limit: int) -> bool:
        """Return whether `text` has more than `limit` tokens."""
        if self._counter.exceeds(text, limit):
            return True
        return bool(text) and self._may_be_rewritten(text) and self.count(text) > limit

    def prefix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of the longest prefix within `limit` tokens."""
        return self._longest(text, self._counter.prefix_length(text, limit), limit, from_end=False)

    def suffix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of the longest suffix within `limit` tokens."""
        return self._longest(text, self._counter.suffix_length(text, limit), limit, from_end=True)

    def _longest(self, text: str, most: int, limit: int, *, from_end: bool) -> int:
        if most == 0 or not self.exceeds(part_of(text, most, from_end=from_end), limit):
            return most
        return longest_fitting(most - 1, lambda n: not self.exceeds(part_of(text, n, from_end=from_end), limit))

    def _may_be_rewritten(self, text: str) -> bool:
        return self._escapes or text.lstrip()[:1] in _OPENING

    def _rewritten(self, text: str) -> str:
        try:
            return json.dumps(json.loads(text), ensure_ascii=False)
        except (ValueError, RecursionError):
            return json.dumps(text, ensure_ascii=False)[1:-1] if self._escapes else text
