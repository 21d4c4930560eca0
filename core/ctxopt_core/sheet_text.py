"""A sheet as text, and rows of text as aligned columns."""

from __future__ import annotations

from collections.abc import Sequence

from ctxopt_core.display_width import display_width, padded
from ctxopt_core.sheet import Sheet, Table
from ctxopt_core.visible_text import beginning

_LONGEST_CELL = 60


def as_text(sheet: Sheet) -> str:
    """Return a sheet as lines of text."""
    width = max((display_width(name) for name, _ in sheet.facts), default=0)
    lines = [sheet.title, *(bar.description for bar in sheet.bars)]
    lines += [f"{padded(name, width)}  {value}" for name, value in sheet.facts]
    for table in sheet.tables:
        lines += ["", table.caption, *_table(table)]
    lines += [f"note: {note}" for note in sheet.notes]
    return "\n".join(lines)


def _table(table: Table) -> list[str]:
    rows = [
        tuple(column.name for column in table.columns),
        *(tuple(beginning(cell, _LONGEST_CELL) for cell in row.cells) for row in table.rows),
    ]
    numeric = [column.numeric for column in table.columns]
    return [*aligned(rows, numeric), *([table.more] if table.more else [])]


def aligned(rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[str]:
    """Return rows as lines that take the same columns of a terminal; figures stand to the right."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(padded(cell, width, right=right) for cell, width, right in zip(row, widths, numeric, strict=True))
        for row in rows
    ]
