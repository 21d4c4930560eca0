"""How rare a word is in general, told by its place in a tokenizer's vocabulary."""

from __future__ import annotations

import math
from functools import lru_cache

from ctxopt_core.vocabulary import load_encoding

_ENCODING = "o200k_base"
_MOST_COMMON = 300
_RARE = 20_000
_LONGEST_WORD = 40


@lru_cache(maxsize=16_384)
def rarity(piece: str) -> float:
    """Return how rare a piece of text is in general: 0.0 for the most common ones, 1.0 for a rare or unknown one.

    A byte-pair vocabulary lists its pieces in the order in which they were joined, the most frequent first (Sennrich et
    al. 2016), so the place of a piece tells how frequent it was in the texts that the vocabulary was made of, in all
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
