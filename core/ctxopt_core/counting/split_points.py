"""Places where a text may be cut without changing how its two halves are tokenized.

At a *safe cut* of `cl100k_base` and `o200k_base` the token lists of both halves concatenate to that of the whole, so
counts add up exactly. A safe cut depends on the two characters around it alone:

1. before an ASCII space whose previous character is not white space,
2. after a line break when the next character is neither white space nor `/`,
3. between a letter or digit and a following space, tab or line break.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SAFE_CUT = re.compile(r"(?<=\S)(?= )|(?<=[\r\n])(?=[^\s/])|(?<=[^\W_])(?=[ \t\r\n])")
PIECE = 4_000
_LOOK_AHEAD = 4_000
_LOOK_NEAR = 100


def pieces(text: str, size: int = PIECE) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive pieces of about `size` characters, every border a safe cut.

    Where no safe cut follows within 4,000 characters, one last piece takes the rest of the text.
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
    """Yield the pieces of `pieces` kind from the end of the text backwards."""
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
    """Return the first safe cut of the hundred characters from `position` on; the length of the text without one."""
    cut = SAFE_CUT.search(text, position, position + _LOOK_NEAR)
    return len(text) if cut is None else cut.start()


def cut_before(text: str, position: int, *, within: int = _LOOK_NEAR) -> int:
    """Return a safe cut in the characters before `position`, in the last hundred if there is one; 0 without one."""
    for reach in dict.fromkeys((_LOOK_NEAR, within)):
        cut = SAFE_CUT.search(text, max(0, position - reach), position) if position > 0 else None
        if cut is not None:
            return cut.start()
    return 0
