"""What a report shows, whatever it is shown in: facts, bars, tables and points, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FULL = 10_000
"""The full width of a bar, in hundredths of a percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a bar.

    Args:
        name: What it is.
        amount: How much of it there is, in the bar's unit.
        kind: Which color and pattern it has; see `palette`.
    """

    name: str
    amount: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Segments in a row.

    Args:
        label: What the bar shows, as a sentence.
        segments: Its parts, from left to right.
        unit: What is counted: `tokens`, `turns`, `messages` or `documents`.
        extent: How much of the full width it takes, in hundredths of a percent.
    """

    label: str
    segments: tuple[Segment, ...]
    unit: str = "tokens"
    extent: int = FULL

    @property
    def shown(self) -> tuple[Segment, ...]:
        """The segments that there is something of."""
        return tuple(segment for segment in self.segments if segment.amount > 0)

    @property
    def total(self) -> int:
        """All segments together."""
        return sum(segment.amount for segment in self.shown)

    @property
    def description(self) -> str:
        """The whole bar in words."""
        parts = ", ".join(f"{segment.name} {segment.amount:,}" for segment in self.shown)
        return f"{self.label}: {parts or 'nothing'}"

    def widths(self, whole: int = FULL) -> tuple[int, ...]:
        """Return how much of `whole` each shown segment takes; together exactly `whole`."""
        return divided(whole, [segment.amount for segment in self.shown])


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table.

    Args:
        name: Its heading.
        numeric: Whether it holds figures, which stand to the right.
        foreign: Whether it holds texts of the caller's, which may run from right to left.
    """

    name: str
    numeric: bool = False
    foreign: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table: its cells, and which color and pattern it is marked with, if any."""

    cells: tuple[str, ...]
    kind: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table.

    Args:
        caption: What it holds.
        columns: Its columns; the first names the row.
        rows: The rows that are shown.
        more: What is not shown of it, as a sentence; empty when all is.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    more: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A document with a score: its tokens, its score, and what became of it."""

    tokens: int
    score: float
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """All that is shown of one value.

    Args:
        title: What it is.
        facts: Names and values.
        bars: Bars.
        tables: Tables.
        notes: Sentences.
        points: Documents by tokens and score, for a figure.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    bars: tuple[Bar, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()


def divided(whole: int, amounts: Sequence[int]) -> tuple[int, ...]:
    """Divide `whole` in proportion to `amounts`, in whole numbers that add up to it exactly; none for no amounts."""
    total, passed, taken = sum(amounts), 0, 0
    found: list[int] = []
    for amount in amounts:
        passed += amount
        end = (2 * whole * passed + total) // (2 * total) if total else 0
        found.append(end - taken)
        taken = end
    return tuple(found)
