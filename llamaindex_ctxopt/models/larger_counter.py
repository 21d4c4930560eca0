"""Two tokenizers at once: a request must be within the model's count and within LlamaIndex's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ctxopt_core import TokenCounter


@dataclass(frozen=True, slots=True)
class MaxCounter:
    """Counts each text by two counters, and tells the larger figure.

    The model's tokenizer decides what is over its window, LlamaIndex's how many calls it makes. Shares that were worked
    out by the one would not hold where the other counts higher.

    Args:
        first: The model's.
        second: LlamaIndex's.
    """

    first: TokenCounter
    second: TokenCounter

    @property
    def name(self) -> str:
        """The names of both."""
        return f"the larger of {self.first.name} and {self.second.name}"

    @property
    def exact(self) -> bool:
        """The figures may be higher than what the provider counts."""
        return False

    @property
    def rules(self) -> Any:
        """What the model's counter, the first, knows of what is not text; no attribute where that is nothing."""
        return self.first.rules  # type: ignore[attr-defined]

    def count(self, text: str) -> int:
        """Return the larger of both counts."""
        return max(self.first.count(text), self.second.count(text))

    def exceeds(self, text: str, limit: int) -> bool:
        """Tell whether one of them counts more than `limit`."""
        return self.first.exceeds(text, limit) or self.second.exceeds(text, limit)

    def prefix_length(self, text: str, limit: int) -> int:
        """Return how many characters from the start count at most `limit` by both."""
        length = len(text)
        while (shorter := self._prefix(text[:length], limit)) < length:
            length = shorter
        return length

    def suffix_length(self, text: str, limit: int) -> int:
        """Return how many characters up to the end count at most `limit` by both."""
        length = len(text)
        while (shorter := self._suffix(text[len(text) - length :], limit)) < length:
            length = shorter
        return length

    def _prefix(self, text: str, limit: int) -> int:
        kept = self.first.prefix_length(text, limit)
        return self.second.prefix_length(text[:kept], limit)

    def _suffix(self, text: str, limit: int) -> int:
        kept = self.first.suffix_length(text, limit)
        return self.second.suffix_length(text[len(text) - kept :], limit)


def larger(first: TokenCounter, second: TokenCounter) -> TokenCounter:
    """Return a counter that tells the larger figure of both; the first where both are of one tokenizer."""
    return first if first.name == second.name else MaxCounter(first, second)
