"""A trimming in the making: what a history strategy has taken so far, and the pieces from which it takes more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from types import MappingProxyType

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import UNCOUNTED, Turn, Units, first_user_message, newest_turns, units_of
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.history.placeholder_note import Choose, PlaceholderDraft, turn_excerpts
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.history.shrink_turn import Shrunk, essential_units, shrink
from ctxopt_core.history.trimming import DropReason, Trimming, without_loose_results
from ctxopt_core.shortening.shorten_message import Shortened, shorten_message

_SMALLEST = 24
_SMALLEST_PART = 24
# A fragment is worth its noise only where more than this part of the budget would stay unused.
_PART_DIVISOR = 20


def within_cap(conversation: CountedConversation, index: int, cap: int, counter: TokenCounter) -> Shortened | None:
    """Return the first message in at most `cap` tokens, whole where it fits; None where too little would be left."""
    message, cost = conversation.message(index), conversation.cost(index)
    if cost <= cap:
        return Shortened(texts=message.texts, tokens=cost)
    return shorten_message(message, cost, cap, counter) if cap >= _SMALLEST else None


class HistoryDraft:
    """A trimming in the making.

    Args:
        conversation: The whole conversation.
        budget: The most that is kept, in tokens.
        counter: Counts the texts.
        policy: How to trim.
        names_identifiers: Whether the placeholder names identifiers of what was dropped.
    """

    def __init__(
        self,
        conversation: CountedConversation,
        budget: int,
        counter: TokenCounter,
        policy: HistoryPolicy,
        *,
        names_identifiers: bool = False,
    ) -> None:
        self.conversation = conversation
        self.budget = budget
        self.left = budget
        self.counter = counter
        self.policy = policy
        self.kept: list[int] = []
        self.shortened: dict[int, Shortened] = {}
        self.reasons: dict[int, DropReason] = {}
        self.turns = 0
        self.whole_turns = 0
        self.placeholder = PlaceholderDraft(policy, budget, counter, names_identifiers=names_identifiers)
        self.scattered = False
        self.omitted: int | None = None
        self.strategy: str = "turns"
        self.fallback: str | None = None
        self.notes: list[str] = []
        self.reused_prefix_tokens: int | None = None
        self.end = len(conversation)
        self._units: dict[int, Units] = {}

    def add_current_exchange(self, start: int) -> None:
        """Keep what follows the query, shrunk where it is too big."""
        units = units_of(self.conversation, start, len(self.conversation))
        self.note(units)
        if not units.kept:
            return
        if units.tokens <= self.left:
            self._keep((i for unit in units.kept for i in unit.indices), units.tokens)
            return
        shrunk = shrink(
            self.conversation, units.kept, self.left, self.counter, references=self.policy.recoverable_tool_results
        )
        if shrunk is None:
            for unit in essential_units(units.kept):
                self._keep(unit.indices, unit.tokens)
        else:
            self._take(shrunk)

    def counted_turns(self, stop: int) -> Iterable[Turn]:
        """Yield the turns before index `stop`, newest first; results without a call are not counted."""
        return map(self.counted, newest_turns(self.conversation, stop))

    def counted(self, turn: Turn) -> Turn:
        """Return a turn with the tokens that it counts without results that answer no call."""
        if not turn.plain:
            return turn._replace(tokens=self.units_of(turn).tokens)
        if turn.tokens == UNCOUNTED:
            conversation, inside = self.conversation, range(turn.start, turn.stop)
            return turn._replace(tokens=sum(conversation.cost(i) for i in inside if not conversation.is_system(i)))
        return turn

    def holds_placeholder(self, turn: Turn) -> bool:
        """Tell whether the note of an earlier fit stands in a turn."""
        return not turn.plain and any(map(self.conversation.is_synthetic, range(turn.start, turn.stop)))

    def scan(self, stop: int) -> tuple[list[Turn], bool]:
        """Return the newest turns up to the first that does not fit, and whether they are all that there are."""
        found: list[Turn] = []
        left = self.left
        for turn in self.counted_turns(stop):
            found.append(turn)
            left -= turn.tokens
            if left < 0:
                return found, False
        return found, True

    def opens_properly(self, turn: Turn) -> bool:
        """What comes before the first user message stays only where the conversation itself starts with it."""
        if self.conversation.opens_turn(turn.start):
            return True
        units = self.units_of(turn)
        self.note(units)
        strays = (*units.orphans, *units.blanks, *units.superseded)
        return bool(units.kept) and all(i > units.kept[0].indices[0] for i in strays)

    def units_of(self, turn: Turn) -> Units:
        """Return the units of a turn, which are worked out once."""
        found = self._units.get(turn.start)
        if found is None:
            found = self._units[turn.start] = units_of(self.conversation, turn.start, turn.stop)
        return found

    def first_message(self, stop: int) -> int | None:
        """Return the index of the first user message before `stop`, if the policy keeps it."""
        return first_user_message(self.conversation, stop) if self.policy.keep_first_user_message else None

    def reserve(self, first: int | None) -> int:
        """Return the tokens to be set aside for the first message and the placeholder."""
        if first is None:
            return 0
        note = self.placeholder.tokens(len(self.conversation)) + self.placeholder.room
        return min(self.conversation.cost(first), self._first_cap()) + note

    def say_more(self, choose: Choose) -> None:
        """Let `choose` pick what the placeholder says of the dropped messages, if there is a placeholder."""
        first, length = self.placeholder.after, len(self.conversation)
        if first is None or not self._omitted_after(first, tuple(sorted(self.kept))):
            return
        kept = frozenset((*self.kept, *self.conversation.systems))
        dropped = (i for i in range(self.end - 1, first, -1) if i not in kept)
        self.left -= self.placeholder.say_more(choose, dropped, length, self.left)

    def add_first(self, first: int) -> None:
        """Keep the first user message, whole or shortened to its cap, and the placeholder behind it."""
        left = within_cap(self.conversation, first, min(self._first_cap(), self.left), self.counter)
        if left is None:
            return
        if left.tokens < self.conversation.cost(first):
            self.shortened[first] = left
        self._keep((first,), left.tokens)
        self.turns += 1
        self.add_placeholder(first)

    def add_placeholder(self, after: int) -> None:
        """Put the placeholder behind a message, if there is room for it."""
        note = self.placeholder.tokens(len(self.conversation))
        if self.policy.placeholder and note <= self.left:
            self.left -= note
            self.placeholder.after = after

    def add_part(self, turn: Turn) -> None:
        """Keep what fits of the newest turn that does not fit whole."""
        if self.turns and self.left < max(_SMALLEST_PART, self.budget // _PART_DIVISOR):
            return
        units = self.units_of(turn)
        shrunk = self.shrunk_part(units)
        if shrunk is None or not self._may_start_with(shrunk.kept[0], units):
            return
        self.note(units)
        self._take(shrunk)
        self.turns += 1

    def keep_whole(self, turns: Sequence[Turn]) -> None:
        """Keep turns, newest first; neighbors that hold nothing but plain messages are kept as one range."""
        systems = self.conversation.systems
        last_system = systems[-1] if systems else -1
        self.turns += len(turns)
        self.whole_turns += len(turns)
        run: list[int] = []
        for turn in turns:
            if turn.plain and last_system < turn.start:
                self.left -= turn.tokens
                if run and run[0] != turn.stop:
                    self._keep(range(*run), 0)
                    run = []
                run = [turn.start, run[1] if run else turn.stop]
                continue
            self._keep(range(*run) if run else (), 0)
            run = []
            units = self.units_of(turn)
            self.note(units)
            self._keep((i for unit in units.kept for i in unit.indices), turn.tokens)
        self._keep(range(*run) if run else (), 0)

    def shrunk_part(self, units: Units) -> Shrunk | None:
        """Return what of a turn fits in the room that is left."""
        return shrink(
            self.conversation, units.kept, self.left, self.counter, references=self.policy.recoverable_tool_results
        )

    def note(self, units: Units) -> None:
        """Remember why messages of a turn belong to no unit."""
        self.reasons.update(dict.fromkeys(units.orphans, "orphan"))
        self.reasons.update(dict.fromkeys(units.blanks, "empty"))
        self.reasons.update(dict.fromkeys(units.superseded, "superseded"))

    def trimming(self) -> Trimming:
        """Return what was kept."""
        if self.policy.placeholder_content == "excerpts" and self.placeholder.room and self.omitted is None:
            self.say_more(partial(turn_excerpts, self.conversation, self.counter))
        kept = tuple(sorted(self.kept))
        note = self.placeholder
        omitted = self._omitted_after(note.after, kept)
        if note.after is not None:
            self.left += note.tokens(len(self.conversation)) - (note.tokens(omitted) if omitted else 0)
        trimming = Trimming(
            kept=kept,
            shortened=MappingProxyType(self.shortened),
            placeholder=note.text(omitted) if omitted else None,
            placeholder_after=note.after if omitted else None,
            reasons=MappingProxyType(self.reasons),
            tokens=self.budget - self.left,
            turns=self.turns,
            whole_turns=self.whole_turns,
            length=len(self.conversation),
            strategy=self.strategy,
            fallback=self.fallback,
            notes=tuple(self.notes),
            reused_prefix_tokens=self.reused_prefix_tokens,
            summary_room=note.summary_room if omitted else 0,
        )
        return without_loose_results(self.conversation, trimming)

    def _first_cap(self) -> int:
        return int(self.budget * self.policy.first_message_max_percent / 100)

    def _may_start_with(self, index: int, units: Units) -> bool:
        """What remains starts with a user message, or with that with which the conversation itself starts."""
        if self.conversation.role(index) == "user":
            return True
        return not self.turns and index == units.kept[0].indices[0]

    def _take(self, shrunk: Shrunk) -> None:
        self._keep(shrunk.kept, shrunk.tokens)
        self.shortened.update(shrunk.shortened)

    def _keep(self, indices: Iterable[int], tokens: int) -> None:
        self.kept.extend(indices)
        self.left -= tokens

    def _omitted_after(self, after: int | None, kept: tuple[int, ...]) -> int:
        """Messages that are missing behind the first message: right behind it, or anywhere if turns are chosen."""
        if after is None:
            return 0
        if self.omitted is not None:
            return self.omitted
        if self.scattered:
            present = frozenset((*kept, *self.conversation.systems))
            return sum(1 for index in range(after + 1, self.end) if index not in present)
        position = kept.index(after) + 1
        following = min(kept[position], self.end) if position < len(kept) else self.end
        return following - after - 1 - sum(1 for i in self.conversation.systems if after < i < following)
