"""Texts as lists of terms, and which of them have a term."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain


class TermLists:
    """Texts that are given as lists of terms.

    Args:
        texts: The terms of each text, in their order.

    Attributes:
        texts: The same.
        lengths: How many terms each text has.

    Example:
        >>> units = TermLists([["kiln", "cracked", "kiln"], ["snow"]])
        >>> units.counts(["kiln"])
        [{'kiln': 2}, {}]
        >>> dict(units.holding(["kiln", "snow"]))
        {'kiln': 1, 'snow': 1}
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self.texts = texts
        self.lengths = list(map(len, texts))

    def counts(self, terms: Collection[str]) -> Sequence[Mapping[str, int]]:
        """Return for each text how often it has which of the terms."""
        wanted = frozenset(terms)
        return [{term: text.count(term) for term in wanted.intersection(text)} for text in self.texts]

    def holding(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return how many texts have each of the terms that any text has."""
        wanted = frozenset(terms)
        return Counter(chain.from_iterable(map(wanted.intersection, self.texts)))
