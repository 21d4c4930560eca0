"""The best passages of documents that are not kept whole: sentences in their order, with visible gaps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.overlaps import Stitch, stitch_plan
from ctxopt_core.documents.partial_document import PartialDocument
from ctxopt_core.documents.passage_units import read_units
from ctxopt_core.documents.ranking import Ranking
from ctxopt_core.documents.rendering import DocumentCosts
from ctxopt_core.documents.unit_scores import score_units
from ctxopt_core.relevance.query_terms import QueryTerms
from ctxopt_core.relevance.scorer import Scorer, call_scorer, standing_out

# The characters that are read bound the time, since reading costs more than counting: a packing reads a few times what
# fits. Reading less loses evidence in documents of lower rank.
_MOST_DOCUMENTS = 256  # read at once
_LEAST_READ = 24_000  # characters, about ten pages
_LEAST_READ_BESIDE = 10_000  # characters, where whole documents are kept and passages only fill the rest
_LONGEST_READ = 200_000  # characters of one document; of a longer one only the likely places are read
_READ_PER_TOKEN = 14  # characters for each token that is left: about three times what fits
_READ_WITHOUT_QUERY = 16  # the same without a query, whose units need no scores
_PATIENCE = 80  # units in a row that do not fit, after which the budget counts as full
_CHARACTERS_PER_TOKEN = 12  # more than prose has, so that what is longer need not be counted
# A small table is kept whole: a third of the budget leaves as much for two other places.
_TABLE_SHARE = 3
_NEARLY_WHOLE = (
    0.2  # part of a document that may be missing for the rest to be taken as well, so that it reads as written
)
_FEWEST_TERMS = 5  # of a unit that counts as repeated; shorter ones, such as "Yes.", may mean something else


class Passages:
    """Passages chosen step by step from some documents.

    The order of calls is: `consider` documents, then `take_best` and `drop_worst` as often as needed; all three again
    for more documents. `exclude` comes before `consider`, whenever other documents are kept whole than before. `texts`
    and `chains` may be read at any time; `changes` grows with each change of `texts`.

    Without terms of a query, documents are kept from their start. `scorer` scores units in addition to BM25.
    """

    def __init__(
        self,
        costs: DocumentCosts,
        counter: TokenCounter,
        terms: QueryTerms,
        ranking: Ranking,
        *,
        budget: int,
        marker: str,
        scorer: Scorer | None = None,
    ) -> None:
        self._costs = costs
        self._counter = counter
        self._terms = terms
        self._weights = terms.weights
        self._scorer = scorer
        self._ranking = ranking
        self._largest_table = budget // _TABLE_SHARE
        self._marker = marker
        self._gap_tokens = max(counter.count(marker.strip()), counter.count(marker.rstrip()))
        self._documents: dict[int, PartialDocument] = {}
        self._taken: list[tuple[PartialDocument, tuple[int, ...]]] = []
        self._document_with: dict[tuple[str, ...], int] = {}
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
        """Render a document; its start is marked as a gap if the chunk that it follows does not lead up to it."""
        text = part.render(self._marker)
        if part.follows is None or 0 not in part.chosen or part.follows in self._whole:
            return text
        before = self._documents.get(part.follows)
        led_up = before is not None and len(before.units) - 1 in before.chosen
        return text if led_up else self._marker.lstrip() + text

    def exclude(self, whole: Collection[int]) -> None:
        """Set the documents that are kept whole, so that no sentence is chosen that they contain."""
        self._whole = tuple(sorted(whole))
        self._whole_text = "\n\n".join(map(self._costs.text, self._whole))

    def consider(self, positions: Mapping[int, int], limit: int) -> set[int]:
        """Read documents, and return those from which units can be chosen now; what was chosen before stays chosen.

        Args:
            positions: For each document how many rank above it, best first. Documents with chosen units are among them;
                of the others no more are read than can matter.
            limit: Tokens that may be added: the fewer, the fewer documents matter.
        """
        least = _LEAST_READ_BESIDE if self._whole else _LEAST_READ
        left = max(least, limit * _READ_PER_TOKEN) if self._weights else limit * _READ_WITHOUT_QUERY
        new: list[int] = []
        for index in positions:
            if not self._is_begun(index) and left > 0 and len(new) < _MOST_DOCUMENTS:
                left -= len(self._costs.text(index))
                new.append(index)
        fresh = frozenset(new)
        considered = [index for index in positions if self._is_begun(index) or index in fresh]
        self.chains = stitch_plan(self._costs.documents, [*self._whole, *considered])
        stitches = {stitch.right: stitch for chain in self.chains for stitch in chain}
        longest = max(_LONGEST_READ, limit * _READ_PER_TOKEN)
        self._documents = {
            index: self._documents[index]
            if self._is_begun(index)
            else self._read(index, positions[index], stitches.get(index), longest)
            for index in considered
        }
        parts = list(self._documents.values())
        score_units(parts, self._weights, self._ranking, self._similarities(parts))
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

    def take_best(self, limit: int, *, documents: int, units: int | None = None, repeats: bool = False) -> int:
        """Choose the units of the highest scores, best first; without a query, each document from its start.

        At most `documents` documents get a first unit, and at most `units` units are chosen. `repeats` allows those
        that repeat a chosen one of another document. Return the tokens that are left of `limit` by the counts of single
        units, which are estimates.
        """
        refused = taken = 0
        for part, number in self._by_score() if self._weights else self._heads():
            if limit < 1 or refused == _PATIENCE or taken == units:
                break
            if number in part.chosen or not (part.chosen or documents):
                continue
            if self._weights and not repeats and self._is_repeated(part, number):
                continue
            group, cost = self._fitting_group(part, number, limit)
            if not group:
                refused += 1
                continue
            refused = 0
            taken += 1
            limit -= cost
            documents -= not part.chosen
            self._choose(part, group)
        return limit

    def _fitting_group(self, part: PartialDocument, number: int, limit: int) -> tuple[tuple[int, ...], int]:
        """Return the largest group of units that is chosen with a unit and fits, and its tokens; none if none fits.

        The smallest group is the unit with what leads it in, without which it is not chosen.
        """
        lead_ins = part.blocks.lead_ins.get(number, ()) if self._weights else ()
        least = (*(n for n in lead_ins if n not in part.chosen), number)
        cost = self._cost(part, least, limit)
        if cost > limit:
            return (), 0
        for group in self._larger_groups(part, least) if self._weights else ():
            tokens = self._cost(part, group, limit)
            if tokens <= limit:
                return group, tokens
        return least, cost

    def _larger_groups(self, part: PartialDocument, least: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Yield all that is missing of a document that is nearly whole, and the whole table of a row if it is small."""
        missing = part.missing() if part.chosen else []
        if missing and part.characters(missing) <= _NEARLY_WHOLE * len(part.text):
            yield tuple(missing)
        table = part.blocks.tables.get(least[-1], range(0))
        if len(table) > 1 and self._cost_of_table(part, table) <= self._largest_table:
            yield tuple(sorted({*least, *(n for n in table if n not in part.chosen)}))

    def _cost_of_table(self, part: PartialDocument, table: range) -> int:
        """Return the tokens of a table; one of too many characters is not counted, since each row asks for it."""
        characters = part.units[table[-1]].stop - part.units[table[0]].start
        if part.copies * characters > self._largest_table * _CHARACTERS_PER_TOKEN:
            return self._largest_table + 1
        return sum(self._count(part, number) for number in table if number not in part.chosen)

    def _choose(self, part: PartialDocument, group: tuple[int, ...]) -> None:
        part.chosen.update(group)
        self._taken.append((part, group))
        self._texts = None
        self.changes += 1
        for number in group:
            terms = self._terms_of(part, number)
            if len(terms) >= _FEWEST_TERMS:
                self._document_with.setdefault(terms, part.index)

    def _by_score(self) -> list[tuple[PartialDocument, int]]:
        """Return the units that are sentences or match the query, best first."""
        units = [
            (part, n)
            for part in self._documents.values()
            for n, unit in enumerate(part.units)
            if unit.sentence or part.match[n] > 0.0
        ]
        return sorted(units, key=lambda unit: (-unit[0].scores[unit[1]], unit[0].position, unit[1]))

    def _heads(self) -> Iterator[tuple[PartialDocument, int]]:
        """Yield the units of each document from its start, as long as they are taken."""
        for part in self._documents.values():
            for number, unit in enumerate(part.units):
                if number not in part.chosen and unit.sentence:
                    yield part, number
                if number not in part.chosen:
                    break

    def best_start(self) -> tuple[int, int] | None:
        """Return the document and the offset of the best unit, chosen or not; None without any unit."""
        units = (
            (part.scores[n], -part.position, -n, part.index, part.offset + unit.start)
            for part in self._documents.values()
            for n, unit in enumerate(part.units)
        )
        best = max(units, default=None)
        return None if best is None else best[3:]

    def drop_worst(self, tokens: int) -> bool:
        """Drop what was chosen last, in groups, until it has at least `tokens`; return False if nothing is chosen."""
        dropped = bool(self._taken)
        while self._taken and tokens > 0:
            part, group = self._taken.pop()
            part.chosen.difference_update(group)
            self._texts = None
            self.changes += 1
            for number in group:
                terms = self._terms_of(part, number)
                if self._document_with.get(terms) == part.index:
                    del self._document_with[terms]
                tokens -= self._count(part, number)
        return dropped

    def _similarities(self, parts: Sequence[PartialDocument]) -> Sequence[float]:
        """Return the score of each unit by the custom scorer, from 0.0 to 1.0; empty without a scorer or a query."""
        texts = [part.text[unit.start : unit.stop] for part in parts for unit in part.units]
        if self._scorer is None or not self._weights or not texts:
            return ()
        return standing_out(call_scorer(self._scorer, self._terms.text, texts))

    def _is_repeated(self, part: PartialDocument, number: int) -> bool:
        """Return whether a whole document, or a chosen unit of another one, has the same words."""
        if self._document_with.get(self._terms_of(part, number), part.index) != part.index:
            return True
        unit = part.units[number]
        return bool(self._whole) and part.text[unit.start : unit.stop].strip() in self._whole_text

    def _terms_of(self, part: PartialDocument, number: int) -> tuple[str, ...]:
        return tuple(part.terms[number]) if part.terms else ()

    def _cost(self, part: PartialDocument, group: Sequence[int], limit: int) -> int:
        """Return the tokens that units add: themselves, their markers and, with the first, the document's template."""
        if part.copies * part.characters(group) > limit * _CHARACTERS_PER_TOKEN:
            return limit + 1
        tokens = sum(self._count(part, number) for number in group)
        tokens += part.added_gaps(group) * part.copies * self._gap_tokens
        return tokens if part.chosen else tokens + self._costs.of_template(part.index)

    def _count(self, part: PartialDocument, number: int) -> int:
        unit = part.units[number]
        text = part.text[unit.start : unit.stop]
        return part.copies * self._counter.count(text if text[:1] == " " else " " + text.lstrip())
