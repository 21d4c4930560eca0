"""Any function from a string to its tokens, as a token counter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sized
from functools import partial

from ctxopt_core.counting.split_points import longest_fitting, part_of
from ctxopt_core.runtime.call_or_await import is_coroutine_function
from ctxopt_core.runtime.text_cache import CountCache

TokenFunction = Callable[[str], float | Sized]
"""From a string to the number of its tokens, or to the tokens: a list, an array, or a mapping with `input_ids`."""
# What a function that counts messages raises for a string. Other errors are the function's own and come through.
_TAKES_NO_STRING = (TypeError, AttributeError, LookupError)


def is_awaited(function: object) -> bool:
    """Return whether a function, an object that is called as one, or a `partial` of either has to be awaited."""
    while isinstance(function, partial):
        function = function.func
    return is_coroutine_function(function)


class CallableCounter:
    """Count with a custom function: a Hugging Face tokenizer, a framework's counter, `len`.

    The function must be deterministic. Its results are cached. `len` counts the characters of a string.

    Args:
        function: From a string to the number of its tokens, where a fraction is rounded up, or to the tokens. It is
            called with whole strings and with parts of them.
        name: What the report calls this tokenizer.
        exact: Whether the counts are those of the provider; False for estimates.
        cache: Where counts are kept; by default a cache of this counter alone.

    Raises:
        TypeError: `function` is not callable, or it has to be awaited. When it is used: it takes no string, or it
            returns neither a number nor tokens.
        ValueError: When it is used: it returns a number that is negative or not finite.

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
        if is_awaited(function):
            message = f"`function` must be a plain function (string -> tokens), got {name}, which has to be awaited"
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
        try:
            found: object = self._function(text)
        except _TAKES_NO_STRING as error:
            message = (
                f"a token counter must take a string, and {self.name!r} raises {type(error).__name__} for one; a "
                "function that counts messages is no token counter: pass a model name, a tokenizer or 'approximate'"
            )
            raise TypeError(message) from error
        if isinstance(found, Mapping) and "input_ids" in found:
            found = found["input_ids"]
        if isinstance(found, Sized) and not isinstance(found, (str, bytes, Mapping)):
            return len(found)
        if isinstance(found, bool) or not hasattr(type(found), "__float__"):
            if close := getattr(found, "close", None):
                close()  # a coroutine, which would warn that nobody awaits it
            message = (
                "a token counter must return the number of tokens of a string, or the tokens, got "
                f"{type(found).__name__} from {self.name!r}"
            )
            raise TypeError(message)
        number = float(found)  # type: ignore[arg-type]  # it has `__float__`
        if not 0 <= number < math.inf:
            message = (
                f"a token counter must return the tokens of a string, 0 or more, got {number:g} from {self.name!r}"
            )
            raise ValueError(message)
        return math.ceil(number)
