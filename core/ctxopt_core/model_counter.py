"""A token counter that also knows how the provider of a model counts what is not text."""

from __future__ import annotations

from ctxopt_core.provider_rules import ProviderRules
from ctxopt_core.tokens import TokenCounter, memory_of


class ModelCounter:
    """Counts texts as another counter does, and carries the rules of a model's provider.

    Whoever counts messages or schemas is handed a counter, so that the rules are wherever they are needed.

    Args:
        counter: Counts texts.
        rules: How attachments are counted.
    """

    __slots__ = (
        "_counter",
        "count",
        "exact",
        "exceeds",
        "known",
        "name",
        "prefix_length",
        "rules",
        "suffix_length",
    )

    def __init__(self, counter: TokenCounter, rules: ProviderRules) -> None:
        self._counter = counter
        self.rules = rules
        self.name = counter.name
        self.exact = counter.exact
        # Bound here, so that counting a text costs no further call.
        self.count = counter.count
        self.exceeds = counter.exceeds
        self.prefix_length = counter.prefix_length
        self.suffix_length = counter.suffix_length
        self.known = memory_of(counter)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._counter!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ModelCounter):
            return NotImplemented
        return self._counter == other._counter and self.rules == other.rules

    def __hash__(self) -> int:
        return hash((type(self), self._counter, self.rules))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._counter, self.rules)
