"""The best passages of documents that do not stand whole: sentences in their order, with visible gaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ctxopt_core.document_costs import DocumentCosts
from ctxopt_core.passage_units import LONGEST_READ, Unit, units_of
from ctxopt_core.relevance import bm25_of_terms, tokenize
from ctxopt_core.tokens import TokenCounter

_MOST_DOCUMENTS = 64
_LEAST_READ = 40_000
_READ_PER_TOKEN = 400
_NEIGHBOUR_WORTH = 0.7
_RANK_DAMPING = 3
_PATIENCE = 200
_CHARACTERS_PER_TOKEN = 16


@dataclass(slots=True, kw_only=True, eq=False)
class Excerpt:
    """A document of which some units are chosen.

    Args:
        index: The document.
        position: How many documents rank above it.
        text: Its text.
        units: The units of the text.
        worth: What each unit is worth to the query, by the document's rank too; 0.0 for nothing.
        chosen: The units that are chosen, by number.
    """

    index: int
    position: int
    text: str
    units: Sequence[Unit]
    worth: Sequence[float]
    chosen: set[int] = field(default_factory=set)

    @property
    def complete(self) -> bool:
        """Whether every unit is chosen."""
        return len(self.chosen) == len(self.units) and not self._goes_on

    @property
    def _goes_on(self) -> bool:
        return bool(self.units) and self.units[-1].stop >= LONGEST_READ

    def open_sides(self, number: int) -> int:
        """Return on how many sides of a unit, were it chosen, something would be missing."""
        before = number > 0 and number - 1 not in self.chosen
        after = number + 1 not in self.chosen and (number + 1 < len(self.units) or self._goes_on)
        return before + after

    def render(self, marker: str) -> str:
        """Return the chosen units in their order, with the marker wherever something is missing."""
        if self.complete:
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
        if following < len(self.units) or self._goes_on:
            parts.append(marker.rstrip())
        return "".join(parts)


class Passages:
    """Passages chosen step by step from some documents.

    Args:
        costs: The documents and what they cost.
        counter: Counts the units.
        query: What is asked. Without words in it, the heads of the documents are their best passages.
        marker: What stands where something is missing.
    """

    def __init__(self, costs: DocumentCosts, counter: TokenCounter, query: str, marker: str) -> None:
        self._costs = costs
        self._counter = counter
        self._wanted = frozenset(tokenize(query))
        self._marker = marker
        self._gap_tokens = max(counter.count(marker.strip()), counter.count(marker.rstrip()))
        self._excerpts: dict[int, Excerpt] = {}

    @property
    def texts(self) -> dict[int, str]:
        """The passages of each document of which something is chosen."""
        return {i: excerpt.render(self._marker) for i, excerpt in self._excerpts.items() if excerpt.chosen}

    @property
    def complete(self) -> frozenset[int]:
        """The documents of which everything is chosen."""
        return frozenset(i for i, excerpt in self._excerpts.items() if excerpt.complete)

    def consider(self, positions: Mapping[int, int], room: int) -> None:
        """Let units be chosen from these documents; what was chosen from them before stays chosen.

        Args:
            positions: For each document how many rank above it, best first. No more are read than can matter.
            room: Tokens that may be added: the fewer, the fewer documents matter.
        """
        earlier = self._excerpts
        self._excerpts = {}
        characters, enough = 0, min(LONGEST_READ, max(_LEAST_READ, room * _READ_PER_TOKEN))
        for index, position in positions.items():
            if len(self._excerpts) == _MOST_DOCUMENTS or characters >= enough:
                break
            text = self._costs.text(index)
            characters += len(text)
            units = earlier[index].units if index in earlier else units_of(text)
            chosen = earlier[index].chosen if index in earlier else set()
            self._excerpts[index] = Excerpt(
                index=index, position=position, text=text, units=units, worth=(), chosen=chosen
            )
        self._judge()

    def take_best(self, room: int, *, documents: int, units: int | None = None) -> int:
        """Choose the units that answer the query, best first; where there is no query, heads.

        Args:
            room: Tokens that may be added.
            documents: How many documents may be begun.
            units: How many units may be chosen; None for as many as there is room for.

        Returns:
            The tokens that are left of `room`, as far as single counts can tell.
        """
        if not self._wanted:
            return self._take(self._heads(), room, documents, units)
        hits = [(e, n) for e in self._excerpts.values() for n in range(len(e.units)) if e.worth[n] > 0.0]
        hits.sort(key=lambda hit: (-hit[0].worth[hit[1]], hit[0].position, hit[1]))
        return self._take(hits, room, documents, units)

    def take_more(self, room: int, *, documents: int) -> int:
        """Choose what stands around the chosen units, nearest first, then heads of further documents.

        The arguments and the result are those of `take_best`.
        """
        around = [
            (min(abs(n - chosen) for chosen in e.chosen), e.position, n, e)
            for e in self._excerpts.values()
            for n, unit in enumerate(e.units)
            if e.chosen and n not in e.chosen and unit.sentence
        ]
        around.sort(key=lambda near: near[:3])
        return self._take(chain(((e, n) for _, _, n, e in around), self._heads()), room, documents)

    def best_start(self) -> tuple[int, int] | None:
        """Return the document and the offset of the unit of most worth, chosen or not; None without any unit."""
        units = (
            (e.worth[n], -e.position, -n, e.index, unit.start)
            for e in self._excerpts.values()
            for n, unit in enumerate(e.units)
        )
        best = max(units, default=None)
        return None if best is None else best[3:]

    def give_up(self, tokens: int) -> bool:
        """Give up the units of least worth that count at least `tokens`; False when nothing was chosen."""
        chosen = [(e, n) for e in self._excerpts.values() for n in e.chosen]
        chosen.sort(key=lambda unit: (unit[0].worth[unit[1]], -unit[0].position, -unit[1]))
        for excerpt, number in chosen:
            if tokens <= 0:
                break
            excerpt.chosen.discard(number)
            tokens -= self._count(excerpt, number)
        return bool(chosen)

    def _judge(self) -> None:
        """Weigh all units: each is worth its own score or most of a neighbour's, the less the lower its document ranks."""
        excerpts = list(self._excerpts.values())
        scores = iter(bm25_of_terms(self._wanted, [u.terms(e.text) for e in excerpts for u in e.units]))
        for excerpt in excerpts:
            own = [next(scores) for _ in excerpt.units]
            around = [max(pair) for pair in zip([0.0, *own], [*own[1:], 0.0], strict=False)]
            excerpt.worth = [
                max(mine, _NEIGHBOUR_WORTH * theirs) / (excerpt.position + _RANK_DAMPING)
                for mine, theirs in zip(own, around, strict=True)
            ]

    def _heads(self) -> Iterator[tuple[Excerpt, int]]:
        """Yield the units of each document from its start, as long as they are taken."""
        for excerpt in self._excerpts.values():
            for number, unit in enumerate(excerpt.units):
                if number not in excerpt.chosen and unit.sentence:
                    yield excerpt, number
                if number not in excerpt.chosen:
                    break

    def _take(
        self, candidates: Iterable[tuple[Excerpt, int]], room: int, documents: int, units: int | None = None
    ) -> int:
        refused = taken = 0
        for excerpt, number in candidates:
            if room < 1 or refused == _PATIENCE or taken == units:
                break
            if number in excerpt.chosen or not (excerpt.chosen or documents):
                continue
            cost = self._cost(excerpt, number, room)
            if cost > room:
                refused += 1
                continue
            refused = 0
            taken += 1
            documents -= not excerpt.chosen
            excerpt.chosen.add(number)
            room -= cost
        return room

    def _cost(self, excerpt: Excerpt, number: int, room: int) -> int:
        """Return what a unit adds: itself, its markers and, with the first unit, the document's frame."""
        unit = excerpt.units[number]
        if unit.stop - unit.start > room * _CHARACTERS_PER_TOKEN:
            return room + 1
        tokens = self._count(excerpt, number)
        gaps = excerpt.open_sides(number)
        if excerpt.chosen:
            return tokens + (gaps - 1) * self._gap_tokens
        return tokens + gaps * self._gap_tokens + self._costs.of_template(excerpt.index)

    def _count(self, excerpt: Excerpt, number: int) -> int:
        unit = excerpt.units[number]
        text = excerpt.text[unit.start : unit.stop]
        return self._counter.count(text if text[:1] == " " else " " + text.lstrip())
