"""The best passages of documents that do not stand whole: sentences in their order, with visible gaps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.costs import DocumentCosts
from ctxopt_core.documents.overlaps import Stitch, stitch_plan
from ctxopt_core.documents.partial_document import PartialDocument
from ctxopt_core.documents.passage_scores import weigh_units
from ctxopt_core.documents.passage_units import read_units
from ctxopt_core.relevance.query_terms import QueryTerms
from ctxopt_core.relevance.scorer import Scorer, call_scorer, spread

_MOST_DOCUMENTS = 256
_LEAST_READ = 24_000
_LEAST_READ_BESIDE = 10_000
_LONGEST_READ = 200_000
_READ_PER_TOKEN = 14
_READ_WITHOUT_QUERY = 16
_PATIENCE = 80
_CHARACTERS_PER_TOKEN = 12
_FEWEST_TERMS = 5


class Passages:
    """Passages chosen step by step from some documents.

    Args:
        costs: The documents and what they cost.
        counter: Counts the units.
        terms: What the query says. Without any terms the heads of the documents are their best passages.
        relevance: How relevant each document is, from 0.0 to 1.0.
        marker: What stands where something is missing.
        scorer: Tells how relevant a unit is, beside the terms that it shares with the query.
    """

    def __init__(
        self,
        costs: DocumentCosts,
        counter: TokenCounter,
        terms: QueryTerms,
        relevance: Mapping[int, float],
        *,
        marker: str,
        scorer: Scorer | None = None,
    ) -> None:
        self._costs = costs
        self._counter = counter
        self._terms = terms
        self._weights = terms.weights
        self._scorer = scorer
        self._relevance = relevance
        self._marker = marker
        self._gap_tokens = max(counter.count(marker.strip()), counter.count(marker.rstrip()))
        self._documents: dict[int, PartialDocument] = {}
        self._said_by: dict[tuple[str, ...], int] = {}
        self._texts: dict[int, str] | None = None
        self._whole: tuple[int, ...] = ()
        self._whole_text = ""
        self.chains: tuple[tuple[Stitch, ...], ...] = ()
        self.changes = 0

    @property
    def texts(self) -> Mapping[int, str]:
        """The passages of each document of which something is chosen."""
        if self._texts is None:
            self._texts = {i: self._text(part) for i, part in self._documents.items() if part.chosen}
        return self._texts

    def _text(self, part: PartialDocument) -> str:
        """Render a document; a start that stands in another one is a gap where that one does not lead up to it."""
        text = part.render(self._marker)
        if part.follows is None or 0 not in part.chosen or part.follows in self._whole:
            return text
        before = self._documents.get(part.follows)
        led_up = before is not None and len(before.units) - 1 in before.chosen
        return text if led_up else self._marker.lstrip() + text

    def stand_beside(self, whole: Collection[int]) -> None:
        """Say which documents are kept whole, so that nothing is chosen that they hold."""
        self._whole = tuple(sorted(whole))
        self._whole_text = "\n\n".join(map(self._costs.text, self._whole))

    def consider(self, positions: Mapping[int, int], room: int) -> set[int]:
        """Let units be chosen from these documents; what was chosen before stays chosen.

        Args:
            positions: For each document how many rank above it, best first. Documents that are chosen from are among
                them; of the others no more are read than can matter.
            room: Tokens that may be added: the fewer, the fewer documents matter.

        Returns:
            The documents from which units can be chosen now.
        """
        least = _LEAST_READ_BESIDE if self._whole else _LEAST_READ
        left = max(least, room * _READ_PER_TOKEN) if self._weights else room * _READ_WITHOUT_QUERY
        new: list[int] = []
        for index in positions:
            if not self._is_begun(index) and left > 0 and len(new) < _MOST_DOCUMENTS:
                left -= len(self._costs.text(index))
                new.append(index)
        fresh = frozenset(new)
        considered = [index for index in positions if self._is_begun(index) or index in fresh]
        self.chains = stitch_plan(self._costs.documents, [*self._whole, *considered])
        stitches = {stitch.right: stitch for chain in self.chains for stitch in chain}
        longest = max(_LONGEST_READ, room * _READ_PER_TOKEN)
        self._documents = {
            index: self._documents[index]
            if self._is_begun(index)
            else self._read(index, positions[index], stitches.get(index), longest)
            for index in considered
        }
        parts = list(self._documents.values())
        weigh_units(parts, self._weights, self._relevance, self._similarities(parts))
        return set(considered)

    def _is_begun(self, index: int) -> bool:
        return index in self._documents and bool(self._documents[index].chosen)

    def _read(self, index: int, position: int, stitch: Stitch | None, longest: int) -> PartialDocument:
        start = stitch.repeated if stitch else 0
        text = self._costs.text(index)[start:]
        units, terms = read_units(text, self._weights, longest)
        return PartialDocument(
            index=index,
            position=position,
            text=text,
            offset=start,
            follows=stitch.left if stitch else None,
            copies=self._costs.copies(index),
            units=units,
            terms=terms,
        )

    def take_best(self, room: int, *, documents: int, units: int | None = None, repeats: bool = False) -> int:
        """Choose the units that are worth most to the query, best first; where there is no query, heads.

        Args:
            room: Tokens that may be added.
            documents: How many documents may be begun.
            units: How many units may be chosen; None for as many as there is room for.
            repeats: Whether a unit may be chosen that says what a chosen one of another document says.

        Returns:
            The tokens that are left of `room`, as far as single counts can tell.
        """
        if not self._weights:
            return self._take(self._heads(), room, documents, units, repeats=True)
        worthwhile = [
            (part, n)
            for part in self._documents.values()
            for n, unit in enumerate(part.units)
            if unit.sentence or part.match[n] > 0.0
        ]
        worthwhile.sort(key=lambda hit: (-hit[0].worth[hit[1]], hit[0].position, hit[1]))
        return self._take(worthwhile, room, documents, units, repeats=repeats)

    def best_start(self) -> tuple[int, int] | None:
        """Return the document and the offset of the unit of most worth, chosen or not; None without any unit."""
        units = (
            (part.worth[n], -part.position, -n, part.index, part.offset + unit.start)
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
            self._texts = None
            self.changes += 1
            said = self._saying(part, number)
            if self._said_by.get(said) == part.index:
                del self._said_by[said]
            tokens -= self._count(part, number)
        return bool(chosen)

    def _similarities(self, parts: Sequence[PartialDocument]) -> Sequence[float]:
        """Return what the scorer says of each unit, from 0.0 to 1.0; nothing without a scorer or a query."""
        texts = [part.text[unit.start : unit.stop] for part in parts for unit in part.units]
        if self._scorer is None or not self._weights or not texts:
            return ()
        return spread(call_scorer(self._scorer, self._terms.text, texts))

    def _heads(self) -> Iterator[tuple[PartialDocument, int]]:
        """Yield the units of each document from its start, as long as they are taken."""
        for part in self._documents.values():
            for number, unit in enumerate(part.units):
                if number not in part.chosen and unit.sentence:
                    yield part, number
                if number not in part.chosen:
                    break

    def _take(
        self,
        candidates: Iterable[tuple[PartialDocument, int]],
        room: int,
        documents: int,
        units: int | None,
        *,
        repeats: bool,
    ) -> int:
        refused = taken = 0
        for part, number in candidates:
            if room < 1 or refused == _PATIENCE or taken == units:
                break
            if number in part.chosen or not (part.chosen or documents):
                continue
            if not repeats and self._is_repeated(part, number):
                continue
            cost = self._cost(part, number, room)
            if cost > room:
                refused += 1
                continue
            refused = 0
            taken += 1
            room -= cost
            documents -= not part.chosen
            self._choose(part, number)
        return room

    def _choose(self, part: PartialDocument, number: int) -> None:
        part.chosen.add(number)
        self._texts = None
        self.changes += 1
        said = self._saying(part, number)
        if len(said) >= _FEWEST_TERMS:
            self._said_by.setdefault(said, part.index)

    def _is_repeated(self, part: PartialDocument, number: int) -> bool:
        """Tell whether a whole document, or a chosen unit of another one, says the same in the same words."""
        if self._said_by.get(self._saying(part, number), part.index) != part.index:
            return True
        unit = part.units[number]
        return bool(self._whole) and part.text[unit.start : unit.stop].strip() in self._whole_text

    def _saying(self, part: PartialDocument, number: int) -> tuple[str, ...]:
        return tuple(part.terms[number]) if part.terms else ()

    def _cost(self, part: PartialDocument, number: int, room: int) -> int:
        """Return what a unit adds: itself, its markers and, with the first unit, the document's frame."""
        unit = part.units[number]
        if part.copies * (unit.stop - unit.start) > room * _CHARACTERS_PER_TOKEN:
            return room + 1
        tokens = self._count(part, number)
        gap_tokens = part.copies * self._gap_tokens
        gaps = part.open_sides(number)
        if part.chosen:
            return tokens + (gaps - 1) * gap_tokens
        return tokens + gaps * gap_tokens + self._costs.of_template(part.index)

    def _count(self, part: PartialDocument, number: int) -> int:
        unit = part.units[number]
        text = part.text[unit.start : unit.stop]
        return part.copies * self._counter.count(text if text[:1] == " " else " " + text.lstrip())
