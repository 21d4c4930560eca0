"""Places where a string may be cut without changing how its two halves are tokenized, and longest parts of a string.

At a *safe cut* of `cl100k_base` and `o200k_base` the token lists of both halves concatenate to that of the whole, so
that counts add up exactly. A safe cut depends on the two characters around it alone:

1. before an ASCII space whose previous character is not white space,
2. after a line break when the next character is neither white space nor `/`,
3. between a letter or digit and a following space, tab or line break.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

SAFE_CUT = re.compile(r"(?<=\S)(?= )|(?<=[\r\n])(?=[^\s/])|(?<=[^\W_])(?=[ \t\r\n])")
PIECE = 4_000
"""Characters that are tokenized and cached together: a string that grew costs its new pieces, not all of it again."""

# Characters after a piece in which a safe cut is searched. Prose has one every few characters; what has none in so many
# is one token run after another, and the rest of it is one piece.
_LOOK_AHEAD = 4_000
# Characters in which a cut near one end is searched first: a nearer cut leaves less to tokenize.
_LOOK_NEAR = 100


def pieces(text: str, size: int = PIECE) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive pieces of about `size` characters, every border a safe cut.

    Where no safe cut follows within 4,000 characters, the last piece is the rest of the string.
    """
    start, length = 0, len(text)
    while length - start > size + _LOOK_AHEAD:
        cut = SAFE_CUT.search(text, start + size, start + size + _LOOK_AHEAD)
        if cut is None:
            break
        yield start, cut.start()
        start = cut.start()
    if start < length:
        yield start, length


def pieces_from_end(text: str, size: int = PIECE) -> Iterator[tuple[int, int]]:
    """Yield pieces as `pieces` does, but from the end of the string backwards."""
    stop = len(text)
    while stop > size + _LOOK_AHEAD:
        cut = cut_before(text, stop - size, within=_LOOK_AHEAD)
        if cut == 0:
            break
        yield cut, stop
        stop = cut
    if stop > 0:
        yield 0, stop


def cut_after(text: str, position: int) -> int:
    """Return the first safe cut in the 100 characters from `position` on, or the length of the string."""
    cut = SAFE_CUT.search(text, position, position + _LOOK_NEAR)
    return len(text) if cut is None else cut.start()


def cut_before(text: str, position: int, *, within: int = _LOOK_NEAR) -> int:
    """Return a safe cut in the `within` characters before `position`, in the last 100 if there is one, or 0."""
    for reach in dict.fromkeys((_LOOK_NEAR, within)):
        cut = SAFE_CUT.search(text, max(0, position - reach), position) if position > 0 else None
        if cut is not None:
            return cut.start()
    return 0


def longest_fitting(most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest length from 0 to `most` that fits, by bisection; 0 is not tried."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def part_of(text: str, length: int, *, from_end: bool) -> str:
    """Return the first or the last `length` characters; the whole string if it is shorter."""
    return text[max(0, len(text) - length) :] if from_end else text[:length]
