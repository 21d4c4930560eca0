"""Pieces of a tool result: its lines, and the records and fields of lines that are long, such as JSON on one line."""

from __future__ import annotations

import re
from itertools import pairwise

from ctxopt_core.cut_points import cluster_start

_LONG_LINE = 160
_LONGEST_PIECE = 240
_BORDER = re.compile(r"[,;{}\[\]]+[ \t]*|[.!?]+[ \t]+")


def pieces_of(text: str, most_characters: int) -> list[tuple[int, int]]:
    """Return where each piece of a text starts and stops, in order. Together they are the text.

    Of a text with more than `most_characters` only the pieces at its head and at its tail are found.
    """
    if len(text) <= most_characters:
        return _pieces_between(text, 0, len(text))
    head = cluster_start(text, most_characters // 2)
    tail = cluster_start(text, len(text) - most_characters // 2)
    return [*_pieces_between(text, 0, head)[:-1], *_pieces_between(text, tail, len(text))[1:]]


def _pieces_between(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    borders = [start]
    position = start
    while position < stop:
        line_break = text.find("\n", position, stop)
        end = stop if line_break < 0 else line_break + 1
        if end - position > _LONG_LINE:
            borders.extend(m.end() for m in _BORDER.finditer(text, position, end) if _is_border(text, m.end()))
        if borders[-1] != end:
            borders.append(end)
        position = end
    return [part for piece in pairwise(borders) for part in _short_parts(text, *piece)]


def _is_border(text: str, position: int) -> bool:
    return position >= len(text) or text[position].isascii() or cluster_start(text, position) == position


def _short_parts(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    """Part a piece that has no border of its own at its blanks, or where a character ends."""
    parts: list[tuple[int, int]] = []
    while stop - start > _LONGEST_PIECE:
        blank = text.rfind(" ", start + 1, start + _LONGEST_PIECE) + 1
        end = blank if blank > 0 and _is_border(text, blank) else cluster_start(text, start + _LONGEST_PIECE)
        if end <= start:
            break
        parts.append((start, end))
        start = end
    parts.append((start, stop))
    return parts
