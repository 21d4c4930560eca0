"""A sweep as a table that is read by people: the settings that differ, and what they lead to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctxopt_core.display.sheet import Column, Row, Sheet, Table
from ctxopt_core.sweeps.curves import shares_of
from ctxopt_core.sweeps.rows import SweepRow

_MOST_ROWS = 200
_CAPTION = "Tokens by setting; documents kept whole + in part, messages kept of all; more columns are in to_frame()"


def sheet_of_sweep(rows: Sequence[SweepRow]) -> Sheet:
    """Return what is shown of a sweep. Settings that are the same in every row are said once, above the table."""
    same = [heading for heading, cell in _SETTINGS.items() if len(set(map(cell, rows))) == 1]
    cells = {heading: cell for heading, cell in (_SETTINGS | _FIGURES).items() if heading not in same}
    cells = {heading: cell for heading, cell in cells.items() if any(map(cell, rows))}
    more = len(rows) - _MOST_ROWS
    table = Table(
        caption=_CAPTION,
        columns=tuple(_column(heading) for heading in cells),
        rows=tuple(Row(cells=tuple(cell(row) for cell in cells.values())) for row in rows[:_MOST_ROWS]),
        more=f"... and {more:,} more rows" if more > 0 else "",
    )
    failed = sum(row.error is not None for row in rows)
    return Sheet(
        title=f"Sweep: {len(rows):,} rows" + (f", {failed:,} of them without a fit" if failed else ""),
        facts=tuple(
            (heading, text) for heading in same if heading != "request" and (text := _SETTINGS[heading](rows[0]))
        ),
        tables=(table,) if rows else (),
    )


def _column(heading: str) -> Column:
    foreign = heading in ("strategy", "selection", "fallback", "error")
    return Column(name=heading, numeric=not foreign and heading != "shares", foreign=foreign)


def _tokens(name: str) -> Callable[[SweepRow], str]:
    return lambda row: "" if getattr(row, name) is None else f"{getattr(row, name):,}"


def _number(name: str, before: str = "") -> Callable[[SweepRow], str]:
    return lambda row: "" if getattr(row, name) is None else f"{before}{getattr(row, name):.3g}"


def _text(name: str) -> Callable[[SweepRow], str]:
    return lambda row: getattr(row, name) or ""


def _saved(row: SweepRow) -> str:
    return "" if row.tokens_saved is None or row.ratio is None else f"{row.tokens_saved:,} ({1 - row.ratio:.0%})"


def _documents(row: SweepRow) -> str:
    return "" if row.documents_kept is None else f"{row.documents_kept:,} + {row.documents_partial:,}"


def _messages(row: SweepRow) -> str:
    if row.messages_kept is None or row.messages_summarized is None or row.messages_dropped is None:
        return ""
    return f"{row.messages_kept:,} of {row.messages_kept + row.messages_summarized + row.messages_dropped:,}"


_SETTINGS: dict[str, Callable[[SweepRow], str]] = {
    "request": _tokens("request"),
    "budget": _tokens("budget"),
    "fraction": _number("fraction"),
    "shares": shares_of,
    "strategy": _text("strategy"),
    "selection": _text("selection"),
}
_FIGURES: dict[str, Callable[[SweepRow], str]] = {
    "total": _tokens("tokens_after"),
    "tokens_saved": _saved,
    "system": _tokens("system_after"),
    "query": _tokens("query_after"),
    "documents": _tokens("documents_after"),
    "history": _tokens("history_after"),
    "whole + part": _documents,
    "messages": _messages,
    "evidence": _number("evidence"),
    "cost": _number("cost", "$"),
    "cost saved": _number("cost_saved", "$"),
    "fallback": _text("fallback"),
    "error": _text("error"),
}
