"""The strategy with `stable_prefix`: each request begins with the one before it for as long as possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import Unit, Units, first_user_message, units_of
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.history.draft import HistoryDraft, within_cap
from ctxopt_core.history.placeholder_note import WIDEST_NOTE, PlaceholderDraft
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.history.shrink_turn import lowest_tokens
from ctxopt_core.history.strategies.stepped_cut import Step, StepUnit, large_results, steps
from ctxopt_core.shortening.shorten_message import Shortened, shorten_message
from ctxopt_core.shortening.token_limits import level_down

RESULT_TOKENS = 100


def add_stable(draft: HistoryDraft, limit: int, query: int | None) -> bool:
    """Keep what the stepped cut leaves of the whole conversation.

    Args:
        draft: The trimming in the making, still empty.
        limit: The most that the conversation may ever count, query included and system messages not, in tokens.
        query: Index of the query, if it is a message; it is charged elsewhere.

    Returns:
        False, with the draft still empty, where that is more than the draft's budget.
    """
    view = SteppedView(draft.conversation, draft.counter, draft.policy, limit, draft.placeholder)
    step = view.step
    if step is None:
        return False
    rows = dict(view.rows(step, len(view.kept)))
    rows.pop(-1 if query is None else query, None)
    shortened = {}
    for index, tokens in rows.items():
        if tokens < draft.conversation.cost(index):
            cut = view.first_left if index == view.first else view.shortened(index, tokens)
            if cut is None:
                return False
            shortened[index] = cut
    tokens = sum(shortened[i].tokens if i in shortened else cost for i, cost in rows.items())
    noted = view.is_noted(step)
    if tokens + (view.note_tokens if noted else 0) > draft.left:
        return False
    draft.note(view.units)
    draft.kept.extend(rows)
    draft.left -= tokens + (draft.placeholder.tokens(len(draft.conversation)) if noted else 0)
    draft.turns = sum(draft.conversation.opens_turn(index) for index in rows)
    draft.whole_turns = draft.turns
    draft.shortened.update(shortened)
    draft.placeholder.after = view.first if noted else None
    draft.omitted = view.omitted(step)
    draft.reused_prefix_tokens = view.reused_prefix_tokens(step, shortened)
    return True


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
        conversation: CountedConversation,
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
        self.first = first_user_message(conversation, len(conversation)) if policy.keep_first_user_message else None
        self.first_left: Shortened | None = None
        if self.first is not None:
            self.first_left = within_cap(
                conversation, self.first, int(limit * policy.first_message_max_percent / 100), counter
            )
            self.first = None if self.first_left is None else self.first
        self.note_tokens = placeholder.tokens(WIDEST_NOTE)
        self._references = policy.recoverable_tool_results
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

    def reused_prefix_tokens(self, step: Step, shortened: Mapping[int, Shortened]) -> int:
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
