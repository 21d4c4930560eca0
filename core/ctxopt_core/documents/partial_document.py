"""Documents of which only some units are kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from ctxopt_core.documents.blocks import Blocks, blocks_of
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
    _blocks: Blocks | None = field(default=None, init=False, repr=False)

    @property
    def blocks(self) -> Blocks:
        """Which of its units belong together; this is looked for when it is first asked for."""
        if self._blocks is None:
            self._blocks = blocks_of(self.text, self.units)
        return self._blocks

    def missing(self) -> list[int]:
        """Return the units that are not chosen."""
        return [number for number in range(len(self.units)) if number not in self.chosen]

    def characters(self, numbers: Collection[int]) -> int:
        """Return the characters of some units."""
        return sum(self.units[number].stop - self.units[number].start for number in numbers)

    def added_gaps(self, numbers: Sequence[int]) -> int:
        """Return by how many the gaps grow if these units, none of which is chosen, are; it may be negative."""
        added = 0 if self.chosen else 1
        chosen = self.chosen if len(numbers) == 1 else set(self.chosen)
        for number in numbers:
            before = number > 0 and number - 1 not in chosen
            after = number + 1 < len(self.units) and number + 1 not in chosen
            added += before + after - 1
            if chosen is not self.chosen:
                chosen.add(number)
        return added

    def render(self, marker: str) -> str:
        """Return the chosen units in their order, with the marker wherever something is missing."""
        edges = len(self.text) - (self.units[-1].stop - self.units[0].start) if self.units else 0
        if len(self.chosen) == len(self.units) and edges <= _SMALL_EDGES:
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
