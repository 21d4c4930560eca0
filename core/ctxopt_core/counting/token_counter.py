"""The protocol of a token counter, and how to read the counts that a counter has cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable


@runtime_checkable
class TokenCounter(Protocol):
    """Counts the tokens of a string.

    1. `count` is deterministic and never negative; an empty string has 0 tokens. Special tokens are ordinary text.
    2. `exceeds(text, limit)` equals `count(text) > limit`, and may stop reading early.
    3. `prefix_length(text, limit)` is the length in characters of a prefix that has at most `limit` tokens by itself,
       as long as the tokenizer's borders allow; it never ends inside a code point. `suffix_length` mirrors it.
    4. `exact` is False when the counts are estimates. An estimate tends to be too high.
    5. The counts of two strings need not add up to that of their concatenation.
    6. Every method may be called from any thread.

    Example:
        >>> from ctxopt_core import TokenCounter, counter_for
        >>> isinstance(counter_for("gpt-4o"), TokenCounter)
        True
    """

    @property
    def name(self) -> str:
        """The tokenizer's name, for the report."""
        ...

    @property
    def exact(self) -> bool:
        """Whether the counts are those of the provider."""
        ...

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`."""
        ...

    def exceeds(self, text: str, limit: int) -> bool:
        """Return whether `text` has more than `limit` tokens."""
        ...

    def prefix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of the longest prefix within `limit` tokens."""
        ...

    def suffix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of the longest suffix within `limit` tokens."""
        ...


def cached_counts_of(counter: TokenCounter) -> Callable[[str], int | None]:
    """Return the function that returns the cached count of a string, or None, without counting.

    That is the `cached_count` of the counter; a counter without one has nothing cached.
    """
    nothing: dict[str, int] = {}
    cached: Callable[[str], int | None] = getattr(counter, "cached_count", nothing.get)
    return cached


def most_tokens_per_byte(counter: TokenCounter) -> float | None:
    """Return the most tokens that one byte of a string can have, rounding apart; None where that is not known.

    It is the `tokens_per_byte` of the counter: 1 where a token is at least one byte, and the factor of an estimate that
    multiplies. A function that counts may return anything.
    """
    found: float | None = getattr(counter, "tokens_per_byte", None)
    return found
