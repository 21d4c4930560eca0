"""What a query says: its terms, what each is worth, and how much they say together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from ctxopt_core.relevance import fold, is_unspaced, terms_of_word, words
from ctxopt_core.word_rarity import rarity

_LEAST_WEIGHT = 0.05
_MOST_WORDS = 1_000
_MOST_TERMS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerms:
    """The terms of a query.

    Args:
        text: The query itself.
        weights: What each term is worth, from 0.05 for a word that is everywhere to 1.0 for a rare one.
        informative_characters: The characters of the query's different words, each counted by the word's weight.
    """

    text: str = field(default="", repr=False)
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    informative_characters: float = 0.0


@lru_cache(maxsize=64)
def query_terms(query: str) -> QueryTerms:
    """Return the terms of a query. Of a very long one the first thousand different words are looked at."""
    weights: dict[str, float] = {}
    characters = 0.0
    for word in list(dict.fromkeys(words(fold(query))))[:_MOST_WORDS]:
        terms = dict.fromkeys(terms_of_word(word))
        spaced = not is_unspaced(word)
        shares = [max(_LEAST_WEIGHT, rarity(f" {word}" if spaced else term)) for term in terms]
        for term, weight in zip(terms, shares, strict=True):
            weights[term] = max(weight, weights.get(term, 0.0))
        if len(weights) > _MOST_TERMS:
            break
        characters += len(word) * sum(shares) / len(shares)
    return QueryTerms(text=query, weights=MappingProxyType(weights), informative_characters=characters)
