"""Which units of a document belong together: the rows of a table, and what leads a unit in.

A row says nothing without the header that names its columns, an item of a list nothing without the sentence that
announces the list, a line of code or JSON little without the signature or the key that it stands under.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ctxopt_core.documents.passage_units import Unit
from ctxopt_core.runtime.text_cache import TextCache

_FEWEST_ROWS = 3  # lines with figures that make a table; two may be an address or a pair of dates
_LONGEST_LABEL = 160  # characters of a line without figures that a table may hold; prose lines are longer
_MOST_LABELS = 2  # such lines in a row; more are text between two tables
_FEWEST_CELLS = 2  # figures in a line, beside which a row has at most three times as many words
_WORDS_PER_FIGURE = 4  # parts of a line for each figure in it; sentences with figures have more words
_FEWEST_BARS = 3  # bars of a Markdown row with two cells
_DEEPEST = 8  # lines that a unit stands under; deeper code is cut off at the outermost of these
_BYTES_PER_LINK = 100  # memory of a unit's number in the cache, about
_LINE = re.compile(r"[^\n]+")
_FIGURE = re.compile(r"[(\[]?[-+–—~<>≈]?[$€£¥₹]?(?:\d[\d,.'/\u00a0]*|[-–—])[)\]%*†‡a-z]{0,3}")
_RULE = re.compile(r"\s*\|?[\s:|+=-]*-{2}[\s:|+=-]*")
_ITEM = re.compile(r"\s*(?:[-*•·‣▪◦–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")
_OPENERS = (":", "{", "[", "(", "：", "->", "=>")  # ends of a line that announces what follows
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", "।", "؟", "۔")
_known: TextCache[tuple[tuple[Unit, ...], Blocks]] = TextCache()


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What belongs together in one document. Units are given by their numbers.

    Args:
        lead_ins: For a unit those before it without which it cannot be understood, in their order.
        tables: For each unit of a table all of its units.
    """

    lead_ins: Mapping[int, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    tables: Mapping[int, range] = field(default_factory=lambda: MappingProxyType({}))


NO_BLOCKS = Blocks()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line that is not blank: where it starts in the text, and what it is."""

    start: int
    text: str
    indent: int
    is_row: bool


def blocks_of(text: str, units: Sequence[Unit]) -> Blocks:
    """Return which units of `text` belong together.

    1. A run of lines with at least two figures or cells each, three of them or more, is a table; a label between two
       rows is part of it. The lines from the labels above it to its first row, or to a rule of dashes, lead all others
       in.
    2. A line that ends with a colon leads in the items of the list below it.
    3. A line that ends with a colon or an opening bracket leads in what is indented under it, at any depth: signatures
       in code, keys in JSON and YAML, lists in lists.
    """
    if len(units) < 2 or "\n" not in text:
        return NO_BLOCKS
    known = _known.get(text)
    # A very long text has other units for another query.
    if known is not None and known[0] == tuple(units):
        return known[1]
    found = _found(text, units)
    links = sum(map(len, found.lead_ins.values())) + len(found.lead_ins) + len(found.tables)
    _known.store(text, (tuple(units), found), sys.getsizeof(text) + _BYTES_PER_LINK * links)
    return found


def _found(text: str, units: Sequence[Unit]) -> Blocks:
    starts = [unit.start for unit in units]
    lines = list(_lines(text))
    numbers = [max(0, bisect_right(starts, line.start + line.indent) - 1) for line in lines]
    above: dict[int, set[int]] = {}
    tables: dict[int, range] = {}
    for first, header, last in _tables(lines):
        table = range(numbers[first], numbers[last] + 1)
        tables.update(dict.fromkeys(table, table))
        for number in table:
            above.setdefault(number, set()).update(range(numbers[first], numbers[header] + 1))
    for line, announcing in (*_listed(lines), *_indented(lines)):
        above.setdefault(numbers[line], set()).add(numbers[announcing])
    lead_ins = {number: tuple(sorted(n for n in found if n < number)) for number, found in above.items()}
    return Blocks(
        lead_ins=MappingProxyType({number: found for number, found in lead_ins.items() if found}),
        tables=MappingProxyType(tables),
    )


def _lines(text: str) -> Iterator[_Line]:
    for match in _LINE.finditer(text):
        line = match[0]
        stripped = line.strip()
        if stripped:
            indent = len(line) - len(line.lstrip())
            yield _Line(start=match.start(), text=stripped, indent=indent, is_row=_is_row(stripped))


def _is_row(line: str) -> bool:
    if line.startswith("|"):
        return line.count("|") >= _FEWEST_BARS
    if line.count("\t") >= _FEWEST_CELLS:
        return True
    if not any(map(str.isdigit, line)):
        return False
    parts = line.split()
    figures = sum(1 for part in parts if _FIGURE.fullmatch(part))
    return figures >= _FEWEST_CELLS and figures * _WORDS_PER_FIGURE >= len(parts)


def _tables(lines: Sequence[_Line]) -> Iterator[tuple[int, int, int]]:
    """Yield the first line, the last line of the header, and the last line of each table."""
    at = 0
    while at < len(lines):
        if not lines[at].is_row:
            at += 1
            continue
        rows, last, labels, following = 1, at, 0, at + 1
        while following < len(lines) and labels <= _MOST_LABELS:
            if lines[following].is_row:
                rows, last, labels = rows + 1, following, 0
            elif _is_label(lines[following].text):
                labels += 1
            else:
                break
            following += 1
        if rows >= _FEWEST_ROWS:
            yield _first_label(lines, at), _end_of_header(lines, at, last), last
        at = last + 1


def _is_label(line: str) -> bool:
    return len(line) <= _LONGEST_LABEL and not line.endswith(_SENTENCE_ENDS)


def _first_label(lines: Sequence[_Line], first_row: int) -> int:
    """Return the first of the labels directly above a table, which name it or its columns."""
    if lines[first_row].text.startswith("|"):
        return first_row
    first = first_row
    while first > 0 and first_row - first < _MOST_LABELS and _is_label(lines[first - 1].text):
        first -= 1
    return first


def _end_of_header(lines: Sequence[_Line], first: int, last: int) -> int:
    """Return the line of dashes below a header; without one, the first row."""
    if first < last and _RULE.fullmatch(lines[first + 1].text):
        return first + 1
    return first


def _listed(lines: Sequence[_Line]) -> Iterator[tuple[int, int]]:
    """Yield each line of a list with the line that announces the list."""
    announcing: int | None = None
    indent = 0
    for at, line in enumerate(lines):
        is_item = bool(_ITEM.match(line.text))
        if announcing is not None and not (is_item or (at > announcing + 1 and line.indent > indent)):
            announcing = None
        if announcing is not None:
            yield at, announcing
        elif line.text.endswith(_OPENERS) and not is_item:
            announcing, indent = at, line.indent


def _indented(lines: Sequence[_Line]) -> Iterator[tuple[int, int]]:
    """Yield each line with every line that it is indented under and that announces it."""
    under: list[int] = []
    for at, line in enumerate(lines):
        while under and lines[under[-1]].indent >= line.indent:
            under.pop()
        for outer in under:
            yield at, outer
        if line.text.endswith(_OPENERS) and len(under) < _DEEPEST:
            under.append(at)
