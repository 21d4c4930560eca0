"""The draft of a trimming of a conversation with tools: read tool results are pruned before a turn is dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import Turn, Unit, Units, newest_turns
from ctxopt_core.history.draft import HistoryDraft, indices_of
from ctxopt_core.history.placeholder_note import pinned_identifiers
from ctxopt_core.history.shrink_turn import Shrunk
from ctxopt_core.history.tool_result_pruning import PrunedResults
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.text.identifiers import identifiers_in

# Percent of the budget in which the newest results are kept whole, so that older turns cannot take all of it.
RECENT_RESULTS_PERCENT = 20
_SEARCHED_MESSAGES = 64  # the newest messages that are searched for a tool result: tools are at work now, or not
_MOST_CHARACTERS = 200_000  # characters of kept messages searched for identifiers, which bounds the time of a fit
# The first message and the placeholder may claim up to half of what an exchange that is too big leaves them.
_MOST_SET_ASIDE = 0.5
_LEAST_GROWTH = 1.01  # factor: a turn is not shrunk a second time for less than one percent more


def holds_tool_results(conversation: CountedConversation) -> bool:
    """Return whether a tool result is among the newest 64 messages."""
    length = len(conversation)
    return any(map(conversation.holds_results, range(length - 1, max(-1, length - 1 - _SEARCHED_MESSAGES), -1)))


@dataclass(eq=False)
class PruningDraft(HistoryDraft):
    """A draft in which tool results that the model has read are counted as excerpts while turns are chosen.

    The newest results are counted whole up to a share of the budget, so that older turns cannot take all of it. The
    placeholder may name identifiers of what was dropped. `trimming` gives the pruned results the tokens that are left.
    The methods are called in the order of `HistoryDraft`, whose arguments it has.
    """

    prunes_results: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._pruned = PrunedResults(self)
        self._recent_budget = self._recent_left = self.budget * RECENT_RESULTS_PERCENT // 100
        self._counted_whole = 0
        self._part: list[Unit] = []
        self._growing: tuple[Sequence[Unit], int, Shrunk] | None = None
        self._closed = False

    def add_current_exchange(self) -> None:
        """Keep what follows the query; the results of the newest calls are not pruned: the model has not read them."""
        units = self.split(self.end + 1, len(self.conversation))
        self.record_strays(units)
        read = units.kept[:-1]
        saved = self._pruned.saved(read)
        least = units.tokens - saved
        if least <= self.left:
            whole = self._count_whole(min(saved, self.left - least))
            self._counted_whole += whole
            self._keep(indices_of(units.kept), least + whole)
            self._pruned.prune(read)
        else:
            self._add_part_of_current(units.kept, read)

    def counted_turns(self) -> Iterator[Turn]:
        """Yield the earlier turns, newest first, with the tokens that they have when they are pruned."""
        for turn in newest_turns(self.conversation, self.end):
            if self._closed:
                yield turn._replace(tokens=self.left + 1)
                return
            if turn.plain:
                yield turn
                continue
            units = self.units_of(turn)
            saved = self._pruned.saved(units.kept)
            yield turn._replace(tokens=units.tokens - saved + self._count_whole(saved))

    def keep_whole(self, turns: Sequence[Turn]) -> None:
        """Keep all messages of turns, newest first; the results in them are pruned for the time being."""
        super().keep_whole(turns)
        for turn in turns:
            if not turn.plain:
                units = self.units_of(turn)
                self._counted_whole += turn.tokens - (units.tokens - self._pruned.saved(units.kept))
                self._pruned.prune(units.kept)

    def add_part(self, turn: Turn) -> None:
        """Keep what fits of the newest turn that does not fit."""
        if self._closed:
            return
        turns = self.turns
        super().add_part(turn)
        if self.turns > turns:
            self._pruned.prune(self._part)
        else:
            self._growing = None

    def trimming(self) -> Trimming:
        """Return what was kept, after the tokens that are left were given to the pruned results."""
        visible, mentioned = self._identifiers_kept()
        if self.policy.placeholder_content == "identifiers":
            conversation = self.conversation
            self.fill_placeholder(lambda dropped, fits: pinned_identifiers(conversation, dropped, visible, fits))
        least = dict(self._pruned.targets)
        left = self.left + self._counted_whole
        visible.update(self.placeholder.details)
        cuts = self._pruned.settle(left, self._recent_budget, visible, mentioned)
        self.shortened.update(cuts)
        for index, tokens in least.items():
            left -= (cuts[index].tokens if index in cuts else self.conversation.cost(index)) - tokens
        self.left = left
        self._grow()
        return super().trimming()

    def part_of(self, units: Units) -> Shrunk | None:
        """Return what of a turn fits in the tokens that are left; its results are pruned for the time being."""
        budget = self.left - (self.placeholder.most_detail if self.placeholder.after is not None else 0)
        part = self._pruned.part(units.kept, budget, units.kept)
        self._part = part or []
        if part is None:
            return self._shrunk(units.kept, budget)
        tokens = sum(unit.tokens for unit in part) - self._pruned.saved(part)
        return Shrunk(kept=indices_of(part), shortened={}, tokens=tokens)

    def _add_part_of_current(self, units: Sequence[Unit], read: Sequence[Unit]) -> None:
        """Keep what fits of what follows the query. As some of it has to go, no older turn is kept."""
        self._closed = True
        aside = self.reserve(self.first_message())
        budget = self.left - (aside if aside <= self.left * _MOST_SET_ASIDE else 0)
        part = self._pruned.part(units, budget, read)
        if part is None:
            self._take_shrunk(units, self._shrunk(units, budget) or self._shrunk(units, self.left))
            return
        pruned = [unit for unit in part if unit in read]
        self._keep(indices_of(part), sum(unit.tokens for unit in part) - self._pruned.saved(pruned))
        self._pruned.prune(pruned)

    def _shrunk(self, units: Sequence[Unit], budget: int) -> Shrunk | None:
        shrunk = super()._shrunk(units, budget)
        self._growing = (units, budget, shrunk) if shrunk is not None else None
        return shrunk

    def _grow(self) -> None:
        """Shrink the turn that was shrunk last once more, with the tokens that are left over."""
        if self._growing is None or self.left <= 0:
            return
        units, earlier, before = self._growing
        budget = before.tokens + self.left
        grown = super()._shrunk(units, budget) if budget >= earlier * _LEAST_GROWTH else None
        if grown is None or grown.tokens <= before.tokens:
            return
        self.kept = [i for i in self.kept if i not in before.kept]
        for index in before.shortened:
            del self.shortened[index]
        self.left += before.tokens
        self._take(grown)

    def _count_whole(self, saved: int) -> int:
        """Return how many of the tokens that pruning saves are still counted, as the newest results stay whole."""
        whole = min(saved, self._recent_left)
        self._recent_left -= whole
        return whole

    def _identifiers_kept(self) -> tuple[set[str], set[str]]:
        """Return the identifiers in kept messages that are not pruned, and those that others than tools name."""
        visible: set[str] = set()
        mentioned = set(identifiers_in(self.ranking_query))
        characters = 0
        for index in sorted(self.kept, reverse=True):
            text = self.conversation.peek(index).text
            pruned = index in self._pruned.targets
            characters += 0 if pruned else len(text)
            if characters > _MOST_CHARACTERS:
                break
            if not self.conversation.holds_results(index):
                mentioned.update(identifiers_in(text))
            elif not pruned:
                visible.update(identifiers_in(text))
        return visible | mentioned, mentioned
