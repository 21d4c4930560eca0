"""The curves of a sweep, as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from ctxopt_core.sweeps.rows import COLUMNS, TEXT_COLUMNS, SweepRow
from ctxopt_core.sweeps.settings import percentages_label

NUMBERS = tuple(name for name in COLUMNS if name not in TEXT_COLUMNS)
GROUPS = ("shares", *COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One curve: what it is called, and its points by ascending `x`."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """What a figure shows: the columns of its axes, the column that tells its curves apart, and the curves."""

    x: str
    y: str
    by: str | None
    curves: tuple[Curve, ...]


def curves_of(rows: Sequence[SweepRow], x: str, y: str, by: str | None) -> Curves:
    """Return the mean of `y` for each `x` and `by`; no point where a row that belongs to it has an error.

    Raises:
        ValueError: A column is not one of those that it can be, or no row has a figure in it.
    """
    for name, column in (("x", x), ("y", y)):
        _check_column(name, column, NUMBERS)
        if all(getattr(row, column) is None for row in rows):
            remedy = "give `evidence` to `sweep`, or " if column == "evidence" else ""
            message = f"`{name}` must be a column with figures, but no row has `{column}`; {remedy}choose another one"
            raise ValueError(message)
    if by is not None:
        _check_column("by", by, GROUPS)
    grouped: dict[str, dict[float, list[SweepRow]]] = {}
    for row in rows:
        at = getattr(row, x)
        if at is not None:
            grouped.setdefault(group_of(row, by), {}).setdefault(at, []).append(row)
    curves = (Curve(name=name, points=_points(groups, y)) for name, groups in grouped.items())
    return Curves(x=x, y=y, by=by, curves=tuple(curve for curve in curves if curve.points))


def group_of(row: SweepRow, by: str | None) -> str:
    """Return what a row's group is called."""
    if by is None:
        return ""
    return shares_of(row) if by == "shares" else str(getattr(row, by))


def shares_of(row: SweepRow) -> str:
    """Return the four shares of a row as one text."""
    return percentages_label((row.system_share, row.query_share, row.documents_share, row.history_share))


def _points(groups: dict[float, list[SweepRow]], y: str) -> tuple[tuple[float, float], ...]:
    points: list[tuple[float, float]] = []
    for at in sorted(groups):
        rows = groups[at]
        found: list[Any] = [value for row in rows if (value := getattr(row, y)) is not None]
        if found and not any(row.error for row in rows):
            points.append((at, fsum(found) / len(found)))
    return tuple(points)


def _check_column(name: str, column: object, allowed: Sequence[str]) -> None:
    if column not in allowed:
        message = f"`{name}` must be one of {', '.join(allowed)}, got {column!r}"
        raise ValueError(message)
