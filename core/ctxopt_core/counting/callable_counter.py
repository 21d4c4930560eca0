"""Any function from text to tokens, as a token counter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sized

from ctxopt_core.runtime.text_cache import CountCache

TokenFunction = Callable[[str], float | Sized]
"""Text to the number of its tokens, or to the tokens themselves: a list, an array, or a mapping with `input_ids`."""


class CallableCounter:
    """Count with a function of the caller's: a Hugging Face tokenizer, a framework's counter, `len`.

    Nothing is assumed of the function but that it is deterministic. Its results are cached.

    Args:
        function: Text to the number of its tokens, where a fraction is rounded up, or to the tokens themselves, which
            are counted. It may be asked about any piece of a text.
        name: What the report calls this tokenizer.
        exact: Whether the function counts what the provider counts, or estimates it.

    Raises:
        TypeError: `function` cannot be called.
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
            message = f"`function` must be callable (text -> tokens), got {type(function).__name__}"
            raise TypeError(message)
        self._function = function
        self._cache = CountCache() if cache is None else cache
        self.name = name
        self.exact = exact

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self._function, self.name, self.exact)

    def count(self, text: str) -> int:
        """Return the tokens of `text`; an empty or missing text counts 0."""
        if not text:
            return 0
        known = self._cache.get(text)
        if known is None:
            known = self._tokens(text)
            self._cache.store(text, known)
        return known

    def exceeds(self, text: str, limit: int) -> bool:
        """Tell whether `text` counts more than `limit` tokens."""
        return limit < 0 or self.count(text) > limit

    def prefix_length(self, text: str, limit: int) -> int:
        """Return how many characters from the start count at most `limit` tokens."""
        return self._longest(text, limit, lambda length: text[:length])

    def suffix_length(self, text: str, limit: int) -> int:
        """Return how many characters up to the end count at most `limit` tokens."""
        return self._longest(text, limit, lambda length: text[len(text) - length :])

    def _longest(self, text: str, limit: int, part: Callable[[int], str]) -> int:
        if limit <= 0 or not text:
            return 0
        if self.count(text) <= limit:
            return len(text)
        low, high = 0, len(text) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._tokens(part(middle)) <= limit:
                low = middle
            else:
                high = middle - 1
        return low

    def _tokens(self, text: str) -> int:
        found = self._function(text)
        if isinstance(found, Mapping):
            found = found["input_ids"]
        tokens = len(found) if isinstance(found, Sized) else math.ceil(found)
        if tokens < 0:
            message = f"`function` must return the tokens of a text, 0 or more, got {tokens} from {self.name!r}"
            raise ValueError(message)
        return tokens


def _rebuild(function: TokenFunction, name: str, exact: bool) -> CallableCounter:  # noqa: FBT001
    return CallableCounter(function, name=name, exact=exact)
