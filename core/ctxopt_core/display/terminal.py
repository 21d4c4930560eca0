"""A sheet for a terminal, drawn by rich. Only rich asks for it, so this is loaded where rich already is."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text

from ctxopt_core.display.palette import INK, LOOKS
from ctxopt_core.display.sheet import FULL, Bar, Sheet, Table
from ctxopt_core.text.display_text import preview

_LONGEST_CELL = 200  # characters: a few lines of a terminal, which folds them
_NARROWEST_BAR = 20  # columns: fewer would not show the parts of a window


def as_renderable(sheet: Sheet) -> Group:
    """Return a sheet as what rich prints."""
    parts: list[RenderableType] = [Text(_line(sheet.title), style="bold")]
    for bar in sheet.bars:
        parts += [Text(_line(bar.label)), TerminalBar(bar)]
    if sheet.facts:
        facts = RichTable(box=None, show_header=False, pad_edge=False)
        for name, value in sheet.facts:
            facts.add_row(Text(_line(name)), Text(_line(value)))
        parts.append(facts)
    parts += map(_table, sheet.tables)
    parts += (Text(_line(f"note: {note}")) for note in sheet.notes)
    return Group(*parts)


class TerminalBar:
    """A bar over the whole width of the terminal; each segment has its own fill character besides its color."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        length = max(1, options.max_width * self._bar.extent // FULL)
        line = Text(no_wrap=True, overflow="crop")
        for segment, width in zip(self._bar.shown, self._bar.widths(length), strict=True):
            look = LOOKS[segment.kind]
            name = f"{segment.name} {segment.amount:,}"
            content = f" {name} ".center(width, look.fill) if len(name) + 4 <= width else look.fill * width
            style = Style() if look.color is None else Style(color=INK, bgcolor=look.color)
            line.append(content, style=style)
        yield line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(min(_NARROWEST_BAR, options.max_width), options.max_width)


def _table(table: Table) -> RichTable:
    drawn = RichTable(title=Text(_line(table.caption)), title_justify="left", caption_justify="left", box=SIMPLE_HEAD)
    drawn.caption = Text(_line(table.more)) if table.more else None
    for column in table.columns:
        drawn.add_column(Text(column), justify="right" if column in table.numeric else "left", overflow="fold")
    for row in table.rows:
        fill = "" if row.kind is None else LOOKS[row.kind].fill + " "
        first, *others = map(_line, row.cells)
        drawn.add_row(Text(fill + first), *map(Text, others))
    return drawn


def _line(text: str) -> str:
    return preview(text, _LONGEST_CELL)
