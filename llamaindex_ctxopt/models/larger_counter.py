"""A token counter that returns the larger figure of two tokenizers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ctxopt_core import TokenCounter


@dataclass(frozen=True, slots=True)
class MaxCounter:
    """Counts each string by two counters and returns the larger figure.

    The model's tokenizer decides what is over its window, LlamaIndex's how many calls it makes. Shares that were
    computed by one of them would not hold where the other counts more.

    Args:
        first: The model's counter.
        second: LlamaIndex's counter.
    """

    first: TokenCounter
    second: TokenCounter

    @property
    def name(self) -> str:
        """The names of both."""
        return f"the larger of {self.first.name} and {self.second.name}"

    @property
    def exact(self) -> bool:
        """False: the figures may be higher than what the provider counts."""
        return False

    @property
    def rules(self) -> Any:
        """The rules of the model's provider for attachments and schemas; no attribute where its counter has none."""
        return self.first.rules  # type: ignore[attr-defined]

    def count(self, text: str) -> int:
        """Return the larger of both counts."""
        return max(self.first.count(text), self.second.count(text))

    def exceeds(self, text: str, limit: int) -> bool:
        """Return whether one of them counts more than `limit`."""
        return self.first.exceeds(text, limit) or self.second.exceeds(text, limit)

    def prefix_length(self, text: str, limit: int) -> int:
        """Return how many characters from the start have at most `limit` tokens by both."""
        length = len(text)
        while True:
            # A prefix that the second counter shortens may have more tokens by the first than the longer one had.
            kept = self.first.prefix_length(text[:length], limit)
            kept = self.second.prefix_length(text[:kept], limit)
            if kept == length:
                return length
            length = kept

    def suffix_length(self, text: str, limit: int) -> int:
        """Return how many characters up to the end have at most `limit` tokens by both."""
        length = len(text)
        while True:
            kept = self.first.suffix_length(text[len(text) - length :], limit)
            kept = self.second.suffix_length(text[len(text) - kept :], limit)
            if kept == length:
                return length
            length = kept


def larger(first: TokenCounter, second: TokenCounter) -> TokenCounter:
    """Return a counter with the larger figure of both; the first itself where both have the same tokenizer."""
    return first if first.name == second.name else MaxCounter(first, second)
