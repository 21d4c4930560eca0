"""Positions where a string may be cut when not even one sentence fits: word borders, then grapheme clusters.

A grapheme cluster is what a reader sees as one character: an emoji joined of several, a letter with its accents, a
flag. A surrogate pair is not cut either.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import cast

_SEARCHED_FOR_A_START = 4_096  # characters before a position; longer clusters are only met in attacks, and may be cut
_WORD_WINDOWS = (200, 4_000)  # characters that are searched for a word border, few first, since most have one near
_JOINED_WORD = 64  # characters beyond a position that decide whether it is inside a word
# A cluster starts at each of these, whatever is before it but a few rare prefixes.
_STARTS_CLUSTER = re.compile("[ -~À-˿Ѐ-ҁҊ-ԯぁ-ゖァ-ヺ㐀-䶿一-鿿]")
_PREFIXES = re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]")
_CLUSTER = r"\X"
_WORD_BORDER = r"(?w)\b"
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_NOT_AN_ACCENT = re.compile("[\ufe00-\ufe0f\u20e3\U000e0100-\U000e01ef]")


@cache
def _unicode_pattern(source: str) -> re.Pattern[str]:
    import regex  # type: ignore[import-untyped]

    return cast("re.Pattern[str]", regex.compile(source))


def cluster_start(text: str, position: int) -> int:
    """Return the last border at or before `position`."""
    if position <= 0 or position >= len(text):
        return max(0, min(position, len(text)))
    border = _known_border(text, position)
    if border == position:
        return position
    for match in _unicode_pattern(_CLUSTER).finditer(text, border):
        if match.end() > position:
            break
        border = match.end()
    return border - 1 if _in_surrogate_pair(text, border) else border


def cluster_end(text: str, position: int) -> int:
    """Return the first border at or after `position`."""
    border = cluster_start(text, position)
    if border == position or border >= len(text):
        return border
    match = _unicode_pattern(_CLUSTER).match(text, border)
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

    Words are separated by white space, or by Unicode's word borders if that would lose more than half.
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
        for end in reversed(_word_borders(text, position - width, position + _JOINED_WORD)):
            if 0 < end <= position and not text[end - 1].isspace() and end == cluster_start(text, end):
                return end if _LETTER_OR_DIGIT.search(text, 0, end) else 0
    return 0


def word_start(text: str, position: int) -> int:
    """Return the start of the first word that starts at or after `position`, or the length of `text`."""
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
        for start in _word_borders(text, position - _JOINED_WORD, stop):
            if position <= start < stop and not text[start].isspace() and start == cluster_start(text, start):
                return start if _LETTER_OR_DIGIT.search(text, start) else length
    return length


def _word_borders(text: str, start: int, stop: int) -> list[int]:
    found = _unicode_pattern(_WORD_BORDER).finditer(text, max(0, start), min(len(text), stop))
    return [match.start() for match in found]


def accent_start(text: str, position: int) -> int:
    """Return the last position, at or before `position`, between the first letter of `text` and an accent on it.

    It is for a letter that has too many tokens with all its accents; 0 if `text` does not start with one.
    """
    cluster = _unicode_pattern(_CLUSTER).match(text)
    if cluster is None or not text[0].isalnum() or "\u200d" in cluster.group():
        return 0
    for index in range(min(position, cluster.end() - 1), 0, -1):
        if unicodedata.category(text[index])[0] == "M" and not _NOT_AN_ACCENT.match(text, index):
            return index
    return 0
