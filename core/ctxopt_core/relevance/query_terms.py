"""The terms of a query, and the weight of each by how rare it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from ctxopt_core.counting.encodings import load_encoding
from ctxopt_core.relevance.bm25 import fold, is_unspaced, terms_of_word, words
from ctxopt_core.relevance.stems import light_terms

_LEAST_WEIGHT = 0.05  # of the most common word, so that a query of common words alone still finds something
_MOST_WORDS = 1_000  # words of a query that are looked at; bounds the time for a pasted page
_MOST_TERMS = 2_000  # terms of a query; a word of a script without blanks is a run of characters with many terms
_ENCODING = "o200k_base"
_MOST_COMMON = 300  # places of the vocabulary that are single bytes and the most common pieces: rarity 0.0
_RARE = 20_000  # place in the vocabulary of 200,000 from which on a piece counts as rare: rarity 1.0
_LONGEST_WORD = 40  # characters; longer words are no vocabulary items


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerms:
    """The terms of a query.

    Args:
        text: The query itself.
        weights: The weight of each term, from 0.05 for the most common word to 1.0 for a rare one.
    """

    text: str = field(default="", repr=False)
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


@lru_cache(maxsize=64)
def query_terms(query: str, *, light: bool = False) -> QueryTerms:
    """Return the terms of a query. Of a very long one the first thousand different words are looked at.

    Args:
        query: The query.
        light: Whether the terms are those of `light_stem`, by which the words of a conversation are compared.
    """
    weigh = _weigh_light if light else _weigh_six
    weights: dict[str, float] = {}
    for word in list(dict.fromkeys(words(fold(query))))[:_MOST_WORDS]:
        for term, weight in weigh(word):
            if weight > weights.get(term, 0.0):
                weights[term] = weight
        if len(weights) > _MOST_TERMS:
            break
    return QueryTerms(text=query, weights=MappingProxyType(weights))


@lru_cache(maxsize=8_192)
def _weigh_six(word: str) -> tuple[tuple[str, float], ...]:
    return _weighed(word, terms_of_word(word))


@lru_cache(maxsize=8_192)
def _weigh_light(word: str) -> tuple[tuple[str, float], ...]:
    return _weighed(word, light_terms(word))


def _weighed(word: str, terms: Iterable[str]) -> tuple[tuple[str, float], ...]:
    """Return the terms of a word with their weights."""
    spaced = not is_unspaced(word)
    return tuple((term, max(_LEAST_WEIGHT, rarity(f" {word}" if spaced else term))) for term in dict.fromkeys(terms))


@lru_cache(maxsize=16_384)
def rarity(piece: str) -> float:
    """Return how rare a piece of text is in general: 0.0 for the most common ones, 1.0 for a rare or unknown one.

    A byte-pair vocabulary lists its pieces in the order in which they were joined, the most frequent first (Sennrich et
    al. 2016), so the place of a piece shows how frequent it was in the texts that the vocabulary was made of, in all
    their languages. Between the 300th and the 20,000th place rarity grows with the logarithm of the place.

    Args:
        piece: A word in lower case with a blank before it, or a few characters of a script without blanks.
    """
    if len(piece) > _LONGEST_WORD:
        return 1.0
    try:
        place = load_encoding(_ENCODING).encode_single_token(piece.encode("utf-8", "surrogatepass"))
    except KeyError:
        return 1.0
    return min(1.0, max(0.0, math.log(max(place, 1) / _MOST_COMMON) / math.log(_RARE / _MOST_COMMON)))
