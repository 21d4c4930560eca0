"""Counts of strings as Mistral's template writes them: JSON with spaces, and the results of tools as JSON strings."""

from __future__ import annotations

import json
import re

from ctxopt_core.counting.split_points import longest_fitting, part_of
from ctxopt_core.counting.token_counter import TokenCounter, cached_counts_of
from ctxopt_core.runtime.text_cache import CountCache

# What is escaped in a JSON string, and what JSON that is written with other blanks begins with.
_REWRITTEN = re.compile(r'["\\\x00-\x1f]|\A\s*[{\[\d-]')


class RewrittenCounter:
    """Another counter, except that a string which the provider rewrites counts as it is rewritten, if that is more.

    Mistral's templates read the arguments of a call and the result of a tool, where they are JSON, and write them with
    a space after each comma and colon. The template v3 writes any other result as a JSON string, with its line breaks
    and quotation marks escaped. Neither what a string is for nor the template of a hosted model can be seen, so that
    every string counts so.

    Args:
        counter: Counts strings.
    """

    __slots__ = ("_cache", "_cached", "_counter", "exact", "name")

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        # Counts of rewritten strings, by the strings before.
        self._cache = CountCache()
        self._cached = cached_counts_of(counter)
        self.name = counter.name
        self.exact = counter.exact

    def __repr__(self) -> str:
        return f"RewrittenCounter({self._counter!r})"

    def __eq__(self, other: object) -> bool:
        return self._counter == other._counter if isinstance(other, RewrittenCounter) else NotImplemented

    def __hash__(self) -> int:
        return hash((RewrittenCounter, self._counter))

    def __reduce__(self) -> tuple[type[RewrittenCounter], tuple[TokenCounter]]:
        return RewrittenCounter, (self._counter,)

    def count(self, text: str) -> int:
        """Return the tokens of `text`, as it is or as it is rewritten, whichever is more."""
        if not _is_rewritten(text):
            return self._counter.count(text)
        tokens = self._cache.get(text)
        if tokens is None:
            tokens = max(self._counter.count(text), self._counter.count(_rewritten(text)))
            self._cache.store(text, tokens)
        return tokens

    def cached_count(self, text: str) -> int | None:
        """Return what `count` returns where it is known without counting, else None."""
        return self._cache.get(text) if _is_rewritten(text) else self._cached(text)

    def exceeds(self, text: str, limit: int) -> bool:
        """Return whether `text` has more than `limit` tokens."""
        if self._counter.exceeds(text, limit):
            return True
        return _is_rewritten(text) and self.count(text) > limit

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


def _is_rewritten(text: str) -> bool:
    return bool(text) and _REWRITTEN.search(text) is not None


def _rewritten(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return json.dumps(text, ensure_ascii=False)[1:-1]
