"""A trimming of a conversation with tools: what they returned is lowered before any turn goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import Turn, Unit, Units, newest_turns, units_of
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.history.draft import HistoryDraft
from ctxopt_core.history.placeholder_note import pinned_identifiers
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.history.shrink_turn import Shrunk, essential_units, shrink
from ctxopt_core.history.tool_result_pruning import PrunedResults
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.text.identifiers import identifiers_in

RECENT_RESULTS_SHARE = 20
_LOOKED_AT = 64
_MOST_CHARACTERS = 200_000
_MOST_SET_ASIDE = 0.5
_WORTH_GROWING = 1.01


def holds_tool_results(conversation: CountedConversation) -> bool:
    """Tell whether a tool result stands among the newest 64 messages."""
    length = len(conversation)
    return any(conversation.holds_results(i) for i in range(length - 1, max(-1, length - 1 - _LOOKED_AT), -1))


class PruningDraft(HistoryDraft):
    """A trimming in the making in which results that the model has read are charged as excerpts.

    The newest results are charged in full up to a share of the budget, so that older turns cannot take all of them.
    The placeholder may name identifiers of what was dropped, within another share.

    Args:
        conversation: The whole conversation.
        budget: The most that is kept, in tokens.
        counter: Counts the texts.
        policy: How to trim.
        ranking_query: What is asked now.
    """

    def __init__(
        self,
        conversation: CountedConversation,
        budget: int,
        counter: TokenCounter,
        policy: HistoryPolicy,
        ranking_query: str = "",
    ) -> None:
        super().__init__(conversation, budget, counter, policy, names_identifiers=True)
        self.lowered = PrunedResults(conversation, counter, references=policy.recoverable_tool_results)
        self._ranking_query = ranking_query
        self._recent_room = self._recent_left = budget * RECENT_RESULTS_SHARE // 100
        self._charged = 0
        self._part: list[Unit] = []
        self._growing: tuple[Sequence[Unit], int, Shrunk] | None = None
        self._closed = False

    def add_current_exchange(self, start: int) -> None:
        """Keep what follows the query; what the newest call returned is not lowered, since nobody has read it yet."""
        units = units_of(self.conversation, start, len(self.conversation))
        self.lowered.arguments_before = start
        self.note(units)
        read = units.kept[:-1]
        saved = self.lowered.saved(read)
        least = units.tokens - saved
        if least <= self.left:
            charged = self._charge(min(saved, self.left - least))
            self._charged += charged
            self._keep((i for unit in units.kept for i in unit.indices), least + charged)
            self.lowered.hold(read)
        else:
            self._add_part_of_current(units.kept, read, start - 1)

    def counted_turns(self, stop: int) -> Iterable[Turn]:
        """Yield the turns before index `stop`, newest first, with what they are charged."""
        for turn in newest_turns(self.conversation, stop):
            if self._closed:
                yield turn._replace(tokens=self.left + 1)
                return
            if turn.plain:
                yield turn
                continue
            units = self.units_of(turn)
            saved = self.lowered.saved(units.kept)
            yield turn._replace(tokens=units.tokens - saved + self._charge(saved))

    def keep_whole(self, turns: Sequence[Turn]) -> None:
        """Keep all messages of turns, newest first; results in them are lowered for the time being."""
        super().keep_whole(turns)
        for turn in turns:
            if not turn.plain:
                units = self.units_of(turn)
                self._charged += turn.tokens - (units.tokens - self.lowered.saved(units.kept))
                self.lowered.hold(units.kept)

    def add_part(self, turn: Turn) -> None:
        """Keep what fits of the newest turn that does not fit."""
        if self._closed:
            return
        turns = self.turns
        super().add_part(turn)
        if self.turns > turns:
            self.lowered.hold(self._part)
        else:
            self._growing = None

    def trimming(self) -> Trimming:
        """Return what was kept, once it is settled what the lowered results may count."""
        elsewhere, mentioned = self._identifiers_kept()
        if self.policy.placeholder_content == "identifiers":
            self.say_more(lambda dropped, fits: pinned_identifiers(self.conversation, dropped, elsewhere, fits))
        targets = dict(self.lowered.targets)
        room = self.left + self._charged
        cuts = self.lowered.settle(room, self._recent_room, elsewhere | set(self.placeholder.said), mentioned)
        self.shortened.update(cuts)
        for index, least in targets.items():
            room -= (cuts[index].tokens if index in cuts else self.conversation.cost(index)) - least
        self.left = room
        self._grow()
        return super().trimming()

    def shrunk_part(self, units: Units) -> Shrunk | None:
        """Return what of a turn fits in the room that is left; its results are lowered for the time being."""
        room = self.left - (self.placeholder.room if self.placeholder.after is not None else 0)
        part = self.lowered.part(units.kept, room, units.kept)
        self._part = part or []
        if part is None:
            return self._shrunk(units.kept, room)
        tokens = sum(unit.tokens for unit in part) - self.lowered.saved(part)
        return Shrunk(kept=tuple(i for unit in part for i in unit.indices), shortened={}, tokens=tokens)

    def _add_part_of_current(self, units: Sequence[Unit], read: Sequence[Unit], query: int) -> None:
        """Keep what fits of what follows the query. Where some of it had to go, no older turn stays."""
        self._closed = True
        aside = self.reserve(self.first_message(query))
        room = self.left - (aside if aside <= self.left * _MOST_SET_ASIDE else 0)
        part = self.lowered.part(units, room, read)
        if part is not None:
            held = [unit for unit in part if unit in read]
            tokens = sum(unit.tokens for unit in part) - self.lowered.saved(held)
            self._keep((i for unit in part for i in unit.indices), tokens)
            self.lowered.hold(held)
            return
        shrunk = self._shrunk(units, room) or self._shrunk(units, self.left)
        if shrunk is not None:
            self._take(shrunk)
            return
        for unit in essential_units(units):
            self._keep(unit.indices, unit.tokens)

    def _shrunk(self, units: Sequence[Unit], room: int) -> Shrunk | None:
        shrunk = shrink(self.conversation, units, room, self.counter, references=self.policy.recoverable_tool_results)
        self._growing = (units, room, shrunk) if shrunk is not None else None
        return shrunk

    def _grow(self) -> None:
        """Let what was shrunk last have the room that is left over."""
        if self._growing is None or self.left <= 0:
            return
        units, earlier, before = self._growing
        room = before.tokens + self.left
        if room < earlier * _WORTH_GROWING:
            return
        grown = shrink(self.conversation, units, room, self.counter, references=self.policy.recoverable_tool_results)
        if grown is None or grown.tokens <= before.tokens:
            return
        self.kept = [i for i in self.kept if i not in before.kept]
        for index in before.shortened:
            del self.shortened[index]
        self.left += before.tokens
        self._take(grown)

    def _charge(self, saved: int) -> int:
        charged = min(saved, self._recent_left)
        self._recent_left -= charged
        return charged

    def _identifiers_kept(self) -> tuple[set[str], set[str]]:
        """Return the identifiers in kept messages that are not lowered, and those that others than tools name."""
        visible: set[str] = set()
        mentioned = set(identifiers_in(self._ranking_query))
        characters = 0
        for index in sorted(self.kept, reverse=True):
            text = self.conversation.glance(index).text
            lowered = index in self.lowered.targets
            characters += 0 if lowered else len(text)
            if characters > _MOST_CHARACTERS:
                break
            if not self.conversation.holds_results(index):
                mentioned.update(identifiers_in(text))
            elif not lowered:
                visible.update(identifiers_in(text))
        return visible | mentioned, mentioned
