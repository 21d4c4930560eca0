"""Identifiers in strings: what a later call has to repeat exactly, such as ids, dates, paths and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

_RUN = re.compile(r"[A-Za-z0-9_@./#:+-]{3,}")
_SIGNIFICANT = re.compile(r"\d|\w@\w|\w[./]\w")
_SHORT_NUMBER = re.compile(r"\d{1,4}(?:\.\d+)?|\d\d?:\d\d(?::\d\d)?")
_EDGES_BEFORE = ".,:;-"
_EDGES_AFTER = ".,:;-#/+"
_SHORTEST = 3  # characters; shorter ones are too common
_LONGEST = 64  # characters; longer ones are encoded data, which would fill a placeholder


def identifiers_in(text: str) -> Iterator[str]:
    """Yield the identifiers of `text` in their order, each as often as it occurs.

    An identifier contains a digit, or is a path, a file name, a host or an address. It has 3 to 64 characters. Numbers
    of up to four digits and times are no identifiers: they are too common.
    """
    for _, identifier in placed_identifiers(text, 0, len(text)):
        yield identifier


def placed_identifiers(text: str, start: int, stop: int) -> Iterator[tuple[int, str]]:
    """Yield the identifiers in [start, stop) of `text`, each with its approximate position."""
    for match in _RUN.finditer(text, start, stop):
        word = match.group()
        if len(word) <= _LONGEST and _SIGNIFICANT.search(word):
            word = word.lstrip(_EDGES_BEFORE).rstrip(_EDGES_AFTER)
            if len(word) >= _SHORTEST and _SIGNIFICANT.search(word) and not _SHORT_NUMBER.fullmatch(word):
                yield match.start(), word
