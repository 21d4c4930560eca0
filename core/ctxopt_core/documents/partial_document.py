"""A document of which only some sentences are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctxopt_core.documents.passage_units import Unit

_SMALL_EDGES = 4  # characters of white space; a document with so few is kept as it came when all its units are chosen


@dataclass(slots=True, kw_only=True, eq=False)
class PartialDocument:
    """A document, its units, and which of them are chosen.

    Args:
        index: The document.
        position: How many documents rank above it.
        text: Its text, without the start that another document ends with.
        offset: Characters of the document before `text`.
        follows: The document that ends with these characters.
        copies: How many times the prompt holds what is chosen of it.
        units: The units of the text.
        terms: The terms of each unit; empty without a query.
        match: How well each unit, or one near it, matches the query, from 0.0 to 1.0.
        scores: The score of each unit, which includes the rank of its document.
        chosen: The units that are chosen, by number.
    """

    index: int
    position: int
    text: str
    offset: int = 0
    follows: int | None = None
    copies: int = 1
    units: Sequence[Unit]
    terms: Sequence[Sequence[str]] = ()
    match: Sequence[float] = ()
    scores: Sequence[float] = ()
    chosen: set[int] = field(default_factory=set)

    @property
    def complete(self) -> bool:
        """Whether every unit is chosen."""
        return len(self.chosen) == len(self.units)

    @property
    def _edges(self) -> int:
        """Characters of white space before the first and after the last unit."""
        return len(self.text) - (self.units[-1].stop - self.units[0].start) if self.units else 0

    def open_sides(self, number: int) -> int:
        """Return on how many sides of a unit, were it chosen, something would be missing."""
        before = number > 0 and number - 1 not in self.chosen
        after = number + 1 < len(self.units) and number + 1 not in self.chosen
        return before + after

    def render(self, marker: str) -> str:
        """Return the chosen units in their order, with the marker wherever something is missing."""
        if self.complete and self._edges <= _SMALL_EDGES:
            return self.text
        parts: list[str] = []
        following = 0
        for number in sorted(self.chosen):
            unit = self.units[number]
            part = self.text[unit.start : unit.stop]
            if number > following:
                part = (marker if parts else marker.lstrip()) + part.lstrip()
            parts.append(part)
            following = number + 1
        if following < len(self.units):
            parts.append(marker.rstrip())
        return "".join(parts)
