"""A sweep as a table to read: the settings that differ, and their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctxopt_core.display.sheet import Row, Sheet, Table, filled
from ctxopt_core.sweeps.curves import shares_of
from ctxopt_core.sweeps.rows import TEXT_COLUMNS, SweepRow

_MOST_ROWS = 200  # rows: what a notebook shows at once; `to_frame` has them all
_CAPTION = "Tokens by setting; documents kept whole + in part, messages kept of all; more columns are in to_frame()"


def sheet_of_sweep(rows: Sequence[SweepRow]) -> Sheet:
    """Return what is shown of a sweep. A setting that is the same in every row is a fact above the table."""
    same = [heading for heading, cell in _SETTINGS.items() if len(set(map(cell, rows))) == 1]
    cells = {h: cell for h, cell in (_SETTINGS | _FIGURES).items() if h not in same and any(map(cell, rows))}
    more = len(rows) - _MOST_ROWS
    table = Table(
        caption=_CAPTION,
        columns=tuple(cells),
        numeric=cells.keys() - TEXT_COLUMNS - {"shares"},
        foreign=TEXT_COLUMNS,
        rows=tuple(Row(cells=tuple(cell(row) for cell in cells.values())) for row in rows[:_MOST_ROWS]),
        more=f"... and {more:,} more rows" if more > 0 else "",
    )
    failed = sum(row.error is not None for row in rows)
    return Sheet(
        title=f"Sweep: {len(rows):,} rows" + (f", {failed:,} of them without a fit" if failed else ""),
        facts=filled((heading, _SETTINGS[heading](rows[0])) for heading in same if heading != "request"),
        tables=(table,) if rows else (),
    )


def _shown(name: str, form: str = "", before: str = "") -> Callable[[SweepRow], str]:
    """Return the function that shows a column of a row in a format; empty where the row has no value."""
    return lambda row: "" if getattr(row, name) is None else f"{before}{getattr(row, name):{form}}"


def _saved(row: SweepRow) -> str:
    return "" if row.tokens_saved is None or row.ratio is None else f"{row.tokens_saved:,} ({1 - row.ratio:.0%})"


def _documents(row: SweepRow) -> str:
    return "" if row.documents_kept is None else f"{row.documents_kept:,} + {row.documents_partial:,}"


def _messages(row: SweepRow) -> str:
    if row.messages_kept is None or row.messages_summarized is None or row.messages_dropped is None:
        return ""
    return f"{row.messages_kept:,} of {row.messages_kept + row.messages_summarized + row.messages_dropped:,}"


_SETTINGS: dict[str, Callable[[SweepRow], str]] = {
    "request": _shown("request", ","),
    "budget": _shown("budget", ","),
    "fraction": _shown("fraction", ".3g"),
    "shares": shares_of,
    "strategy": _shown("strategy"),
    "selection": _shown("selection"),
}
_FIGURES: dict[str, Callable[[SweepRow], str]] = {
    "total": _shown("tokens_after", ","),
    "tokens_saved": _saved,
    "system": _shown("system_after", ","),
    "query": _shown("query_after", ","),
    "documents": _shown("documents_after", ","),
    "history": _shown("history_after", ","),
    "whole + part": _documents,
    "messages": _messages,
    "evidence": _shown("evidence", ".3g"),
    "cost": _shown("cost", ".3g", "$"),
    "cost saved": _shown("cost_saved", ".3g", "$"),
    "fallback": _shown("fallback"),
    "error": _shown("error"),
}
