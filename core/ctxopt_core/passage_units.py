"""The units that passages are made of: whole sentences, short ones together with the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ctxopt_core.cut_points import cluster_end, cluster_start
from ctxopt_core.relevance import terms_of
from ctxopt_core.sentences import sentence_spans

LONGEST_READ = 1_000_000
_SHORT_BYTES = 48
_LONGEST_SENTENCE = 1_000
_FRAGMENT = 240
_DENSE_FRAGMENT = 120
_BLANKS = re.compile(r"\s*")
_LAST_BLANK = re.compile(r"\s(?=\S*\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One unit of a text.

    Args:
        start: Where it starts, the white space before it included; the first unit starts with its first character.
        stop: Where it ends, without white space after it.
        sentence: Whether it is whole; False for a fragment of a run without sentence ends.
    """

    start: int
    stop: int
    sentence: bool = True

    def terms(self, text: str) -> tuple[str, ...]:
        """Return the terms of this unit of `text`."""
        return terms_of(text[self.start : self.stop])


def units_of(text: str) -> list[Unit]:
    """Return the units of a text in order; together they are the text without the white space at its two ends.

    A sentence of less than about 12 tokens says too little alone and is joined to the next one. A run of more than
    1,000 characters without a sentence end is cut into fragments at lines or words. No more than the first million
    characters are read.
    """
    units: list[Unit] = []
    start: int | None = None
    first = stop = 0
    for sentence_start, stop in sentence_spans(text):
        if start is None:
            start = first = sentence_start
        if stop - sentence_start > _LONGEST_SENTENCE:
            units.extend(_fragments(text, start, stop))
        elif _is_short(text[start:stop]):
            continue
        else:
            units.append(Unit(start=start, stop=stop))
        start = stop
        if stop >= LONGEST_READ:
            return units
    if start is not None and start < stop:
        _append_short(units, max(start, first), stop)
    return units


def _append_short(units: list[Unit], start: int, stop: int) -> None:
    """Join a short last sentence to the one before it."""
    last = units.pop() if units and units[-1].sentence else Unit(start=start, stop=stop)
    units.append(Unit(start=last.start, stop=stop))


def _is_short(text: str) -> bool:
    text = text.strip()
    return (len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))) < _SHORT_BYTES


def _fragments(text: str, start: int, stop: int) -> Iterator[Unit]:
    while stop - start > 2 * _FRAGMENT:
        blanks = _BLANKS.match(text, start, stop)
        cut = min(stop, _fragment_end(text, blanks.end() if blanks else start))
        yield Unit(start=start, stop=cut, sentence=False)
        start = cut
    if start < stop:
        yield Unit(start=start, stop=stop, sentence=False)


def _fragment_end(text: str, start: int) -> int:
    """Return the end of a line, else of a word, else of a grapheme cluster in the second half of a fragment."""
    size = _FRAGMENT if text[start : start + _FRAGMENT].isascii() else _DENSE_FRAGMENT
    middle, stop = start + size // 2, start + size
    line_break = text.rfind("\n", middle, stop)
    blank = _LAST_BLANK.search(text, middle, stop)
    if line_break > 0 or blank:
        cut = line_break if line_break > 0 else blank.start() if blank else stop
        return start + len(text[start:cut].rstrip())
    cut = cluster_start(text, stop)
    return cut if cut > middle else cluster_end(text, stop)
