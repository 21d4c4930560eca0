"""Positions where a text may be cut when not even one sentence fits: words, then what a reader sees as one character.

A position is a border when neither side of it is half of a grapheme cluster: an emoji joined of several, a letter with
its accents, a flag, a surrogate pair.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_SEARCHED_FOR_A_START = 4_096
_WORD_WINDOWS = (200, 4_000)
_JOINED_WORD = 64
# A cluster starts at each of these, whatever stands before it but a few rare prefixes.
_STARTS_CLUSTER = re.compile("[ -~À-˿Ѐ-ҁҊ-ԯぁ-ゖァ-ヺ㐀-䶿一-鿿]")
_PREFIXES = re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_NOT_AN_ACCENT = re.compile("[\ufe00-\ufe0f\u20e3\U000e0100-\U000e01ef]")


@cache
def _cluster() -> re.Pattern[str]:
    return _unicode_pattern(r"\X")


@cache
def _word_border() -> re.Pattern[str]:
    return _unicode_pattern(r"(?w)\b")


def _unicode_pattern(source: str) -> re.Pattern[str]:
    import regex  # type: ignore[import-untyped]

    pattern: re.Pattern[str] = regex.compile(source)
    return pattern


def cluster_start(text: str, position: int) -> int:
    """Return the last border at or before `position`."""
    if position <= 0 or position >= len(text):
        return max(0, min(position, len(text)))
    border = _known_border(text, position)
    if border == position:
        return position
    for match in _cluster().finditer(text, border):
        if match.end() > position:
            break
        border = match.end()
    return border - 1 if _in_surrogate_pair(text, border) else border


def cluster_end(text: str, position: int) -> int:
    """Return the first border at or after `position`."""
    border = cluster_start(text, position)
    if border == position or border >= len(text):
        return border
    match = _cluster().match(text, border)
    end = max(position, match.end() if match else 0)
    return end + 1 if _in_surrogate_pair(text, end) else end


def _known_border(text: str, position: int) -> int:
    lowest = max(0, position - _SEARCHED_FOR_A_START)
    for index in range(position, lowest, -1):
        if _STARTS_CLUSTER.match(text, index) and not _PREFIXES.match(text, index - 1):
            return index
    return lowest


def _in_surrogate_pair(text: str, position: int) -> bool:
    if not 0 < position < len(text):
        return False
    return "\ud800" <= text[position - 1] <= "\udbff" and "\udc00" <= text[position] <= "\udfff"


def word_end(text: str, position: int) -> int:
    """Return the end of the last word that ends at or before `position`, or 0.

    Words are parted by white space; where that gives up more than half, by Unicode's word borders.
    """
    head = text[: position + 1]
    if head[-1:].isspace() or position >= len(text):
        spaced = len(head.rstrip())
    else:
        parts = head.rsplit(None, 1)
        spaced = len(parts[0]) if len(parts) > 1 else 0
    if spaced * 2 >= position:
        return spaced
    if not _LETTER_OR_DIGIT.search(text, 0, position):
        return 0
    for width in (*_WORD_WINDOWS, position):
        borders = _word_border().finditer(text, max(0, position - width), min(len(text), position + _JOINED_WORD))
        for end in reversed([match.start() for match in borders]):
            if not 0 < end <= position or text[end - 1].isspace():
                continue
            if end == cluster_start(text, end):
                return end if _LETTER_OR_DIGIT.search(text, 0, end) else 0
    return 0


def word_start(text: str, position: int) -> int:
    """Return the start of the first word that starts at or after `position`, or the length of the text."""
    length = len(text)
    tail = text[max(0, position - 1) :]
    if not position or tail[:1].isspace():
        spaced = length - len(tail.lstrip())
    else:
        parts = tail.split(None, 1)
        spaced = length - len(parts[1]) if len(parts) > 1 else length
    if (length - spaced) * 2 >= length - position:
        return spaced
    if not _LETTER_OR_DIGIT.search(text, position):
        return length
    for width in (*_WORD_WINDOWS, length - position):
        stop = min(length, position + width)
        borders = _word_border().finditer(text, max(0, position - _JOINED_WORD), stop)
        for start in (match.start() for match in borders):
            if not position <= start < stop or text[start].isspace():
                continue
            if start == cluster_start(text, start):
                return start if _LETTER_OR_DIGIT.search(text, start) else length
    return length


def accent_start(text: str, position: int) -> int:
    """Return the last position, at or before `position`, between the letter a text starts with and an accent on it.

    It is for a letter that costs too much with all its accents, and 0 where there is no such letter.
    """
    cluster = _cluster().match(text)
    if cluster is None or not text[0].isalnum() or "\u200d" in cluster.group():
        return 0
    for index in range(min(position, cluster.end() - 1), 0, -1):
        if unicodedata.category(text[index])[0] == "M" and not _NOT_AN_ACCENT.match(text, index):
            return index
    return 0
