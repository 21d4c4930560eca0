"""A sheet as HTML for notebooks, static exports and screen readers.

Everything is said in words, too: where styles are stripped, a bar reads as the list of its segments, and tables are
plain tables. Text has the colors of the page around it, since the notebook's theme decides whether that is light or
dark, and the system does not; a standalone page follows the system.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from ctxopt_core.display.palette import INK, LOOKS, Look
from ctxopt_core.display.sheet import Bar, Row, Sheet, Table
from ctxopt_core.text.display_text import preview

_LONGEST_TEXT = 400  # characters of a cell, label or note: a few lines, and a page of them stays small
_LONGEST_DESCRIPTION = 4_000  # characters of a bar in words: the 48 parts of a long conversation are named whole
_LAYOUT = """
.ctxopt-report{font:13px/1.45 var(--jp-content-font-family,var(--vscode-font-family,system-ui,sans-serif));
color:var(--jp-content-font-color1,var(--vscode-editor-foreground,inherit));overflow-wrap:break-word}
.ctxopt-report:has(.ctxopt-bar){max-width:72em}
.ctxopt-report .ctxopt-foreign{overflow-wrap:anywhere;min-width:4.5em}
.ctxopt-report p{margin:.5em 0 .2em}
.ctxopt-report .ctxopt-title{font-size:1.1em;font-weight:600}
.ctxopt-report .ctxopt-bar{display:flex;height:1.8em;box-sizing:border-box;min-width:2px;
outline:1px solid rgba(127,127,127,.6);print-color-adjust:exact;-webkit-print-color-adjust:exact}
.ctxopt-report .ctxopt-segment{display:flex;flex-wrap:wrap;flex:0 1 auto;min-width:2px;height:100%;overflow:hidden;
box-sizing:border-box;border-right:1px solid rgba(127,127,127,.6);font-size:.92em;line-height:1.95em}
.ctxopt-report .ctxopt-segment .ctxopt-comma{display:none}
.ctxopt-report .ctxopt-segment::before{content:"";width:1px;height:100%}
.ctxopt-report .ctxopt-segment>span{white-space:nowrap;padding:0 .35em}
.ctxopt-report .ctxopt-tables{display:flex;flex-wrap:wrap;align-items:flex-start;gap:0 3em;overflow-x:auto}
.ctxopt-report table{border-collapse:collapse;margin:.9em 0 0;font-size:1em;max-width:100%;
min-width:min(100%,22em);table-layout:auto}
.ctxopt-report caption{caption-side:top;text-align:left;font-weight:600;padding:.2em 0;color:inherit}
.ctxopt-report.ctxopt-report th,.ctxopt-report.ctxopt-report td{
text-align:left;vertical-align:top;padding:.15em .7em .15em 0;font-weight:400;
border:0;border-bottom:1px solid rgba(127,127,127,.35);background:none;color:inherit;white-space:normal;max-width:44em}
.ctxopt-report.ctxopt-report thead th{font-weight:600;border-bottom:1px solid rgba(127,127,127,.8)}
.ctxopt-report.ctxopt-report .ctxopt-figure{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.ctxopt-report.ctxopt-report .ctxopt-marked{position:relative;padding-left:1.4em}
.ctxopt-report .ctxopt-mark{position:absolute;left:0;top:.35em;width:.9em;height:.9em;
outline:1px solid rgba(127,127,127,.6);print-color-adjust:exact;-webkit-print-color-adjust:exact}
"""


_STRIPE = "rgba(17,17,17,.16)"


def as_html(sheet: Sheet, *, standalone: bool = False) -> str:
    """Return a sheet as HTML; `standalone`: as a whole page."""
    top = as_element(sheet)
    top.insert(0, style_element(STYLE))
    if not standalone:
        return as_markup(top)
    page = Element("html", {"lang": "en"})
    head = SubElement(page, "head")
    SubElement(head, "meta", {"charset": "utf-8"})
    SubElement(head, "meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"})
    SubElement(head, "meta", {"name": "color-scheme", "content": "light dark"})
    _add(head, "title", sheet.title)
    SubElement(page, "body").append(top)
    return "<!DOCTYPE html>\n" + as_markup(page)


def as_element(sheet: Sheet) -> Element:
    """Return a sheet as an element without styles, for a page that has them already."""
    top = Element("div", {"class": "ctxopt-report"})
    _add(top, "p", sheet.title, class_="ctxopt-title")
    for bar in sheet.bars:
        _add_bar(top, bar)
    tables = _add(top, "div", class_="ctxopt-tables")
    if sheet.facts:
        facts = _add(tables, "table", class_="ctxopt-facts")
        _add(facts, "caption", "Figures")
        body = _add(facts, "tbody")
        for name, value in sheet.facts:
            row = _add(body, "tr")
            _add(row, "th", name, scope="row")
            _add(row, "td", value, class_="ctxopt-foreign")
    for table in sheet.tables:
        _add_table(tables, table)
    for note in sheet.notes:
        _add(top, "p", f"note: {note}")
    return top


def style_element(style: str) -> Element:
    """Return our own styles as an element; nothing in them is escaped."""
    element = Element("style")
    element.text = style
    return element


def as_markup(element: Element) -> str:
    """Return an element as HTML; markup in its strings is escaped."""
    return tostring(element, encoding="unicode", method="html")


def _add(parent: Element, tag: str, text: str = "", *, class_: str = "", **attributes: str) -> Element:
    """Add an element with a string, whose markup is escaped."""
    child = SubElement(parent, tag, {"class": class_, **attributes} if class_ else attributes)
    child.text = preview(text, _LONGEST_TEXT)
    return child


def _add_bar(parent: Element, bar: Bar) -> None:
    _add(parent, "p", bar.label, class_="ctxopt-label")
    track = _add(parent, "div", class_="ctxopt-bar", style=f"width:{_percent(bar.extent)}", role="img")
    track.set("aria-label", preview(bar.description, _LONGEST_DESCRIPTION))
    for segment, width in zip(bar.shown, bar.widths(), strict=True):
        outer = _add(track, "span", class_=f"ctxopt-segment ctxopt-{segment.kind}", style=f"width:{_percent(width)}")
        _add(outer, "span", f"{segment.name} {segment.amount:,}")
        _add(outer, "span", ",", class_="ctxopt-comma")  # for where styles are stripped, and the bar is a sentence
        outer.tail = " "


def _percent(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02}%"


def _add_table(parent: Element, table: Table) -> None:
    element = _add(parent, "table")
    _add(element, "caption", table.caption)
    headings = _add(_add(element, "thead"), "tr")
    for column in table.columns:
        _add(headings, "th", column, class_="ctxopt-figure" if column in table.numeric else "", scope="col")
    body = _add(element, "tbody")
    for row in table.rows:
        _add_row(body, row, table)
    if table.more:
        cell = _add(_add(_add(element, "tfoot"), "tr"), "td", table.more)
        cell.set("colspan", str(len(table.columns)))


def _add_row(body: Element, row: Row, table: Table) -> None:
    line = _add(body, "tr")
    for position, (cell, column) in enumerate(zip(row.cells, table.columns, strict=True)):
        foreign = column in table.foreign
        kind = "ctxopt-figure" if column in table.numeric else "ctxopt-foreign" if foreign else ""
        box = _add(line, "td", class_=kind) if position else _add(line, "th", class_=kind, scope="row")
        if row.kind is not None and not position:
            box.set("class", f"{kind} ctxopt-marked".strip())
            mark = _add(box, "span", class_=f"ctxopt-mark ctxopt-{row.kind}")
            mark.set("aria-hidden", "true")
        _add(box, "bdi" if foreign else "span", cell)


def _rule(kind: str, look: Look) -> str:
    stripes = f"repeating-linear-gradient({look.angle}deg,transparent 0 4px,{_STRIPE} 4px 6px)"
    if look.color is None:
        gray = stripes.replace(_STRIPE, "rgba(127,127,127,.3)")
        return f".ctxopt-report .ctxopt-{kind}{{background:{'none' if look.angle is None else gray}}}"
    background = look.color if look.angle is None else f"{look.color} {stripes}"
    return f".ctxopt-report .ctxopt-{kind}{{background:{background};color:{INK}}}"


STYLE = "".join((_LAYOUT.replace("\n", ""), *(_rule(kind, look) for kind, look in LOOKS.items())))
