"""BM25 over the texts of a conversation: a question touches only the texts that hold its words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from struct import unpack

from ctxopt_core.relevance.bm25 import LENGTH_NORM, SATURATION
from ctxopt_core.relevance.word_blocks import Held, blocks_of

# Terms of a question that are looked for, those of most weight: each is sought in all new texts.
_MOST_TERMS = 10
_COORDINATION = 3.0  # times the score that a string with all words of a question gets more
_REACH = 3  # texts on either side of another that count with it for how much of a question is there
_BITS = 8  # terms that have a bit each in the byte of each text
_LEAST_DAMPING = SATURATION * (1.0 - LENGTH_NORM)  # of the occurrences of a term in a string of no length


class IndexedTexts:
    """The texts of a conversation with what is remembered of their words.

    Args:
        texts: The texts, oldest first.

    Example:
        >>> texts = IndexedTexts(["The kiln cracked.", "Snow fell.", "A wall cracked."])
        >>> [round(score, 1) for score in texts.scores({"kiln": 1.0, "cracke": 1.0})]
        [2.7, 0.0, 0.7]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._length = len(texts)
        self._blocks = blocks_of(texts)
        self._mean_characters = max(1.0, sum(block.characters for _, block in self._blocks) / max(1, len(texts)))

    def scores(self, weights: Mapping[str, float]) -> list[float]:
        """Return the score of each text; 0.0 where it holds no term.

        The score is BM25, times one more than the part of the question that the text and the three on either side of it
        hold (coordination, as Lucene had it): a string with all words of the question is better than one with the same
        word many times, and what is asked in one message is answered in the next.
        """
        rows, worths, total = self._found(_heaviest(weights))
        if not rows:
            return [0.0] * self._length
        held, near = self._masks(rows)
        sums = _sums(worths)
        raising = _COORDINATION / total
        slope = SATURATION * LENGTH_NORM / self._mean_characters
        once = 1.0 + _LEAST_DAMPING
        lengths = chain.from_iterable([block.lengths for _, block in self._blocks])
        scores = [
            sums[terms] * (1.0 + raising * sums[around]) / (once + slope * length) if terms else 0.0
            for terms, around, length in zip(held, near, lengths, strict=True)
        ]
        for row, worth in zip(rows, worths, strict=True):
            for (start, block), found in zip(self._blocks, row, strict=True):
                if found.repeated:
                    lengths_here, repeated = block.lengths, found.repeated
                    for n in dict.fromkeys(repeated):
                        times, damping = 1 + repeated.count(n), _LEAST_DAMPING + slope * lengths_here[n]
                        more = times / (times + damping) - 1.0 / (1.0 + damping)
                        scores[start + n] += worth * more * (1.0 + raising * sums[near[start + n]])
        return scores

    def _found(self, weights: Mapping[str, float]) -> tuple[list[list[Held]], list[float], float]:
        """Return where each term is in each block, how much it is worth, and how much all terms are.

        Terms that no text holds are worth something, and are not among the others.
        """
        rows: list[list[Held]] = []
        worths: list[float] = []
        total = 0.0
        for term, weight in weights.items():
            row = [block.holding(term) for _, block in self._blocks]
            holding = sum([found.number for found in row])
            worth = weight * self._rarity(holding)
            total += worth
            if holding:
                rows.append(row)
                worths.append(worth)
        return rows, worths, total

    def _masks(self, rows: Sequence[Sequence[Held]]) -> tuple[Sequence[int], Sequence[int]]:
        """Return for each text which terms it holds, a bit for each, and which of them it and those around it hold.

        There are at most sixteen terms: two bytes for each text.
        """
        bytes_of = [self._mask_bytes(rows[first : first + _BITS]) for first in range(0, len(rows), _BITS)]
        return _joined([held for held, _ in bytes_of]), _joined([near for _, near in bytes_of])

    def _mask_bytes(self, rows: Sequence[Sequence[Held]]) -> tuple[bytes, bytes]:
        """Return the masks of up to eight terms, a byte for each text."""
        parts: list[bytes] = []
        for (_, block), column in zip(self._blocks, zip(*rows, strict=True), strict=True):
            mask = 0
            for bit, found in enumerate(column):
                mask |= found.texts << bit
            parts.append(mask.to_bytes(len(block.lengths), "little"))
        held = b"".join(parts)
        around = int.from_bytes(held, "little")
        # The next byte is that of the next text. In three steps each text gets the terms of the six before it, twice
        # `_REACH`; they are meant for the one in the middle of these seven.
        around |= around << 8
        around |= around << 16
        around |= around << 24
        return held, around.to_bytes(self._length + 2 * _REACH, "little")[_REACH:-_REACH]

    def _rarity(self, holding: int) -> float:
        """Return Lucene's inverse document frequency of a term that so many texts hold, times the most of its share."""
        return (SATURATION + 1.0) * math.log1p((self._length - holding + 0.5) / (holding + 0.5))


def _sums(worths: Sequence[float]) -> list[float]:
    """Return how much some terms are worth together, by the number that has a bit for each of them."""
    sums = [0.0]
    for worth in worths:
        sums += [others + worth for others in sums]
    return sums


def _joined(masks: Sequence[bytes]) -> Sequence[int]:
    """Return the masks of all terms as numbers: the first eight have the lowest bits, the others the bits above."""
    if len(masks) == 1:
        return masks[0]
    pairs = bytearray(2 * len(masks[0]))
    pairs[::2], pairs[1::2] = masks
    return unpack(f"<{len(masks[0])}H", pairs)


def _heaviest(weights: Mapping[str, float]) -> Mapping[str, float]:
    if len(weights) <= _MOST_TERMS:
        return weights
    ordered = sorted([(-weight, -len(term), term) for term, weight in weights.items()])
    return {term: -weight for weight, _, term in ordered[:_MOST_TERMS]}
