"""The curves of a sweep as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from ctxopt_core.budget.shares import COMPONENTS
from ctxopt_core.sweeps.rows import COLUMNS, TEXT_COLUMNS, SweepRow

_NUMBERS = tuple(name for name in COLUMNS if name not in TEXT_COLUMNS)
_GROUPS = ("shares", *COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One curve: its name, and its points by ascending `x`."""

    name: str
    points: tuple[tuple[float, float], ...]


def curves_of(rows: Sequence[SweepRow], x: str, y: str, by: str | None) -> tuple[Curve, ...]:
    """Return a curve for each value of `by` with the mean of `y` at each `x`; no point where a row has an error.

    Raises:
        ValueError: A column is not one of those that it can be, or no row has a figure in it.
    """
    for name, column in (("x", x), ("y", y)):
        _check_column(name, column, _NUMBERS)
        if all(getattr(row, column) is None for row in rows):
            remedy = "give `evidence` to `sweep`, or " if column == "evidence" else ""
            message = f"`{name}` must be a column with numbers, but no row has `{column}`; {remedy}choose another one"
            raise ValueError(message)
    if by is not None:
        _check_column("by", by, _GROUPS)
    grouped: dict[str, dict[float, list[SweepRow]]] = {}
    for row in rows:
        at = getattr(row, x)
        if at is not None:
            group = "" if by is None else shares_of(row) if by == "shares" else str(getattr(row, by))
            grouped.setdefault(group, {}).setdefault(at, []).append(row)
    curves = (Curve(name=name, points=_points(groups, y)) for name, groups in grouped.items())
    return tuple(curve for curve in curves if curve.points)


def shares_of(row: SweepRow) -> str:
    """Return the four shares of a row in percent, like `10/15/50/25`."""
    return "/".join(f"{getattr(row, f'{name}_share'):g}" for name in COMPONENTS)


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
