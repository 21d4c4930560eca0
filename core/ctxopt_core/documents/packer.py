"""Packing documents into a budget step by step: whole ones, and passages of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.duplicates import contained
from ctxopt_core.documents.overlaps import Stitching
from ctxopt_core.documents.passages import Passages
from ctxopt_core.documents.policy import DocumentPolicy
from ctxopt_core.documents.ranking import Ranking, in_reading_order
from ctxopt_core.documents.rendering import DocumentCosts
from ctxopt_core.documents.selection import Resolved, choose
from ctxopt_core.relevance.query_terms import QueryTerms
from ctxopt_core.shortening.truncate import truncate

_LEAST_LEFT = 4  # tokens; in fewer no sentence fits beside its marker
_SLACK_PER_DOCUMENT = 4  # tokens by which the count of a document alone may exceed its part of the join
_CUT_TRIES = 64  # documents of which a first word is tried; bounds the time where none has one that fits
_FILL_ROUNDS = 3  # rounds of passages, since counts of the parts are above that of the join; more add hardly anything
_PATIENCE = 20  # documents in a row that are too big, after which passages have the rest (docs/why.md)
_FILLED_SHARE = 50  # a fiftieth of the budget: where less is left, reading further documents is not worthwhile
_MOST_IN_VAIN = 2  # rounds of further documents that added nothing
_CHARACTERS_PER_TOKEN = 12  # more than prose has, so that what is longer need not be counted


class Packer:
    """One packing in progress: which documents are kept so far, and how many tokens they have.

    It is called in this order, for one request only: `keep_all` and `keep_all_stitched` until one of them returns True,
    otherwise `pack` once. After that `kept`, `texts` and `tokens` are final, as are `repeated` (documents that another
    whole one contains) and `without_value` (documents whose scores have no value).
    """

    def __init__(self, costs: DocumentCosts, counter: TokenCounter, budget: int, policy: DocumentPolicy) -> None:
        self.costs = costs
        self._counter = counter
        self._budget = budget
        self.policy = policy
        self._order: Sequence[int] = ()
        self._reading: Sequence[int] = ()
        self._whole: set[int] = set()
        self._stitching = Stitching()
        self._passages = self._passages_of(QueryTerms(), Ranking())
        self._cut: dict[int, str] = {}
        self._counted: tuple[tuple[object, ...], int] | None = None
        self.repeated: set[int] = set()
        self.without_value: set[int] = set()

    @property
    def texts(self) -> dict[int, str]:
        """The texts of the documents that are kept in part."""
        texts = {**self._stitching.texts, **self._passages.texts, **self._cut}
        return {index: text for index, text in texts.items() if text != self.costs.text(index)}

    @property
    def kept(self) -> tuple[int, ...]:
        """The kept documents in reading order."""
        present = self._whole | self._passages.texts.keys() | self._cut.keys()
        kept = in_reading_order([i for i in self._reading if i in present], self.policy.reading_order)
        return self._stitching.in_order(kept, self._passages.chains)

    @property
    def tokens(self) -> int:
        """Tokens of the kept documents, rendered and joined."""
        chains = (self._stitching.chains, self._passages.chains)
        state = (frozenset(self._whole), self._passages.changes, tuple(self._cut.items()), chains)
        if self._counted is None or self._counted[0] != state:
            kept = self.kept
            self._counted = (state, self.costs.joined(kept, self.texts) if kept else 0)
        return self._counted[1]

    def keep_all(self, order: Sequence[int]) -> bool:
        """Keep all documents whole if they fit; return whether they do."""
        if self.policy.max_documents is not None and len(order) > self.policy.max_documents:
            return False
        left = self._budget + _SLACK_PER_DOCUMENT * len(order)
        for index in order:
            if not self.costs.fits(index, left):
                return False
            left -= self.costs[index]
        return self._all_fit(order)

    def keep_all_stitched(self, order: Sequence[int]) -> bool:
        """Keep all documents if they fit when those that overlap are stitched; return whether they do."""
        stitching = Stitching.of(self.costs.documents, set(order), order)
        if not stitching.chains or len(order) > (self.policy.max_documents or len(order)):
            return False
        texts = (stitching.texts.get(index, self.costs.text(index)) for index in order)
        if sum(map(len, texts)) > self._budget * _CHARACTERS_PER_TOKEN:
            return False
        self._stitching = stitching
        return self._all_fit(order)

    def _all_fit(self, order: Sequence[int]) -> bool:
        self._reading, self._whole, self._counted = order, set(order), None
        if self.tokens <= self._budget:
            return True
        self._whole, self._stitching = set(), Stitching()
        return False

    def pack(self, selection: Resolved, ranking: Ranking, reading: Sequence[int], terms: QueryTerms) -> float | None:
        """Keep what fits; return the share of the optimal selection's value that the order by score would have reached.

        The share is None with other selections. `reading` has the ranked documents in the order of their scores, from
        which the reading order is made.
        """
        self._order, self._reading, self._counted = ranking.order, reading, None
        self._passages = self._passages_of(terms, ranking)
        share = None
        if selection == "score":
            if self.policy.passages and self._order:
                self._begin_best()
            self._place(self._order)
        elif selection == "passages":
            self._place_attachments()
        else:
            left = self._budget + self.costs.separator_tokens
            chosen, without_value, share = choose(ranking, self.costs, left, self.policy)
            self._place(chosen)
            self.without_value.update(without_value)
        self._settle()
        if self.policy.passages:
            self._fill()
        return share

    def _passages_of(self, terms: QueryTerms, ranking: Ranking) -> Passages:
        marker, scorer = self.policy.gap_marker, self.policy.scorer
        return Passages(self.costs, self._counter, terms, ranking, budget=self._budget, marker=marker, scorer=scorer)

    @property
    def _places_left(self) -> int:
        most = self.policy.max_documents
        return len(self._order) if most is None else most - len(self.kept)

    def _begin_best(self) -> None:
        """Give the best document, if it is too big alone, its best passage, and more of it up to half the budget."""
        best = self._order[0]
        if not self.costs.fits(best, self._budget):
            self._passages.consider({best: 0}, self._budget)
            left = self._passages.take_best(self._budget, documents=1, units=1)
            self._passages.take_best(left - self._budget // 2, documents=1)

    def _place_attachments(self) -> None:
        """Place documents that are nothing but attachments; beside text they take at most half of the budget."""
        bare = [index for index in self._order if not self.costs.text(index).strip()]
        self._place_whole(bare, self._budget if len(bare) == len(self._order) else self._budget // 2)

    def _place(self, order: Sequence[int]) -> None:
        """Place whole documents in this order, and more of them in the tokens that overlaps save."""
        begun = self._passages.texts
        self._place_whole(order, self._budget - sum(map(self.costs.of_text, begun, begun.values())))
        while self._drop_repeated() | self._stitch():
            if not self._place_whole(order, self._budget - self.tokens):
                break

    def _place_whole(self, order: Sequence[int], left: int) -> bool:
        """Place what fits; where passages can have the rest of the budget, stop after 20 too big ones in a row."""
        begun, places, before = self._passages.texts, self._places_left, len(self._whole)
        refused, patience = 0, _PATIENCE if self.policy.passages else len(order)
        for index in order:
            if places <= 0 or left <= 0 or refused == patience:
                break
            if index not in self._whole | self.repeated and index not in begun and self.costs.fits(index, left):
                self._whole.add(index)
                left -= self.costs[index]
                places -= 1
                refused = 0
            else:
                refused += 1
        return len(self._whole) > before

    def _drop_repeated(self) -> bool:
        """Drop documents that another whole one contains; return whether there was any."""
        repeated = contained(self.costs.documents, [index for index in self._order if index in self._whole])
        self._whole.difference_update(repeated)
        self.repeated.update(repeated)
        return bool(repeated)

    def _stitch(self) -> bool:
        """Stitch the whole documents; return whether any overlap."""
        self._stitching = Stitching.of(self.costs.documents, self._whole, self._order)
        return bool(self._stitching.chains)

    def _settle(self) -> None:
        """Drop the lowest scores until the join of all parts keeps the budget, since single counts are estimates."""
        while (over := self.tokens - self._budget) > 0:
            if self._passages.drop_worst(over):
                continue
            for index in reversed(self._order):
                if over > 0 and index in self._whole:
                    self._whole.discard(index)
                    over -= self.costs[index]
            self._stitch()

    def _fill(self) -> None:
        """Fill what is left with passages of documents that are not whole; cut the best one if nothing fits."""
        placed = self._whole | self.repeated | self.without_value
        rest = {index: position for position, index in enumerate(self._order) if index not in placed}
        self._passages.exclude(self._whole)
        enough, in_vain = _LEAST_LEFT, 0
        while rest and in_vain < _MOST_IN_VAIN and (left := self._budget - self.tokens) >= enough:
            enough = max(_LEAST_LEFT, self._budget // _FILLED_SHARE)
            before, begun = self.tokens, set(self._passages.texts)
            new = self._passages.consider(rest, left) - begun
            self._take_passages(left)
            in_vain += self.tokens <= before
            if not new and in_vain:
                break
            begun = set(self._passages.texts)
            rest = {index: position for index, position in rest.items() if index in begun or index not in new}
        if self._order and not self.kept:
            self._cut_best()

    def _take_passages(self, left: int) -> None:
        """Take passages; then, in the tokens that are left when all is counted together, those that repeat others."""
        for turn in range(_FILL_ROUNDS):
            before = self.tokens
            self._passages.take_best(left, documents=self._places_left, repeats=turn > 0)
            self._settle()
            left = self._budget - self.tokens
            if left < _LEAST_LEFT or (turn and self.tokens <= before):
                break

    def _cut_best(self) -> None:
        """Keep something of the best document, cut at a word, where not one sentence of any fits."""
        tries = 0
        for index, start in self._starts():
            frame, copies = self.costs.of_template(index) - self.costs.separator_tokens, self.costs.copies(index)
            if frame >= self._budget:
                continue
            if tries == _CUT_TRIES or self._cut_one(index, start, (self._budget - frame) // copies, copies):
                break
            tries += 1

    def _cut_one(self, index: int, start: int, left: int, copies: int) -> bool:
        while left > 0:
            text = self._cut_text(index, start, left)
            if not text:
                break
            over = self.costs.joined((index,), {index: text}) - self._budget
            if over <= 0:
                self._cut = {index: text}
                return True
            left -= -(-over // copies)
        return False

    def _starts(self) -> Iterator[tuple[int, int]]:
        best = self._passages.best_start()
        if best is not None:
            yield best
        for index in self._order:
            if index not in self.repeated | self.without_value:
                yield index, 0

    def _cut_text(self, index: int, start: int, left: int) -> str:
        """Return the text from `start` on, with markers if they fit."""
        text = self.costs.text(index)
        rest = text[start:].strip()
        marker = self.policy.gap_marker
        before, after = marker.lstrip() if text[:start].strip() else "", marker.rstrip()
        part = truncate(rest, left - self._counter.count(before + after), self._counter).rstrip()
        if not part:
            return truncate(rest, left, self._counter).rstrip()
        return before + part + (after if len(part) < len(rest) else "")
