"""What a cut that moves in steps leaves of a conversation, and what of that repeats the request before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxopt_core.conversation import TOKENS_PER_MESSAGE, Conversation
from ctxopt_core.excerpts import Shortened, shorten_message
from ctxopt_core.history import HistoryPolicy
from ctxopt_core.placeholder import PLACEHOLDER_ROLE, placeholder_text
from ctxopt_core.shrinking import lowest_tokens
from ctxopt_core.stepped_cut import Step, StepUnit, large_results, steps
from ctxopt_core.tokens import TokenCounter
from ctxopt_core.turns import Unit, Units, first_user_message, units_of

RESULT_TOKENS = 100
_SMALLEST_FIRST = 24
_WIDEST_NOTE = 999_999


class SteppedView:
    """What the stepped cut leaves of a conversation.

    Args:
        conversation: The whole conversation.
        counter: Counts the texts.
        policy: How to trim.
        limit: The most that the conversation may ever count, its query included and its system messages not, in
            tokens. It has to be the same at every request.
        summary_room: Tokens that a summary in the placeholder's text may count; 0 for none.
    """

    def __init__(
        self,
        conversation: Conversation,
        counter: TokenCounter,
        policy: HistoryPolicy,
        limit: int,
        *,
        summary_room: int = 0,
    ) -> None:
        self.conversation = conversation
        self.counter = counter
        self.units = units_of(conversation, 0, len(conversation))
        self.kept = _opening_properly(self.units)
        self.first_cut: Shortened | None = None
        self.first = self._first(int(limit * policy.first_share / 100)) if policy.keep_first else None
        self.summary_room = summary_room
        self._references = policy.references
        self.note_tokens = self.tokens_of_note(_WIDEST_NOTE) if policy.placeholder else 0
        self.walked = self._walk(limit)

    @property
    def step(self) -> Step | None:
        """Where the cut stands now; None where nothing that it leaves fits."""
        return self.walked[-1] if self.walked else None

    def tokens_of_note(self, messages: int) -> int:
        """Return what the placeholder counts."""
        count = self.counter.count
        text = self.summary_room or count(placeholder_text(messages))
        return TOKENS_PER_MESSAGE + count(PLACEHOLDER_ROLE) + text

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
        if self.first is not None and self.first not in rows:
            rows[self.first] = self.first_cut.tokens if self.first_cut else conversation.cost(self.first)
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

    def shortened(self, index: int) -> Shortened | None:
        """Return the texts of a message whose results are lowered; they depend on nothing but the message."""
        message, cost = self.conversation.message(index), self.conversation.cost(index)
        return shorten_message(message, cost, self._low(index), self.counter, references=self._references)

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
            note = self.tokens_of_note(self.omitted(step))
        repeated_systems = [self.conversation.cost(i) for i in systems if same and i <= same[-1]]
        kept = (shortened[index].tokens if index in shortened else now[index] for index in same)
        return note + sum(kept) + sum(repeated_systems)

    def omitted(self, step: Step) -> int:
        """Return how many messages before the cut are left out."""
        end = self.kept[step.cut].indices[0]
        stay = {index for index in (self.first, self.kept[self.opener(step)].indices[0]) if index is not None}
        present = stay.union(self.conversation.systems)
        return end - sum(index < end for index in present)

    def _first(self, cap: int) -> int | None:
        """Return the index of the first user message, if something of it may be kept for good."""
        found = first_user_message(self.conversation, len(self.conversation))
        if found is None or self.conversation.cost(found) <= cap:
            return found
        if cap >= _SMALLEST_FIRST:
            message, cost = self.conversation.message(found), self.conversation.cost(found)
            self.first_cut = shorten_message(message, cost, cap, self.counter)
        return None if self.first_cut is None else found

    def _walk(self, limit: int) -> list[Step | None]:
        opener, first, units = 0, len(self.kept), []
        for n, unit in enumerate(self.kept):
            opener = n if unit.kind == "user" else opener
            first = n if unit.indices[0] == self.first else first
            saved = sum(self.conversation.cost(i) - self._low(i) for i in unit.results)
            units.append(StepUnit(unit.tokens, unit.tokens - saved, opener, unit.kind == "exchange"))
        self.large = frozenset(n for n, unit in enumerate(units) if unit.saved > large_results(limit))
        head = 0
        if self.first is not None:
            head = (self.first_cut.tokens if self.first_cut else self.conversation.cost(self.first)) + self.note_tokens
        leading = next((n for n, unit in enumerate(self.kept) if unit.kind == "user"), 0)
        return list(steps(units, limit, first=first, head=head, leading=leading))

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
