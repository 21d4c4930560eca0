"""What a cut that moves in steps leaves of a conversation, and what of that repeats the request before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxopt_core.conversation import Conversation
from ctxopt_core.excerpts import Shortened, shorten_message
from ctxopt_core.first_message import within_cap
from ctxopt_core.history import HistoryPolicy
from ctxopt_core.placeholder_draft import WIDEST_NOTE, PlaceholderDraft
from ctxopt_core.result_rooms import level_down
from ctxopt_core.shrinking import lowest_tokens
from ctxopt_core.stepped_cut import Step, StepUnit, large_results, steps
from ctxopt_core.tokens import TokenCounter
from ctxopt_core.turns import Unit, Units, first_user_message, units_of

RESULT_TOKENS = 100


class SteppedView:
    """What the stepped cut leaves of a conversation.

    Args:
        conversation: The whole conversation.
        counter: Counts the texts.
        policy: How to trim.
        limit: The most that the conversation may ever count, its query included and its system messages not, in
            tokens. It has to be the same at every request.
        placeholder: Tells what the placeholder counts.
    """

    def __init__(
        self,
        conversation: Conversation,
        counter: TokenCounter,
        policy: HistoryPolicy,
        limit: int,
        placeholder: PlaceholderDraft,
    ) -> None:
        self.conversation = conversation
        self.counter = counter
        self.units = units_of(conversation, 0, len(conversation))
        self.kept = _opening_properly(self.units)
        self.placeholder = placeholder
        self.first = first_user_message(conversation, len(conversation)) if policy.keep_first else None
        self.first_left: Shortened | None = None
        if self.first is not None:
            self.first_left = within_cap(conversation, self.first, int(limit * policy.first_share / 100), counter)
            self.first = None if self.first_left is None else self.first
        self.note_tokens = placeholder.tokens(WIDEST_NOTE)
        self._references = policy.references
        self.walked = self._walk(limit)

    @property
    def step(self) -> Step | None:
        """Where the cut stands now; None where nothing that it leaves fits."""
        return self.walked[-1] if self.walked else None

    def rows(self, step: Step, end: int) -> Mapping[int, int]:
        """Return the messages of a request by index, in order, with their tokens; system messages are not among them.

        Args:
            step: Where the cut stands.
            end: How many units the request holds.
        """
        units, conversation = self.kept, self.conversation
        opener = self.opener(step)
        rows: dict[int, int] = {}
        for n in dict.fromkeys((opener, *range(step.cut, end))):
            for index in units[n].indices:
                lowered = n < step.lowered or (step.lowered > 0 and n < end - 1 and n in self.large)
                low = lowered and index in units[n].results
                rows[index] = self._low(index) if low else conversation.cost(index)
        if step.room is not None:
            rows.update(self._rooms(units[end - 1], step.room))
        if self.first is not None and self.first_left is not None:
            rows.setdefault(self.first, self.first_left.tokens)
        return dict(sorted(rows.items()))

    def opener(self, step: Step) -> int:
        """Return which unit is the user message that opened the turn in which the cut lies."""
        return max((n for n in range(step.cut + 1) if self.kept[n].kind == "user"), default=step.cut)

    def is_noted(self, step: Step) -> bool:
        """Tell whether the first message stands alone in front, so that the placeholder can follow it."""
        first = self.first
        if first is None or not self.note_tokens or self.kept[step.cut].indices[0] <= first:
            return False
        return self.kept[self.opener(step)].indices[0] != first

    def shortened(self, index: int, tokens: int) -> Shortened | None:
        """Return the texts with which a message counts at most `tokens`; they depend on nothing but these two."""
        message, cost = self.conversation.message(index), self.conversation.cost(index)
        return shorten_message(message, cost, tokens, self.counter, references=self._references)

    def repeated_tokens(self, step: Step, shortened: Mapping[int, Shortened]) -> int:
        """Return the tokens of the messages that repeat the start of the request before, byte for byte.

        The request before is the one that was answered by the newest message of the assistant.

        Args:
            step: Where the cut stands.
            shortened: New texts of the messages that are cut, which may count less than they were allowed.
        """
        units, systems = self.kept, self.conversation.systems
        answered = next((n for n in range(len(units) - 1, 0, -1) if units[n].kind != "user"), 0)
        before = self.walked[answered - 1] if answered else None
        if before is None:
            return 0
        then, now = self.rows(before, answered), self.rows(step, len(units))
        same: list[int] = []
        for (index, tokens), (again, still) in zip(then.items(), now.items(), strict=False):
            if index != again or tokens != still:
                break
            same.append(index)
            if index == self.first and step.cut != before.cut:
                break
        note = 0
        if self.is_noted(step) and step.cut == before.cut and same[-1:] != [self.first]:
            note = self.placeholder.tokens(self.omitted(step))
        repeated_systems = [self.conversation.cost(i) for i in systems if same and i <= same[-1]]
        kept = (shortened[index].tokens if index in shortened else now[index] for index in same)
        return note + sum(kept) + sum(repeated_systems)

    def omitted(self, step: Step) -> int:
        """Return how many messages before the cut are left out."""
        end = self.kept[step.cut].indices[0]
        stay = {index for index in (self.first, self.kept[self.opener(step)].indices[0]) if index is not None}
        present = stay.union(self.conversation.systems)
        return end - sum(index < end for index in present)

    def _walk(self, limit: int) -> list[Step | None]:
        opener, first, units = 0, len(self.kept), []
        for n, unit in enumerate(self.kept):
            opener = n if unit.kind == "user" else opener
            first = n if unit.indices[0] == self.first else first
            saved = sum(self.conversation.cost(i) - self._low(i) for i in unit.results)
            units.append(StepUnit(unit.tokens, unit.tokens - saved, opener, unit.kind == "exchange"))
        self.large = frozenset(n for n, unit in enumerate(units) if unit.saved > large_results(limit))
        head = 0 if self.first_left is None else self.first_left.tokens + self.note_tokens
        leading = next((n for n, unit in enumerate(self.kept) if unit.kind == "user"), 0)
        return list(steps(units, limit, first=first, head=head, leading=leading))

    def _rooms(self, unit: Unit, room: int) -> Mapping[int, int]:
        """Return what each result of a unit may count so that the unit is within `room`; the longest give way."""
        saved = [self.conversation.cost(index) - self._low(index) for index in unit.results]
        extras = level_down(saved, room - (unit.tokens - sum(saved)))
        return {index: self._low(index) + extra for index, extra in zip(unit.results, extras, strict=True)}

    def _low(self, index: int) -> int:
        """Return what a result counts at most when it is lowered. One with attachments or words beside it is not."""
        message, cost = self.conversation.message(index), self.conversation.cost(index)
        if message.removable or message.speaks_beside_results:
            return cost
        return min(cost, lowest_tokens(self.conversation, index, RESULT_TOKENS))


def _opening_properly(units: Units) -> Sequence[Unit]:
    """Return the units without those before the first user message, where something before these had to go."""
    kept = units.kept
    strays = (*units.orphans, *units.blanks, *units.superseded)
    if not kept or kept[0].kind == "user" or not any(index < kept[0].indices[0] for index in strays):
        return kept
    return kept[next((n for n, unit in enumerate(kept) if unit.kind == "user"), 0) :]
