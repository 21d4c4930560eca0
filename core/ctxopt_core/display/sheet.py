"""What is shown of a value, whatever it is shown in: facts, bars, tables and points, as plain values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

FULL = 10_000
"""The full width of a bar, in hundredths of a percent: whole numbers add up to it exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a bar.

    Args:
        name: What it is.
        amount: How much of it there is, such as its tokens or turns.
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
        extent: How much of the full width it takes, in hundredths of a percent.
    """

    label: str
    segments: tuple[Segment, ...]
    extent: int = FULL

    @property
    def shown(self) -> tuple[Segment, ...]:
        """The segments with an amount above 0."""
        return tuple(segment for segment in self.segments if segment.amount > 0)

    @property
    def total(self) -> int:
        """The sum of all amounts."""
        return sum(segment.amount for segment in self.shown)

    @property
    def description(self) -> str:
        """The whole bar in words."""
        parts = ", ".join(f"{segment.name} {segment.amount:,}" for segment in self.shown)
        return f"{self.label}: {parts or 'nothing'}"

    def widths(self, whole: int = FULL) -> tuple[int, ...]:
        """Return how much of `whole` each shown segment takes, in whole numbers whose sum is exactly `whole`."""
        total, passed, taken = self.total, 0, 0
        found: list[int] = []
        for segment in self.shown:
            passed += segment.amount
            end = (2 * whole * passed + total) // (2 * total)
            found.append(end - taken)
            taken = end
        return tuple(found)


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
        columns: The headings of its columns; the first column names the row.
        numeric: The columns with figures, which are aligned to the right.
        foreign: The columns with strings of the caller's, which may run from right to left.
        rows: The rows that are shown.
        more: What is not shown of it, as a sentence; empty when all is.
    """

    caption: str
    columns: tuple[str, ...]
    numeric: Collection[str] = ()
    foreign: Collection[str] = ()
    rows: tuple[Row, ...]
    more: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A document with a score: its tokens, its score, and its state."""

    tokens: int
    score: float
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """All that is shown of one value. Facts are names with values, notes are sentences, points are for a figure.

    Of a meter, text draws the bar with characters, and its table is the legend of the bar.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    bars: tuple[Bar, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    is_meter: bool = False


def segments(amounts: Mapping[str, int]) -> tuple[Segment, ...]:
    """Return a segment for each amount, named after its kind."""
    return tuple(Segment(name=kind, amount=amount, kind=kind) for kind, amount in amounts.items())


def in_words(amounts: Mapping[str, int]) -> str:
    """Return amounts in words, like `3 kept, 1 dropped`."""
    return ", ".join(f"{amount:,} {name}" for name, amount in amounts.items())


def filled(facts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the facts that have a value."""
    return tuple((name, value) for name, value in facts if value)


def more_rows(given: int, shown: int) -> str:
    """Return a sentence that says how many rows are not shown; empty when all are."""
    return f"... and {given - shown:,} more" if given > shown else ""
