"""Which texts share a substring, found by reading each text once or twice instead of comparing every pair.

A separator that is about equally frequent everywhere, such as a blank and a letter, cuts each text into pieces. A piece
between two separators is the same piece in every text that contains both, so texts that share a long substring share a
piece, wherever it is.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

_SPACINGS = (16, 128)  # characters from one separator to the next, least and most
_ROUNDS = 3  # separators that are tried for texts whose pieces decide nothing; each round reads all texts again
_SAMPLES = 16  # texts from which the separator is chosen, which bounds the time for that
_SAMPLE = 32  # characters of each, of which all pairs are counted
_LARGE_SAMPLE = 1_000  # characters of each, in which the candidates are counted
_CANDIDATES = 12  # characters and pairs that are counted in the large sample
_MOST_HOLDERS = 8  # texts that are named for one piece; one that many texts share, such as a footer, says little
_RAREST = 4  # rarest common pieces; an earlier text that has them all may contain the whole text
_MOST_LOOKED_AT = 256  # texts with a piece of which these four are looked for
_LOOKED_UP = 10_000_000  # characters that may at least be searched for texts without pieces: all, of a few small texts
_FEW = 64  # texts, or times all texts, that are searched whole without a further separator
_COST_OF_A_LOOK = 256  # characters that could be searched in the time of one call

Pieces = Sequence[set[str]]


def earlier_alike(
    texts: Sequence[str], *, pieces: int, least_share: float = 0.0, least_characters: int = 1
) -> dict[int, list[int]]:
    """Return for each text the earlier texts that should be compared with it, in their order.

    They share the given minimum with it. Every earlier text that contains it whole is among them, within two bounds
    that keep the cost linear: of the texts that share its rarest pieces the first 8 are named, and texts that are too
    short or too monotonous to be cut are searched for in at most 64 times the characters of all texts, or 10,000,000.

    Args:
        texts: Different texts, in the form in which they are compared.
        pieces: About how many pieces each text is cut into. More pieces find shorter shared substrings.
        least_share: The least share of the pieces that an earlier text must have, by characters.
        least_characters: The fewest characters of pieces that it must have.
    """
    found: dict[int, set[int]] = {}
    left = list(range(1, len(texts)))
    for turn in range(_ROUNDS):
        if len(left) <= (_FEW if turn else 0):
            break
        separator = _separator([texts[number] for number in left], pieces)
        cut = [set(text.split(separator)[1:-1]) for text in texts]
        left = _add_sharing(found, cut, left, least_share, least_characters)
    for number, others in _holding(texts, left).items():
        found.setdefault(number, set()).update(others)
    return {number: sorted(others) for number, others in found.items()}


def _separator(texts: Sequence[str], pieces: int) -> str:
    """Return the character or pair of characters that comes closest to cutting the median text into so many pieces."""
    middle = sorted(map(len, texts))[len(texts) // 2]
    spacing = min(max(middle // pieces, _SPACINGS[0]), _SPACINGS[1])
    texts = texts[:: -(-len(texts) // _SAMPLES)]
    sample = " ".join(_middle(text, _SAMPLE) for text in texts)
    counts = Counter(sample)
    counts.update(map("".join, pairwise(sample)))
    # A pair of equal characters in a longer run of them would cut equal stretches at different places.
    fit = [part for part in counts if len(part) < 2 or part[0] != part[1]]
    wanted = len(sample) / spacing
    fit = heapq.nsmallest(_CANDIDATES, fit, key=lambda part: (abs(counts[part] - wanted), part))
    sample = " ".join(_middle(text, _LARGE_SAMPLE) for text in texts)
    return min(fit, key=lambda part: (abs(sample.count(part) - len(sample) / spacing), part))


def _middle(text: str, size: int) -> str:
    start = max(0, (len(text) - size) // 2)
    return text[start : start + size]


def _add_sharing(
    found: dict[int, set[int]], pieces: Pieces, numbers: Sequence[int], least_share: float, least_characters: int
) -> list[int]:
    """Add the earlier texts that share pieces, and return the texts whose pieces do not show what contains them."""
    holders = _holders(pieces)
    vague = []
    for number in numbers:
        own = pieces[number]
        common = own & holders.keys()
        least = max(least_characters, least_share * _size(own))
        together: list[int] = []
        if common and _size(common) >= least:
            together = _holding_rarest(number, common, holders)
            others = {other for piece in common for other in holders[piece][:_MOST_HOLDERS] if other < number}
            others.update(together[:_MOST_HOLDERS])
            near = (other for other in others if _size(common & pieces[other]) >= least)
            found.setdefault(number, set()).update(near)
        if not own or (len(together) > _MOST_HOLDERS and len(common) == len(own)):
            vague.append(number)
    return vague


def _holders(pieces: Pieces) -> dict[str, list[int]]:
    """Return which texts have each of the pieces that several have."""
    holders: dict[str, list[int]] = defaultdict(list)
    for number, own in enumerate(pieces):
        own.discard("")
        for piece in own:
            holders[piece].append(number)
    return {piece: numbers for piece, numbers in holders.items() if len(numbers) > 1}


def _holding_rarest(number: int, common: set[str], holders: dict[str, list[int]]) -> list[int]:
    """Return earlier texts that have each of the rarest common pieces."""
    rarest = heapq.nsmallest(_RAREST, common, key=lambda piece: (len(holders[piece]), piece))
    first, *more = (holders[piece][:_MOST_LOOKED_AT] for piece in rarest)
    return sorted(other for other in set(first).intersection(*more) if other < number)


def _holding(texts: Sequence[str], numbers: Sequence[int]) -> dict[int, list[int]]:
    """Search for earlier texts that contain these."""
    costs = [len(text) + _COST_OF_A_LOOK for text in texts]
    left = max(_LOOKED_UP, _FEW * sum(costs))
    found: dict[int, list[int]] = {}
    for number in numbers:
        holders = found[number] = []
        for other in range(number):
            left -= costs[other]
            if left < 0 or len(holders) == _MOST_HOLDERS:
                break
            if texts[number] in texts[other]:
                holders.append(other)
    return found


def _size(pieces: set[str]) -> int:
    return sum(map(len, pieces))
