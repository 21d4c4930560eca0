"""Which stretches of a long text are worth reading for a query, found without splitting it into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ctxopt_core.cut_points import cluster_start
from ctxopt_core.term_counts import scanned_bm25

_BLOCK = 2_000
_LOOK_BACK = 256
_BORDER = re.compile(r"\n|(?<=[.!?…])\s|(?<=[。！？।॥؟۔])")


def stretches(text: str, weights: Mapping[str, float], limit: int) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, stop, whether to read it) of consecutive stretches that tile `text`, none like the one before it.

    The head is read, and where the terms are that few other places hold.

    Args:
        text: A text of more than `limit` characters.
        weights: The terms that are looked for; without them the head is all that is read.
        limit: About how many characters are to be read.
    """
    blocks = list(_blocks(text))
    read = _worth_reading(text, blocks, weights, limit)
    start = 0
    for number, (_, stop) in enumerate(blocks):
        if number + 1 == len(blocks) or (number in read) != (number + 1 in read):
            yield start, stop, number in read
            start = stop


def _worth_reading(text: str, blocks: list[tuple[int, int]], weights: Mapping[str, float], limit: int) -> set[int]:
    scores = scanned_bm25(weights, [text[start:stop] for start, stop in blocks])
    read = {0}
    left = limit - blocks[0][1]
    for number in sorted(range(1, len(blocks)), key=lambda number: (-scores[number], number)):
        start, stop = blocks[number]
        left -= stop - start
        if left < 0:
            break
        read.add(number)
    return read


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the borders of blocks of about 2,000 characters, which end with a line or a sentence where they can."""
    start = 0
    while len(text) - start > 2 * _BLOCK:
        border = _BORDER.search(text, start + _BLOCK, start + 2 * _BLOCK)
        cut = border.end() if border else text.rfind(" ", start + _BLOCK, start + 2 * _BLOCK)
        if cut < 0:
            near = start + _BLOCK - _LOOK_BACK
            cut = near + (cluster_start(text[near : start + 2 * _BLOCK], _LOOK_BACK) or _LOOK_BACK)
        yield start, cut
        start = cut
    yield start, len(text)
