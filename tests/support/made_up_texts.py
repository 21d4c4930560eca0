"""Texts of a wanted number of tokens: equal labels give equal texts, and no two labels share their sentences."""

from __future__ import annotations

import random
from functools import lru_cache

from request_tokens import count_text

VOCABULARY = """
anchor barrel basket beacon bellows brass bridge bucket cabin candle canvas captain chimney clerk cobble copper cradle
crane current dock drizzle ferry fisher flag flame fog foghorn frost gale gallery gate grain gravel gull hammer harbour
hatch herring hinge horizon ink iron island keel kettle ladder lantern ledger letter lock maple market mast merchant
mill mirror mist moon morning moss needle net oar oil orchard oven paddle parcel pier pilot plank pulley quarry rain
raven reed ribbon river roof rope rudder sail salt saw shed shutter signal silver slate sled snow spring stair steam
stone storm straw tar thimble thread tide timber tower trader valley wagon wall warehouse wave wheel whistle wick willow
"""


@lru_cache(maxsize=4096)
def text_of(label: str, tokens: int, encoding: str = "cl100k_base") -> str:
    """Return sentences that begin with `label` and count `tokens` tokens, or one or two fewer."""
    words = _words(label, tokens)
    low, high = 1, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        fits = count_text(" ".join(words[:middle]) + ".", encoding) <= tokens
        low, high = (middle, high) if fits else (low, middle - 1)
    return " ".join(words[:low]) + "."


def _words(label: str, count: int) -> list[str]:
    generator, vocabulary = random.Random(label), VOCABULARY.split()
    words = label.split()
    while len(words) < count + 1:
        sentence = generator.choices(vocabulary, k=generator.randint(6, 14))
        sentence[0] = sentence[0].capitalize()
        sentence[-1] += "."
        words += sentence
    return words
