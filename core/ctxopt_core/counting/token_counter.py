"""The protocol of a token counter, and the cache that a counter brings with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable


@runtime_checkable
class TokenCounter(Protocol):
    """Counts the tokens of a text.

    1. `count` is deterministic and never negative; an empty text counts 0. Special tokens are ordinary text.
    2. `exceeds(text, limit)` equals `count(text) > limit`, and may stop reading early.
    3. `prefix_length(text, limit)` is the length in characters of a prefix that itself counts at most `limit`
       tokens, as long as the tokenizer's borders allow; it never ends inside a code point. `suffix_length` mirrors it.
    4. `exact` is False when the figures are estimates. An estimate leans towards too many.
    5. Counts of two texts do not add up to that of their join, unless they are parted where the tokenizer parts them.
    6. Every method may be called from any thread.
    """

    @property
    def name(self) -> str:
        """The tokenizer's name, for the report."""

    @property
    def exact(self) -> bool:
        """Whether the figures are what the provider counts."""

    def count(self, text: str) -> int:
        """Return the tokens of `text`."""

    def exceeds(self, text: str, limit: int) -> bool:
        """Tell whether `text` counts more than `limit` tokens."""

    def prefix_length(self, text: str, limit: int) -> int:
        """Return the characters of a longest prefix within `limit` tokens."""

    def suffix_length(self, text: str, limit: int) -> int:
        """Return the characters of a longest suffix within `limit` tokens."""


def memory_of(counter: TokenCounter) -> Callable[[str], int | None]:
    """Return the function that tells counts which `counter` remembers, or None, without counting.

    That is its `known`, where it has one; a counter need not.
    """
    known: Callable[[str], int | None] = getattr(counter, "known", _nothing_known)
    return known


def _nothing_known(text: str) -> int | None:  # noqa: ARG001
    return None
