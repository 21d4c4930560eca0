"""A sheet as HTML that a notebook, a static export and a screen reader can do something with.

Everything is told in words, too: where styles are stripped, a bar reads as the list of its segments, and tables are
plain tables. Texts take the colours of the page around them, since whether that is light or dark is decided by the
notebook's theme and not by the system's; a page of its own follows the system.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from ctxopt_core.sheet import Bar, Column, Row, Segment, Sheet, Table
from ctxopt_core.sheet_style import STYLE
from ctxopt_core.visible_text import beginning

_LONGEST_TEXT = 400
_LONGEST_DESCRIPTION = 4_000


def as_html(sheet: Sheet, *, standalone: bool = False) -> str:
    """Return a sheet as HTML; `standalone`: as a whole page."""
    top = as_element(sheet)
    top.insert(0, style_element(STYLE))
    return _page(sheet.title, top) if standalone else as_markup(top)


def as_element(sheet: Sheet) -> Element:
    """Return a sheet as an element without styles, for a page that has those of sheets already."""
    top = Element("div", {"class": "ctxopt-report"})
    _add(top, "p", sheet.title, class_="ctxopt-title")
    for bar in sheet.bars:
        _add_bar(top, bar)
    tables = _add(top, "div", class_="ctxopt-tables")
    if sheet.facts:
        _add_facts(tables, sheet)
    for table in sheet.tables:
        _add_table(tables, table)
    for note in sheet.notes:
        _add(top, "p", f"note: {note}")
    return top


def style_element(style: str) -> Element:
    """Return styles of ours as an element; they are taken as they are."""
    element = Element("style")
    element.text = style
    return element


def as_markup(element: Element) -> str:
    """Return an element as HTML; markup in its texts is text."""
    return tostring(element, encoding="unicode", method="html")


def _page(title: str, body: Element) -> str:
    page = Element("html", {"lang": "en"})
    head = SubElement(page, "head")
    SubElement(head, "meta", {"charset": "utf-8"})
    SubElement(head, "meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"})
    SubElement(head, "meta", {"name": "color-scheme", "content": "light dark"})
    _add(head, "title", title)
    SubElement(page, "body").append(body)
    return "<!DOCTYPE html>\n" + as_markup(page)


def _add(parent: Element, tag: str, text: str = "", *, class_: str = "", **attributes: str) -> Element:
    """Add an element with a text; markup in the text is text."""
    child = SubElement(parent, tag, {"class": class_, **attributes} if class_ else attributes)
    child.text = beginning(text, _LONGEST_TEXT)
    return child


def _add_bar(parent: Element, bar: Bar) -> None:
    _add(parent, "p", bar.label, class_="ctxopt-label")
    track = _add(parent, "div", class_="ctxopt-bar", style=f"width:{_percent(bar.extent)}", role="img")
    track.set("aria-label", beginning(bar.description, _LONGEST_DESCRIPTION))
    for segment, width in zip(bar.shown, bar.widths(), strict=True):
        _add_segment(track, segment, width)


def _add_segment(track: Element, segment: Segment, width: int) -> None:
    outer = _add(track, "span", class_=f"ctxopt-segment ctxopt-{segment.kind}", style=f"width:{_percent(width)}")
    _add(outer, "span", f"{segment.name} {segment.amount:,}")
    _add(outer, "span", ",", class_="ctxopt-comma")  # for where styles are stripped, and the bar is a sentence
    outer.tail = " "


def _percent(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02}%"


def _add_facts(parent: Element, sheet: Sheet) -> None:
    table = _add(parent, "table", class_="ctxopt-facts")
    _add(table, "caption", "Figures")
    body = _add(table, "tbody")
    for name, value in sheet.facts:
        row = _add(body, "tr")
        _add(row, "th", name, scope="row")
        _add(row, "td", value, class_="ctxopt-foreign")


def _add_table(parent: Element, table: Table) -> None:
    element = _add(parent, "table")
    _add(element, "caption", table.caption)
    headings = _add(_add(element, "thead"), "tr")
    for column in table.columns:
        _add(headings, "th", column.name, class_="ctxopt-figure" if column.numeric else "", scope="col")
    body = _add(element, "tbody")
    for row in table.rows:
        _add_row(body, row, table.columns)
    if table.more:
        cell = _add(_add(_add(element, "tfoot"), "tr"), "td", table.more)
        cell.set("colspan", str(len(table.columns)))


def _add_row(body: Element, row: Row, columns: tuple[Column, ...]) -> None:
    line = _add(body, "tr")
    for position, (cell, column) in enumerate(zip(row.cells, columns, strict=True)):
        kind = _column_class(column)
        box = _add(line, "td", class_=kind) if position else _add(line, "th", class_=kind, scope="row")
        if row.kind is not None and not position:
            box.set("class", f"{kind} ctxopt-marked".strip())
            mark = _add(box, "span", class_=f"ctxopt-mark ctxopt-{row.kind}")
            mark.set("aria-hidden", "true")
        _add(box, "bdi" if column.foreign else "span", cell)


def _column_class(column: Column) -> str:
    if column.numeric:
        return "ctxopt-figure"
    return "ctxopt-foreign" if column.foreign else ""
