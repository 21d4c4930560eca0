"""Rows of a benchmark, what is demanded of them, and how they are printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A figure that a row is to reach.

    Args:
        of: `ms`, or the name of one of the row's ratios or figures.
        relation: Whether more or less is better.
        figure: The limit itself still counts as reached.
    """

    of: str
    relation: Literal[">=", "<="]
    figure: float

    def reached_by(self, row: Row) -> bool:
        """Tell whether a row reaches the figure."""
        value = {**row.ratios, **row.figures, "ms": row.milliseconds}[self.of]
        return value >= self.figure if self.relation == ">=" else value <= self.figure

    def told_of(self, row: Row) -> str:
        """Return the target and whether the row reaches it."""
        unit = f"x {self.of}" if self.of in row.ratios else self.of
        return f"{self.relation} {self.figure:g} {unit}: {'reached' if self.reached_by(row) else 'MISSED'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measurement.

    Args:
        section: The table that it belongs to.
        case: What was measured on, such as a number of messages.
        candidate: Who was measured.
        milliseconds: Median CPU time.
        ratios: How it compares; the names are the columns of the table.
        figures: What else was measured; the same.
        targets: What is demanded of it.
    """

    section: str
    case: str
    candidate: str
    milliseconds: float
    ratios: Mapping[str, float] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    targets: tuple[Target, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return {
            "section": self.section,
            "case": self.case,
            "candidate": self.candidate,
            "milliseconds": self.milliseconds,
            "ratios": dict(self.ratios),
            "figures": dict(self.figures),
            "targets": [
                {"of": t.of, "relation": t.relation, "figure": t.figure, "reached": t.reached_by(self)}
                for t in self.targets
            ],
        }


def faster_than(peers: Iterable[str], times: Mapping[str, float], name: str) -> dict[str, float]:
    """Return how many times faster `name` is than each of the peers."""
    return {peer: times[peer] / times[name] for peer in peers if peer != name}


def as_table(rows: Sequence[Row]) -> str:
    """Return the rows of one section as an aligned table under its title."""
    ratios = max((list(row.ratios) for row in rows), key=len)
    figures = max((list(row.figures) for row in rows), key=len)
    header = ["case", "candidate", "CPU ms", *(f"x {name}" for name in ratios), *figures, "target"]
    cells = [header, *(_cells(row, ratios, figures) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [_line(line, widths) for line in cells]
    return "\n".join([rows[0].section, "-" * len(rows[0].section), *lines])


def summary(rows: Iterable[Row]) -> str:
    """Return how many targets were reached."""
    reached = [target.reached_by(row) for row in rows for target in row.targets]
    return f"{sum(reached)} of {len(reached)} targets reached in this run"


def _cells(row: Row, ratios: Sequence[str], figures: Sequence[str]) -> list[str]:
    compared = [_number(row.ratios[name]) if name in row.ratios else "" for name in ratios]
    others = [_number(row.figures[name]) if name in row.figures else "" for name in figures]
    targets = "; ".join(target.told_of(row) for target in row.targets)
    return [row.case, row.candidate, _number(row.milliseconds), *compared, *others, targets]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    last = len(cells) - 1
    padded = [
        cell.ljust(width) if column in (1, last) else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    if value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
