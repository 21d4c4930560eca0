"""Placing documents in a budget, most relevant first: whole where they fit, then as their best passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ctxopt_core.document_costs import DocumentCosts
from ctxopt_core.passages import Passages
from ctxopt_core.query_coverage import QueryCoverage
from ctxopt_core.ranking import in_reading_order
from ctxopt_core.tokens import TokenCounter
from ctxopt_core.truncation import truncate

if TYPE_CHECKING:
    from ctxopt_core.documents import DocumentPolicy

_LEAST_ROOM = 4
_SLACK_PER_DOCUMENT = 4
_CUT_TRIES = 8
_MOST_RESERVED = 3
_LEAST_SHARE = 0.2
_MOST_OF_QUERY = 0.5
_FAR_MORE = 4


class Packer:
    """One packing on its way: what is kept so far, of which documents, and what it counts.

    Args:
        costs: The documents and what they cost.
        counter: Counts texts.
        budget: Tokens that the kept documents may count, rendered and joined.
        query: What is asked.
        policy: How to choose.
    """

    def __init__(
        self, costs: DocumentCosts, counter: TokenCounter, budget: int, query: str, policy: DocumentPolicy
    ) -> None:
        self._costs = costs
        self._counter = counter
        self._budget = budget
        self._policy = policy
        self._passages = Passages(costs, counter, query, policy.passage_marker)
        self._order: Sequence[int] = ()
        self._whole: set[int] = set()
        self._cut: dict[int, str] = {}
        self._counted: tuple[tuple[int, ...], dict[int, str], int] | None = None

    @property
    def texts(self) -> dict[int, str]:
        """The texts of the documents that are kept in part."""
        texts = {**self._passages.texts, **self._cut}
        return {index: text for index, text in texts.items() if text != self._costs.text(index)}

    @property
    def kept(self) -> tuple[int, ...]:
        """The kept documents in reading order."""
        present = self._whole | self._passages.texts.keys() | self._cut.keys()
        return in_reading_order([i for i in self._order if i in present], self._policy.reading_order)

    @property
    def tokens(self) -> int:
        """What is kept counts, rendered and joined."""
        kept, texts = self.kept, self.texts
        if self._counted is None or self._counted[:2] != (kept, texts):
            self._counted = (kept, texts, self._costs.joined(kept, texts) if kept else 0)
        return self._counted[2]

    def keep_all(self, order: Sequence[int]) -> bool:
        """Keep all documents whole if they fit; tell whether they do."""
        if self._policy.max_documents is not None and len(order) > self._policy.max_documents:
            return False
        room = self._budget + _SLACK_PER_DOCUMENT * len(order)
        for index in order:
            if not self._costs.fits(index, room):
                return False
            room -= self._costs[index]
        self._order, self._whole = order, set(order)
        if self.tokens <= self._budget:
            return True
        self._whole = set()
        return False

    def pack(self, order: Sequence[int]) -> None:
        """Keep what fits, considering the documents in this order."""
        self._order = order
        if self._policy.passages and order:
            self._begin_best()
            self._begin_missing()
        self._place_whole()
        self._settle()
        if self._policy.passages:
            self._fill()
            self._settle()
            if order and not self.kept:
                self._cut_best()

    @property
    def _places_left(self) -> int:
        most = self._policy.max_documents
        return len(self._order) if most is None else most - len(self.kept)

    @property
    def _begun_tokens(self) -> int:
        texts = self._passages.texts
        return sum(map(self._costs.of_text, texts, texts.values()))

    def _begin_best(self) -> None:
        """Give the best document, if it is too big alone, its best passage, and more of it up to half the budget."""
        best = self._order[0]
        if not self._costs.fits(best, self._budget):
            self._passages.consider({best: 0}, self._budget)
            left = self._passages.take_best(self._budget, documents=1, units=1)
            self._passages.take_best(left - self._budget // 2, documents=1)

    def _begin_missing(self) -> None:
        """Give room to a passage for what the query asks about and no document holds that would be kept whole.

        A quarter of the budget is out of its reach, and the best document unless it holds next to nothing of the query
        and the other most of it.
        """
        if not self._passages.wanted:
            return
        texts = {index: self._costs.text(index) for index in self._order}
        coverage = QueryCoverage(self._passages.wanted, texts)
        useless: set[int] = set()
        for _ in range(_MOST_RESERVED):
            self._place_whole()
            missing = coverage.missing(self._whole, self._passages.texts.values())
            others = [index for index in self._order if index not in self._whole and index not in useless]
            self._whole = set()
            source = coverage.best_source(missing, others, _LEAST_SHARE)
            if source is None:
                return
            best = coverage.share(self._order[0])
            yields = coverage.share(source) >= max(_MOST_OF_QUERY, _FAR_MORE * best)
            if not self._begin(source, missing, beside_best=not yields):
                useless.add(source)

    def _begin(self, index: int, wanted: frozenset[str], *, beside_best: bool) -> bool:
        """Take one unit of a document for the sake of some terms, if there is room, beside the best document or not."""
        best, begun = self._order[0], self._begun_tokens
        best_waits = best not in (index, *self._passages.texts)
        room, places = self._budget * 3 // 4 - begun, self._places_left - best_waits
        if beside_best and best_waits and self._costs.fits(best, self._budget):
            room = min(room, self._budget - begun - self._costs[best])
        if room < _LEAST_ROOM:
            return False
        chosen = self._passages.texts.keys() | {index}
        positions = {i: position for position, i in enumerate(self._order) if i in chosen}
        self._passages.consider(positions, room, wanted)
        return self._passages.take_best(room, documents=places, units=1) < room

    def _place_whole(self) -> None:
        begun, places = self._passages.texts, self._places_left
        room = self._budget - self._begun_tokens
        for index in self._order:
            if not places or room <= 0:
                break
            if index not in begun and self._costs.fits(index, room):
                self._whole.add(index)
                room -= self._costs[index]
                places -= 1

    def _fill(self) -> None:
        """Fill what is left with passages of documents that are not whole."""
        room = self._budget - self.tokens
        rest = {index: position for position, index in enumerate(self._order) if index not in self._whole}
        if not rest or room < _LEAST_ROOM:
            return
        self._passages.consider(rest, room)
        left = self._passages.take_best(room, documents=self._places_left)
        self._passages.take_more(left, documents=self._places_left)

    def _settle(self) -> None:
        """Give up what is worth least until the join of all parts keeps the budget, whatever single counts said."""
        while (over := self.tokens - self._budget) > 0:
            if self._passages.give_up(over):
                continue
            for index in reversed(self._order):
                if over > 0 and index in self._whole:
                    self._whole.discard(index)
                    over -= self._costs[index]

    def _cut_best(self) -> None:
        """Keep something of the best document, cut at a word, where not one sentence of any fits."""
        for index, start in self._starts():
            room = self._budget - self._costs.of_template(index) + self._costs.separator_tokens
            while room > 0:
                text = self._cut_text(index, start, room)
                if not text:
                    break
                over = self._costs.joined((index,), {index: text}) - self._budget
                if over <= 0:
                    self._cut = {index: text}
                    return
                room -= over

    def _starts(self) -> Iterator[tuple[int, int]]:
        best = self._passages.best_start()
        if best is not None:
            yield best
        for index in self._order[:_CUT_TRIES]:
            yield index, 0

    def _cut_text(self, index: int, start: int, room: int) -> str:
        """Return the text from `start` on, with markers where there is room for them."""
        text = self._costs.text(index)
        rest = text[start:].strip()
        marker = self._policy.passage_marker
        before, after = marker.lstrip() if text[:start].strip() else "", marker.rstrip()
        part = truncate(rest, room - self._counter.count(before + after), self._counter).rstrip()
        if not part:
            return truncate(rest, room, self._counter).rstrip()
        return before + part + (after if len(part) < len(rest) else "")
