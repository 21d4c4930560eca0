"""Any function from a string to its tokens, as a token counter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sized
from functools import partial

from ctxopt_core.counting.split_points import longest_fitting, part_of
from ctxopt_core.runtime.text_cache import CountCache

TokenFunction = Callable[[str], float | Sized]
"""From a string to the number of its tokens, or to the tokens: a list, an array, or a mapping with `input_ids`."""


class CallableCounter:
    """Count with a custom function: a Hugging Face tokenizer, a framework's counter, `len`.

    The function must be deterministic. Its results are cached.

    Args:
        function: From a string to the number of its tokens, where a fraction is rounded up, or to the tokens. It is
            called with whole strings and with parts of them.
        name: What the report calls this tokenizer.
        exact: Whether the counts are those of the provider; False for estimates.
        cache: Where counts are kept; by default a cache of this counter alone.

    Raises:
        TypeError: `function` is not callable.

    Example:
        >>> from ctxopt_core import CallableCounter
        >>> counter = CallableCounter(str.split, name="words")
        >>> counter.count("The capital of Italy is Rome.")
        6
    """

    __slots__ = ("_cache", "_function", "exact", "name")

    def __init__(
        self,
        function: TokenFunction,
        *,
        name: str = "callable",
        exact: bool = True,
        cache: CountCache | None = None,
    ) -> None:
        if not callable(function):
            message = f"`function` must be callable (string -> tokens), got {type(function).__name__}"
            raise TypeError(message)
        self._function = function
        self._cache = CountCache() if cache is None else cache
        self.name = name
        self.exact = exact

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return partial(CallableCounter, name=self.name, exact=self.exact), (self._function,)

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`; an empty or missing string has none."""
        if not text:
            return 0
        tokens = self._cache.get(text)
        if tokens is None:
            tokens = self._tokens(text)
            self._cache.store(text, tokens)
        return tokens

    def exceeds(self, text: str, limit: int) -> bool:
        """Return whether `text` has more than `limit` tokens."""
        return limit < 0 or self.count(text) > limit

    def prefix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of the longest prefix within `limit` tokens."""
        return self._longest(text, limit, from_end=False)

    def suffix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of the longest suffix within `limit` tokens."""
        return self._longest(text, limit, from_end=True)

    def _longest(self, text: str, limit: int, *, from_end: bool) -> int:
        if limit <= 0 or not text:
            return 0
        if self.count(text) <= limit:
            return len(text)
        # Parts are not cached: most of them are counted once.
        return longest_fitting(len(text) - 1, lambda n: self._tokens(part_of(text, n, from_end=from_end)) <= limit)

    def _tokens(self, text: str) -> int:
        found = self._function(text)
        if isinstance(found, Mapping):
            found = found["input_ids"]
        tokens = len(found) if isinstance(found, Sized) else math.ceil(found)
        if tokens < 0:
            message = f"`function` must return the tokens of a string, 0 or more, got {tokens} from {self.name!r}"
            raise ValueError(message)
        return tokens
