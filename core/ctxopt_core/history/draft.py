"""The draft of a trimming: what a history strategy has kept so far, and the operations with which it keeps more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import UNCOUNTED, Turn, Unit, Units, first_user_message, newest_turns, units_of
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.history.placeholder_note import Choose, PlaceholderDraft, turn_excerpts
from ctxopt_core.history.shrink_turn import Shrunk, essential_units, shrink
from ctxopt_core.history.trimming import DropReason, Trimming, without_loose_results
from ctxopt_core.messages.message_views import SYSTEM_ROLES
from ctxopt_core.shortening.shorten_message import Shortened, shorten_message

if TYPE_CHECKING:
    from ctxopt_core.history.policy import HistoryPolicy
    from ctxopt_core.history.strategies.recall import Recall

_SMALLEST = 24  # tokens of a shortened message: with fewer, head, marker and tail say nothing that can be used
# A part of a turn is kept only if a twentieth of the budget would stay unused without it: smaller parts cost the model
# more attention, and the fit more time, than they are useful (docs/why.md, "Behavior").
_PART_DIVISOR = 20
ALL_FOLLOWS = -1  # index of a query that stands before the conversation, all of which is the current exchange


def within_cap(conversation: CountedConversation, index: int, cap: int, counter: TokenCounter) -> Shortened | None:
    """Return a message in at most `cap` tokens, whole if it fits; None where too little would be left of it."""
    message, cost = conversation.message(index), conversation.cost(index)
    if cost <= cap:
        return Shortened(texts=message.texts, tokens=cost)
    return shorten_message(message, cost, cap, counter) if cap >= _SMALLEST else None


def indices_of(units: Iterable[Unit]) -> tuple[int, ...]:
    """Return the messages of some units."""
    return tuple(i for unit in units for i in unit.indices)


@dataclass(eq=False)
class HistoryDraft:
    """A trimming that is not finished.

    A strategy calls `add_current_exchange` first, then looks at the earlier turns with `scan` or `counted_turns`, and
    keeps some of them with `keep_whole`, `add_first` and `add_part`. `trimming` comes last.

    The arguments are those of `trim`; a query before the conversation is `ALL_FOLLOWS`.

    Attributes:
        left: Tokens of the budget that are not used.
        end: Index after the earlier turns: that of the query, or the number of messages.
        scattered: Whether the kept turns have gaps between them, in which the placeholder counts messages, too.
        omitted: How many messages the placeholder stands for, where the strategy knows; else they are counted.
        recalled: What is recalled before the query.
        strategy, fallback, notes, reused_prefix_tokens: What the `Trimming` says.
    """

    prunes_results: ClassVar[bool] = False
    """Whether tool results that the model has read are cut to excerpts before a turn is dropped."""

    conversation: CountedConversation
    budget: int
    counter: TokenCounter
    policy: HistoryPolicy
    query: int | None = None
    ranking_query: str = ""
    stable_limit: int | None = None
    summary_tokens: int | None = None

    def __post_init__(self) -> None:
        self.left = self.budget
        self.end = len(self.conversation) if self.query is None else self.query
        self.kept: list[int] = []
        self.shortened: dict[int, Shortened] = {}
        self.reasons: dict[int, DropReason] = {}
        self.turns = self.whole_turns = 0
        self.placeholder = PlaceholderDraft(
            self.policy, self.budget, self.counter, names_identifiers=self.prunes_results
        )
        self.scattered = False
        self.omitted: int | None = None
        self.strategy = "turns"
        self.fallback: str | None = None
        self.notes: list[str] = []
        self.reused_prefix_tokens: int | None = None
        self.recalled: Recall | None = None
        self._units: dict[int, Units] = {}

    @property
    def query_tokens(self) -> int:
        """Tokens of the query; 0 where it is no message of the conversation."""
        return 0 if self.query is None or self.query == ALL_FOLLOWS else self.conversation.cost(self.query)

    def add_current_exchange(self) -> None:
        """Keep what follows the query, shrunk if it is too big."""
        units = self.split(self.end + 1, len(self.conversation))
        self.record_strays(units)
        if units.tokens <= self.left:
            self._keep(indices_of(units.kept), units.tokens)
        else:
            self._take_shrunk(units.kept, self._shrunk(units.kept, self.left))

    def counted_turns(self) -> Iterator[Turn]:
        """Yield the earlier turns, newest first; results without a call are not counted."""
        return map(self.counted, newest_turns(self.conversation, self.end))

    def counted(self, turn: Turn) -> Turn:
        """Return a turn with its tokens, without those of results that answer no call."""
        if not turn.plain:
            return turn._replace(tokens=self.units_of(turn).tokens)
        if turn.tokens != UNCOUNTED:
            return turn
        return Turn(turn.start, turn.stop, self.plain_tokens(turn.start, turn.stop), turn.plain)

    def plain_tokens(self, start: int, stop: int) -> int:
        """Return the tokens of the messages in [start, stop), all of them plain text, without system messages."""
        costs, roles, measure = self.conversation.costs, self.conversation.roles, self.conversation.measure
        tokens = 0
        for index in range(start, stop):
            cost = costs[index] if index in costs else measure(index)
            if roles[index] not in SYSTEM_ROLES:
                tokens += cost
        return tokens

    def holds_placeholder(self, turn: Turn) -> bool:
        """Return whether the placeholder of an earlier fit is in a turn."""
        return not turn.plain and any(map(self.conversation.is_synthetic, range(turn.start, turn.stop)))

    def scan(self) -> tuple[list[Turn], bool]:
        """Return the newest turns up to the first that does not fit, and whether these are all earlier turns."""
        found: list[Turn] = []
        left = self.left
        for turn in self.counted_turns():
            found.append(turn)
            left -= turn.tokens
            if left < 0:
                return found, False
        return found, True

    def opens_properly(self, turn: Turn) -> bool:
        """Return whether what is kept may start with a turn: it has a user message, or the conversation starts so."""
        if self.conversation.opens_turn(turn.start):
            return True
        units = self.units_of(turn)
        self.record_strays(units)
        return bool(units.kept) and all(i > units.kept[0].indices[0] for i in units.strays)

    def split(self, start: int, stop: int) -> Units:
        """Split messages into units; from now on, results among them that answer no call are left out."""
        units = units_of(self.conversation, start, stop)
        self.conversation = units.conversation
        return units

    def units_of(self, turn: Turn) -> Units:
        """Return the units of a turn."""
        found = self._units.get(turn.start)
        if found is None:
            found = self._units[turn.start] = self.split(turn.start, turn.stop)
        return found

    def first_message(self) -> int | None:
        """Return the index of the first user message among the earlier turns, if the policy keeps it."""
        return first_user_message(self.conversation, self.end) if self.policy.keep_first_user_message else None

    def reserve(self, first: int | None) -> int:
        """Return the tokens to be set aside for the first message and the placeholder."""
        if first is None:
            return 0
        note = self.placeholder.tokens(len(self.conversation)) + self.placeholder.most_detail
        return min(self.conversation.cost(first), self._first_cap) + note

    def add_first(self, first: int) -> None:
        """Keep the first user message, whole or shortened to its cap, and the placeholder after it."""
        left = within_cap(self.conversation, first, min(self._first_cap, self.left), self.counter)
        if left is None:
            return
        if left.tokens < self.conversation.cost(first):
            self.shortened[first] = left
        self._keep((first,), left.tokens)
        self.turns += 1
        self.add_placeholder(first)

    def add_placeholder(self, after: int) -> None:
        """Put the placeholder after a message, if it fits."""
        note = self.placeholder.tokens(len(self.conversation))
        if self.policy.placeholder and note <= self.left:
            self.left -= note
            self.placeholder.after = after

    def fill_placeholder(self, choose: Choose) -> None:
        """Let `choose` pick what the placeholder says about the dropped messages, if there is a placeholder."""
        first, length = self.placeholder.after, len(self.conversation)
        if first is None or not self._omitted_after(first, tuple(sorted(self.kept))):
            return
        kept = frozenset((*self.kept, *self.conversation.systems))
        dropped = (i for i in range(self.end - 1, first, -1) if i not in kept)
        self.left -= self.placeholder.fill(choose, dropped, length, self.left)

    def add_part(self, turn: Turn) -> None:
        """Keep what fits of the newest turn that does not fit whole."""
        if self.turns and self.left < max(_SMALLEST, self.budget // _PART_DIVISOR):
            return
        units = self.units_of(turn)
        shrunk = self.part_of(units)
        # What remains starts with a user message, or as the conversation itself does.
        starts_well = shrunk is not None and (
            self.conversation.role(shrunk.kept[0]) == "user"
            or (not self.turns and shrunk.kept[0] == units.kept[0].indices[0])
        )
        if shrunk is not None and starts_well:
            self.record_strays(units)
            self._take(shrunk)
            self.turns += 1

    def part_of(self, units: Units) -> Shrunk | None:
        """Return what of a turn fits in the tokens that are left."""
        return self._shrunk(units.kept, self.left)

    def keep_whole(self, turns: Sequence[Turn]) -> None:
        """Keep turns, newest first, without the messages in them that belong to no unit."""
        systems = self.conversation.systems
        last_system = systems[-1] if systems else -1
        for turn in turns:
            if turn.plain and last_system < turn.start:
                self._keep(range(turn.start, turn.stop), turn.tokens)
                continue
            units = self.units_of(turn)
            self.record_strays(units)
            self._keep(indices_of(units.kept), turn.tokens)
        self.turns += len(turns)
        self.whole_turns += len(turns)

    def record_strays(self, units: Units) -> None:
        """Remember why messages of a turn belong to no unit."""
        self.reasons.update(dict.fromkeys(units.orphans, "orphan"))
        self.reasons.update(dict.fromkeys(units.blanks, "empty"))
        self.reasons.update(dict.fromkeys(units.superseded, "superseded"))

    def trimming(self) -> Trimming:
        """Return what was kept."""
        note = self.placeholder
        if self.policy.placeholder_content == "excerpts" and note.most_detail and self.omitted is None:
            self.fill_placeholder(partial(turn_excerpts, self.conversation, self.counter))
        kept = tuple(sorted(self.kept))
        omitted = self._omitted_after(note.after, kept)
        if note.after is not None:
            self.left += note.tokens(len(self.conversation)) - (note.tokens(omitted) if omitted else 0)
        trimming = Trimming(
            kept=kept,
            shortened=MappingProxyType(self.shortened),
            placeholder=note.text(omitted) if omitted else None,
            placeholder_after=note.after if omitted else None,
            placeholder_role=note.role,
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
            recall=self.recalled.text if self.recalled else None,
            recall_before=self.query if self.recalled else None,
            recalled=self.recalled.messages if self.recalled else (),
        )
        return without_loose_results(self.conversation, trimming)

    @property
    def _first_cap(self) -> int:
        return int(self.budget * self.policy.first_message_max_percent / 100)

    def _shrunk(self, units: Sequence[Unit], budget: int) -> Shrunk | None:
        references = self.policy.recoverable_tool_results
        return shrink(self.conversation, units, budget, self.counter, references=references)

    def _take_shrunk(self, units: Sequence[Unit], shrunk: Shrunk | None) -> None:
        """Keep what units of the current exchange were shrunk to; where they cannot be, the ones that must stay."""
        if shrunk is None:
            essential = essential_units(units)
            self._keep(indices_of(essential), sum(unit.tokens for unit in essential))
        else:
            self._take(shrunk)

    def _take(self, shrunk: Shrunk) -> None:
        self._keep(shrunk.kept, shrunk.tokens)
        self.shortened.update(shrunk.shortened)

    def _keep(self, indices: Iterable[int], tokens: int) -> None:
        self.kept.extend(indices)
        self.left -= tokens

    def _omitted_after(self, after: int | None, kept: tuple[int, ...]) -> int:
        """Return how many messages are missing: directly after the first message, or anywhere if turns are chosen."""
        if after is None:
            return 0
        if self.omitted is not None:
            return self.omitted
        if self.scattered:
            present = frozenset((*kept, *self.conversation.systems))
            return self.end - after - 1 - sum(1 for index in present if after < index < self.end)
        position = kept.index(after) + 1
        following = min(kept[position], self.end) if position < len(kept) else self.end
        return following - after - 1 - sum(1 for i in self.conversation.systems if after < i < following)
