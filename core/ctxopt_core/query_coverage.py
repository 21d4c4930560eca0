"""Which of the query's words are in which documents, and what the query asks about that none of the kept ones holds."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from ctxopt_core.relevance import fold

_MOST_TERMS = 64


class QueryCoverage:
    """The query's terms in some documents, each weighed by how few of them hold it.

    A term is looked for as a piece of text, so that thousands of documents cost little; inside a longer word it counts
    as well.

    Args:
        terms: The terms of the query; of very many the longest are looked at.
        texts: The texts of the documents, by index.
    """

    def __init__(self, terms: Collection[str], texts: Mapping[int, str]) -> None:
        self._terms = sorted(terms, key=lambda term: (-len(term), term))[:_MOST_TERMS]
        self._held = {index: self.held(text) for index, text in texts.items()}
        self._weights = self._weigh()
        self._total = math.fsum(self._weights.values())

    def held(self, text: str) -> frozenset[str]:
        """Return the terms that a text holds."""
        folded = fold(text) if self._terms else ""
        return frozenset(term for term in self._terms if term in folded)

    def share(self, index: int) -> float:
        """Return how much of the query's weight a document holds, from 0 to 1."""
        return math.fsum(self._weights[term] for term in self._held[index]) / self._total if self._total else 0.0

    def missing(self, whole: Iterable[int], texts: Iterable[str]) -> frozenset[str]:
        """Return the terms that some document holds, but none of the whole documents or texts that are kept."""
        present = frozenset[str]().union(*(self._held[index] for index in whole), *map(self.held, texts))
        return frozenset(term for term in self._weights if term not in present)

    def best_source(self, missing: frozenset[str], indices: Iterable[int], least_share: float) -> int | None:
        """Return the document that holds most of the missing terms, the first of equal ones.

        Args:
            missing: The terms that are looked for.
            indices: The documents to look in, best first.
            least_share: How much of the query's weight it must hold, from 0 to 1; None is returned if none does.
        """
        best, most = None, least_share * self._total
        for index in indices:
            gain = math.fsum(self._weights[term] for term in missing & self._held[index])
            if gain > most:
                best, most = index, gain
        return best

    def _weigh(self) -> dict[str, float]:
        spread = {term: sum(term in held for held in self._held.values()) for term in self._terms}
        documents = len(self._held)
        return {
            term: math.log1p((documents - holding + 0.5) / (holding + 0.5))
            for term, holding in spread.items()
            if holding
        }
