"""The terms of a text with how often it holds each, worked out once."""

from __future__ import annotations

import sys
from collections import Counter
from typing import NamedTuple

from ctxopt_core.relevance import BYTES_PER_TERM, tokenize
from ctxopt_core.text_memory import TextMemory


class CountedTerms(NamedTuple):
    """How often a text holds each of its terms, and how many terms it has in all."""

    counts: dict[str, int]
    length: int


def counted_terms(text: str) -> CountedTerms:
    """Return the counted terms of a text, remembered from an earlier call where there was one. They are shared."""
    known = _remembered.get(text)
    if known is None:
        terms = tokenize(text)
        known = CountedTerms(Counter(terms), len(terms))
        _remembered.store(text, known, sys.getsizeof(text) + BYTES_PER_TERM * len(known.counts))
    return known


_remembered: TextMemory[CountedTerms] = TextMemory()
