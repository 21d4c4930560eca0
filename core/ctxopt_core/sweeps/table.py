"""The table of a sweep: a sequence of rows that can be stored, plotted and shown."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any, overload

from ctxopt_core.display.sheet import Row, Sheet, Table, filled
from ctxopt_core.display.sheets import sheet_of
from ctxopt_core.displayed import NO_MATPLOTLIB, Displayed
from ctxopt_core.runtime.optional_packages import needs
from ctxopt_core.sweeps.rows import COLUMNS, DECIMAL_COLUMNS, TEXT_COLUMNS, SweepRow, curves_of, shares_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_NO_PANDAS = "`to_frame` needs pandas; install it with: pip install pandas, or use `to_dicts` or `to_csv`"
_MOST_ROWS = 200  # rows: what a notebook shows at once; `to_frame` has them all
_CAPTION = "Tokens by setting; documents kept whole + in part, messages kept of all; more columns are in to_frame()"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep(Displayed, Sequence[SweepRow]):
    """The rows of a sweep, as `sweep` returns them. A notebook shows them as a table, `print` as text.

    Args:
        rows: One for each request with each combination of settings.
    """

    rows: tuple[SweepRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> SweepRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sweep: ...
    def __getitem__(self, index: int | slice) -> SweepRow | Sweep:
        return Sweep(rows=self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each row as a dictionary of its columns, ready for JSON."""
        return [row.to_dict() for row in self.rows]

    def to_csv(self) -> str:
        """Return the table as CSV with a heading; what is missing is empty.

        A string that a spreadsheet would read as a formula has an apostrophe before it.
        """
        written = StringIO()
        writer = csv.DictWriter(written, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in self.to_dicts():
            formulas = {n: f"'{v}" for n, v in row.items() if isinstance(v, str) and v.startswith(_FORMULA_STARTS)}
            writer.writerow(row | formulas)
        return written.getvalue()

    def to_frame(self) -> DataFrame:
        """Return the table as a pandas DataFrame. Columns of tokens hold integers, also where a row has none.

        Raises:
            ImportError: pandas is not installed.
        """
        with needs("pandas", _NO_PANDAS):
            import pandas as pd
        frame = pd.DataFrame(self.to_dicts(), columns=list(COLUMNS))
        kinds = {**dict.fromkeys(TEXT_COLUMNS, "string"), **dict.fromkeys(DECIMAL_COLUMNS, "float64")}
        return frame.astype({name: kinds.get(name, "Int64") for name in COLUMNS})

    def plot(self, x: str = "budget", y: str = "evidence", by: str | None = "strategy") -> Figure:
        """Return curves of `y` over `x` as a matplotlib figure, one for each value of `by`.

        Rows with the same `x` and `by` are averaged. Where one of them could not be fitted there is no point, so that a
        curve is never of the easy requests alone.

        Args:
            x: A column of numbers: `budget`, `fraction` or a share.
            y: A column of numbers.
            by: `strategy`, `selection`, `shares`, or any other column; None for one curve.

        Raises:
            ValueError: There is no such column, or it is empty.
            ImportError: matplotlib is not installed; the extra `notebook` brings it.
        """
        curves = curves_of(self.rows, x, y, by)
        with needs("matplotlib", NO_MATPLOTLIB):
            from ctxopt_core.sweeps.figure import figure_of
        return figure_of(curves, x, y, by)

    def __str__(self) -> str:
        return self._plain_text()


@sheet_of.register
def _(sweep: Sweep) -> Sheet:
    """Return the settings that differ, and their results. A setting that is the same in every row is said above."""
    rows = sweep.rows
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
    "tokens saved": _saved,
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
