"""The best passages of documents that do not stand whole: sentences in their order, with visible gaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, repeat

from ctxopt_core.document_costs import DocumentCosts
from ctxopt_core.partial_document import PartialDocument
from ctxopt_core.passage_units import read_units
from ctxopt_core.relevance import bm25_of_terms, tokenize
from ctxopt_core.tokens import TokenCounter

_MOST_DOCUMENTS = 64
_LEAST_READ = 24_000
_LONGEST_READ = 200_000
_READ_TO_CHOOSE = 400
_READ_TO_FILL = 8
_NEIGHBOUR_WORTH = 0.7
_RANK_DAMPING = 3
_PATIENCE = 200
_CHARACTERS_PER_TOKEN = 16


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
        self.wanted = frozenset(tokenize(query))
        self._marker = marker
        self._gap_tokens = max(counter.count(marker.strip()), counter.count(marker.rstrip()))
        self._documents: dict[int, PartialDocument] = {}

    @property
    def texts(self) -> dict[int, str]:
        """The passages of each document of which something is chosen."""
        return {i: part.render(self._marker) for i, part in self._documents.items() if part.chosen}

    def consider(self, positions: Mapping[int, int], room: int, wanted: frozenset[str] | None = None) -> None:
        """Let units be chosen from these documents; what was chosen before stays chosen.

        Args:
            positions: For each document how many rank above it, best first. Documents that are chosen from are among
                them; of the others no more are read than can matter.
            room: Tokens that may be added: the fewer, the fewer documents matter.
            wanted: The terms by which units are judged; by default those of the query.
        """
        earlier = self._documents
        self._documents = {}
        wanted = self.wanted if wanted is None else wanted
        longest = max(_LONGEST_READ, room * _READ_TO_FILL)
        left = min(longest, max(_LEAST_READ, room * _READ_TO_CHOOSE) if wanted else room * _CHARACTERS_PER_TOKEN)
        for index, position in positions.items():
            known = earlier.get(index)
            if known and known.chosen:
                self._documents[index] = known
            elif left > 0 and len(self._documents) < _MOST_DOCUMENTS:
                text = self._costs.text(index)
                left -= len(text)
                units, terms = read_units(text, wanted, longest)
                self._documents[index] = PartialDocument(
                    index=index, position=position, text=text, units=units, terms=terms
                )
        self._judge(wanted)

    def take_best(self, room: int, *, documents: int, units: int | None = None) -> int:
        """Choose the units that answer the query, best first; where there is no query, heads.

        Args:
            room: Tokens that may be added.
            documents: How many documents may be begun.
            units: How many units may be chosen; None for as many as there is room for.

        Returns:
            The tokens that are left of `room`, as far as single counts can tell.
        """
        if not self.wanted:
            return self._take(self._heads(), room, documents, units)
        hits = [(part, n) for part in self._documents.values() for n, worth in enumerate(part.worth) if worth > 0.0]
        hits.sort(key=lambda hit: (-hit[0].worth[hit[1]], hit[0].position, hit[1]))
        return self._take(hits, room, documents, units)

    def take_more(self, room: int, *, documents: int) -> int:
        """Choose what stands around the chosen units, nearest first, then heads of further documents.

        The arguments and the result are those of `take_best`.
        """
        around = [
            (distance, part.position, n, part)
            for part in self._documents.values()
            if part.chosen
            for n, distance in enumerate(part.distances())
            if distance and part.units[n].sentence
        ]
        around.sort(key=lambda near: near[:3])
        return self._take(chain(((part, n) for _, _, n, part in around), self._heads()), room, documents)

    def best_start(self) -> tuple[int, int] | None:
        """Return the document and the offset of the unit of most worth, chosen or not; None without any unit."""
        units = (
            (part.worth[n], -part.position, -n, part.index, unit.start)
            for part in self._documents.values()
            for n, unit in enumerate(part.units)
        )
        best = max(units, default=None)
        return None if best is None else best[3:]

    def give_up(self, tokens: int) -> bool:
        """Give up the units of least worth that count at least `tokens`; False when nothing was chosen."""
        chosen = [(part, n) for part in self._documents.values() for n in part.chosen]
        chosen.sort(key=lambda unit: (unit[0].worth[unit[1]], -unit[0].position, -unit[1]))
        for part, number in chosen:
            if tokens <= 0:
                break
            part.chosen.discard(number)
            tokens -= self._count(part, number)
        return bool(chosen)

    def _judge(self, wanted: frozenset[str]) -> None:
        """Weigh all units: its own score or most of a neighbour's, the less the lower its document ranks."""
        parts = list(self._documents.values())
        texts = [terms for part in parts for terms in part.terms]
        scores = chain(bm25_of_terms(wanted, texts), repeat(0.0))
        for part in parts:
            own = [next(scores) for _ in part.units]
            around = [max(pair) for pair in zip([0.0, *own], [*own[1:], 0.0], strict=False)]
            part.worth = [
                max(mine, _NEIGHBOUR_WORTH * theirs) / (part.position + _RANK_DAMPING)
                for mine, theirs in zip(own, around, strict=True)
            ]

    def _heads(self) -> Iterator[tuple[PartialDocument, int]]:
        """Yield the units of each document from its start, as long as they are taken."""
        for part in self._documents.values():
            for number, unit in enumerate(part.units):
                if number not in part.chosen and unit.sentence:
                    yield part, number
                if number not in part.chosen:
                    break

    def _take(
        self, candidates: Iterable[tuple[PartialDocument, int]], room: int, documents: int, units: int | None = None
    ) -> int:
        refused = taken = 0
        for part, number in candidates:
            if room < 1 or refused == _PATIENCE or taken == units:
                break
            if number in part.chosen or not (part.chosen or documents):
                continue
            cost = self._cost(part, number, room)
            if cost > room:
                refused += 1
                continue
            refused = 0
            taken += 1
            documents -= not part.chosen
            part.chosen.add(number)
            room -= cost
        return room

    def _cost(self, part: PartialDocument, number: int, room: int) -> int:
        """Return what a unit adds: itself, its markers and, with the first unit, the document's frame."""
        unit = part.units[number]
        if unit.stop - unit.start > room * _CHARACTERS_PER_TOKEN:
            return room + 1
        tokens = self._count(part, number)
        gaps = part.open_sides(number)
        if part.chosen:
            return tokens + (gaps - 1) * self._gap_tokens
        return tokens + gaps * self._gap_tokens + self._costs.of_template(part.index)

    def _count(self, part: PartialDocument, number: int) -> int:
        unit = part.units[number]
        text = part.text[unit.start : unit.stop]
        return self._counter.count(text if text[:1] == " " else " " + text.lstrip())
