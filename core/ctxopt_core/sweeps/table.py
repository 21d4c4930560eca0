"""The table of a sweep: a sequence of rows that can be stored, plotted and shown."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any, overload

from ctxopt_core.display.sheet import Sheet
from ctxopt_core.display.sheets import sheet_of
from ctxopt_core.displayed import NO_MATPLOTLIB, Displayed
from ctxopt_core.runtime.optional_packages import needs
from ctxopt_core.sweeps.rows import COLUMNS, DECIMAL_COLUMNS, TEXT_COLUMNS, SweepRow
from ctxopt_core.sweeps.sheet import sheet_of_sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_NO_PANDAS = "`to_frame` needs pandas; install it with: pip install pandas, or use `to_dicts` or `to_csv`"
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
        return frame.astype({name: _pandas_type(name) for name in COLUMNS})

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
        from ctxopt_core.sweeps.curves import curves_of

        curves = curves_of(self.rows, x, y, by)
        with needs("matplotlib", NO_MATPLOTLIB):
            from ctxopt_core.sweeps.figure import figure_of
        return figure_of(curves, x, y, by)

    def __str__(self) -> str:
        return self._plain_text()


def _pandas_type(column: str) -> str:
    if column in TEXT_COLUMNS:
        return "string"
    return "float64" if column in DECIMAL_COLUMNS else "Int64"


@sheet_of.register
def _(sweep: Sweep) -> Sheet:
    return sheet_of_sweep(sweep.rows)
