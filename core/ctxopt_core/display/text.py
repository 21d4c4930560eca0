"""A sheet as plain text, in columns that a terminal aligns."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category, east_asian_width

from ctxopt_core.display.palette import LOOKS
from ctxopt_core.display.sheet import Bar, Sheet, Table
from ctxopt_core.text.display_text import preview

_JOINER = "\u200d"
_AS_EMOJI = "\ufe0f"
_WIDE = frozenset("WF")
_WITHOUT_WIDTH = frozenset({"Mn", "Me", "Cf"})
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_JOINED_HANGUL = range(0x1160, 0x1200)
_METER = 60  # characters of a drawn bar: with its frame it fits in a terminal of 80
_LONGEST_CELL = 60  # characters: a row with a few cells fits in a line of a wide terminal


def display_width(text: str) -> int:
    """Return how many columns of a terminal a string of one line takes."""
    if text.isascii():
        return len(text)
    columns, before = 0, ""
    for character in text:
        if before == _JOINER or (before and ord(character) in _SKIN_TONES):
            added = 0
        elif character == _AS_EMOJI:
            added = 1 if before and _columns(before) == 1 else 0
        else:
            added = _columns(character)
        columns += added
        before = character
    return columns


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Return a string with blanks after it (`right`: before it) up to a number of columns; a longer one is not cut."""
    blanks = " " * (columns - display_width(text))
    return blanks + text if right else text + blanks


def _columns(character: str) -> int:
    if category(character) in _WITHOUT_WIDTH or ord(character) in _JOINED_HANGUL:
        return 0
    return 2 if east_asian_width(character) in _WIDE else 1


def as_text(sheet: Sheet) -> str:
    """Return a sheet as lines of text."""
    if sheet.is_meter:
        return "\n".join([sheet.title, *map(_drawn, sheet.bars), *(line for t in sheet.tables for line in _legend(t))])
    width = max((display_width(name) for name, _ in sheet.facts), default=0)
    lines = [sheet.title, *(bar.description for bar in sheet.bars)]
    lines += [f"{padded(name, width)}  {value}" for name, value in sheet.facts]
    for table in sheet.tables:
        lines += ["", table.caption, *_table(table)]
    lines += [f"note: {note}" for note in sheet.notes]
    return "\n".join(lines)


def _table(table: Table) -> list[str]:
    rows = [table.columns, *(tuple(preview(cell, _LONGEST_CELL) for cell in row.cells) for row in table.rows)]
    lines = aligned(rows, [column in table.numeric for column in table.columns])
    return [*lines, *([table.more] if table.more else [])]


def _drawn(bar: Bar) -> str:
    """Return a bar of characters. A part has at least one of them as long as there is space, so that it is seen."""
    shown, total = bar.shown, max(1, bar.total)
    widths = [max(1, _METER * part.amount // total) for part in shown]
    while shown and sum(widths) != _METER:
        step = 1 if sum(widths) < _METER else -1
        missing = [step * (_METER * part.amount / total - width) for part, width in zip(shown, widths, strict=True)]
        able = [place for place, width in enumerate(widths) if step > 0 or width > 1]
        widths[max(able, key=missing.__getitem__)] += step
    return f"[{''.join(LOOKS[part.kind].fill * width for part, width in zip(shown, widths, strict=True))}]"


def _legend(table: Table) -> list[str]:
    rows = [("" if row.kind is None else LOOKS[row.kind].fill, *row.cells) for row in table.rows]
    return aligned(rows, [False, *(column in table.numeric for column in table.columns)]) if rows else []


def aligned(rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[str]:
    """Return rows as lines of aligned columns; numeric cells are aligned to the right."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(padded(cell, width, right=right) for cell, width, right in zip(row, widths, numeric, strict=True))
        for row in rows
    ]
