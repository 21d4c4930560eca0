"""`stable_prefix` and the strategy `summarize`: a cut that moves in steps, so that a prompt cache is hit in between.

A provider's prompt cache reuses what a request has in common with the one before, from the start on. A window that
slides with every message has next to nothing in common. Here the conversation is walked from its start as it grew: when
it no longer fits, results that were read are pruned to excerpts and the oldest units go until a share of the window is
free. Until that is used up, every request begins with the one before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ctxopt_core.conversation.turns import Unit, Units, first_user_message
from ctxopt_core.history.draft import HistoryDraft, within_cap
from ctxopt_core.history.placeholder_note import WIDEST_NOTE, summary_room
from ctxopt_core.history.shrink_turn import lowest_tokens
from ctxopt_core.history.strategies.recall import recall, reserved_tokens
from ctxopt_core.history.strategies.steps import Step, StepUnit, large_results, steps
from ctxopt_core.history.strategies.strategy import Strategy
from ctxopt_core.shortening.shorten_message import Shortened, shorten_message
from ctxopt_core.shortening.truncate import level_down

# Tokens of a pruned result. It is never cut again, so it has more than the 48 of a draft without a stable prefix.
_RESULT_TOKENS = 100
# A part of the window: a step frees half of it at most, and more where a unit is large, which the report then says.
_NOTED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class StablePrefix(Strategy):
    """A strategy with `stable_prefix`: each request begins with the one before it for as long as possible.

    Where the budget is too small for that, the strategy `otherwise` is applied.
    """

    moves_in_steps = True
    may_be_stable = True
    otherwise: Strategy

    def apply(self, draft: HistoryDraft) -> None:
        """Keep what the stepped cut leaves of the whole conversation, current exchange included."""
        if add_stable(draft):
            draft.strategy = "summarize" if self.summarizes else "turns"
            return
        draft.notes.append("the prefix could not be kept stable within the budget")
        self.otherwise.apply(draft)
        draft.fallback = draft.strategy


@dataclass(frozen=True, slots=True)
class Summarize(StablePrefix):
    """`summarize`: the newest messages after a cut that moves in steps, and a summary of those before it."""

    summarizes = True


def add_stable(draft: HistoryDraft) -> bool:
    """Keep what the stepped cut leaves; return False, with the draft still empty, where that is over its budget."""
    limit = draft.stable_limit
    if limit is None:
        limit = draft.budget + draft.query_tokens
    if draft.policy.summarizes:
        draft.placeholder.summary_room = summary_room(draft.policy, limit, draft.counter)
    cut = _SteppedCut(draft, limit)
    if not _keep(draft, cut):
        draft.placeholder.summary_room = 0
        draft.placeholder.after = None
        return False
    if cut.recalls and (draft.omitted or draft.shortened):
        draft.recalled = recall(draft, min(draft.left, int(limit * draft.policy.recall_percent / 100)))
        draft.left -= draft.recalled.tokens if draft.recalled else 0
    if (draft.omitted or draft.shortened) and draft.left > limit * _NOTED_SHARE:
        draft.notes.append(f"{draft.left:,} tokens are left for the next requests, as the cut moves in steps")
    return True


def _keep(draft: HistoryDraft, cut: _SteppedCut) -> bool:
    step = cut.walked[-1] if cut.walked else None
    if step is None:
        return False
    conversation, note = draft.conversation, draft.placeholder
    if draft.summary_tokens is not None:
        step = cut.widened(step, note.summary_room - draft.summary_tokens)
        note.summary_room = draft.summary_tokens
    rows = dict(cut.rows(step, len(cut.units)))
    rows.pop(-1 if draft.query is None else draft.query, None)
    shortened = {}
    for index, tokens in rows.items():
        if tokens < conversation.cost(index):
            found = cut.first_left if index == cut.first else cut.shortened(index, tokens)
            if found is None:
                return False
            shortened[index] = found
    tokens = sum(shortened[i].tokens if i in shortened else cost for i, cost in rows.items())
    note.after, note.role = cut.note_place(step)
    if tokens + (0 if note.after is None else note.tokens(WIDEST_NOTE)) > draft.left:
        return False
    draft.record_strays(cut.strays)
    draft.kept.extend(rows)
    draft.left -= tokens + (0 if note.after is None else note.tokens(len(conversation)))
    draft.turns = draft.whole_turns = sum(map(conversation.opens_turn, rows))
    draft.shortened.update(shortened)
    draft.omitted = cut.omitted(step)
    draft.reused_prefix_tokens = cut.reused_prefix_tokens(step, shortened)
    return True


class _SteppedCut:
    """What the stepped cut leaves of a conversation, for each number of its units.

    Nothing is kept in the draft yet. `limit` is the most tokens that the conversation may ever have, its query included
    and its system messages not; it has to be the same for every request. Some of them are reserved for what is
    recalled. `walked` says where the cut is after each unit, with None where nothing that it leaves fits.
    """

    def __init__(self, draft: HistoryDraft, limit: int) -> None:
        self.strays = draft.split(0, len(draft.conversation))
        self.units = _opening_properly(self.strays)
        self._draft = draft
        conversation, policy = draft.conversation, draft.policy
        self.recalls = policy.recalls and not any(unit.kind == "exchange" for unit in self.units)
        self._reserved = reserved_tokens(limit, policy.recall_percent) if self.recalls else 0
        self._whole_limit = limit
        limit -= self._reserved
        self.first = first_user_message(conversation, len(conversation)) if policy.keep_first_user_message else None
        self.first_left: Shortened | None = None
        if self.first is not None:
            cap = int(limit * policy.first_message_max_percent / 100)
            self.first_left = within_cap(conversation, self.first, cap, draft.counter)
            self.first = None if self.first_left is None else self.first
        note = draft.placeholder.tokens(WIDEST_NOTE)
        self._has_note, self._has_note_inside = note > 0, policy.summarizes
        opener, first, units = 0, len(self.units), []
        for n, unit in enumerate(self.units):
            opener = n if unit.kind == "user" else opener
            first = n if unit.indices[0] == self.first else first
            saved = sum(conversation.cost(i) - self._least(i) for i in unit.results)
            units.append(StepUnit(unit.tokens, unit.tokens - saved, opener, unit.kind == "exchange"))
        self._large = frozenset(n for n, unit in enumerate(units) if unit.saved > large_results(limit))
        head = 0 if self.first_left is None else self.first_left.tokens + note
        leading = next((n for n, unit in enumerate(self.units) if unit.kind == "user"), 0)
        inside = note if self._has_note_inside else 0
        self.walked = list(steps(units, limit, first=first, head=head, note=inside, leading=leading))

    def rows(self, step: Step, end: int) -> Mapping[int, int]:
        """Return the tokens of each message of a request with `end` units, in order, without its system messages."""
        units, conversation = self.units, self._draft.conversation
        rows: dict[int, int] = {}
        for n in dict.fromkeys((self._opener(step), *range(step.cut, end))):
            pruned = n < step.pruned or (step.pruned > 0 and n < end - 1 and n in self._large)
            for index in units[n].indices:
                least = pruned and index in units[n].results
                rows[index] = self._least(index) if least else conversation.cost(index)
        if step.newest_limit is not None:
            rows.update(self._leveled(units[end - 1], step.newest_limit))
        if self.first is not None and self.first_left is not None:
            rows.setdefault(self.first, self.first_left.tokens)
        return dict(sorted(rows.items()))

    def note_place(self, step: Step) -> tuple[int | None, Literal["assistant", "user"]]:
        """Return which message the placeholder follows, None where there is none, and the placeholder's role.

        It follows the first message if that is alone in front, as an assistant's message between two of a user. A
        summary otherwise follows the user message of the turn in which the cut is. There it is a user's message, since
        providers want a call right after a user's message, and thinking before everything else of the assistant.
        """
        first, opener = self.first, self.units[self._opener(step)]
        if self._has_note and first is not None and opener.indices[0] != first < self.units[step.cut].indices[0]:
            return first, "assistant"
        if self._has_note_inside and opener.kind == "user" and step.cut > self._opener(step) + 1:
            return opener.indices[0], "user"
        return None, "assistant"

    def widened(self, step: Step, spare: int) -> Step:
        """Return a step that keeps as many more of the units right before the cut as have at most `spare` tokens."""

        def tokens(one: Step) -> int:
            return sum(self.rows(one._replace(newest_limit=None), step.cut).values())

        found, most, place = step, tokens(step) + spare, self.note_place(step)
        for cut in range(step.cut - 1, -1, -1):
            wider = step._replace(cut=cut)
            if self.note_place(wider) != place or not self.omitted(wider) or tokens(wider) > most:
                break
            found = wider
        return found

    def shortened(self, index: int, tokens: int) -> Shortened | None:
        """Return the texts with which a message has at most `tokens`; they depend on nothing but these two."""
        draft = self._draft
        message, cost = draft.conversation.message(index), draft.conversation.cost(index)
        references = draft.policy.recoverable_tool_results
        return shorten_message(message, cost, tokens, draft.counter, references=references)

    def reused_prefix_tokens(self, step: Step, shortened: Mapping[int, Shortened]) -> int:
        """Return the tokens of the messages that repeat the start of the request before, byte for byte, or fewer.

        The request before is the one that was answered by the newest message of the assistant. Messages that are
        `shortened` may have fewer tokens than they were allowed. Where something may have been recalled before another
        question, only what stands before that question counts.
        """
        units, conversation = self.units, self._draft.conversation
        answered = next((n for n in range(len(units) - 1, 0, -1) if units[n].kind != "user"), 0)
        before = self.walked[answered - 1] if answered else None
        if before is None:
            return 0
        if sum(unit.tokens for unit in units[:answered]) <= self._whole_limit:
            before = Step()  # it was sent as it was
        newest = self.walked[-1]
        if newest is not None and newest.cut == before.cut:
            before = before._replace(cut=step.cut)  # the summary is the same, and both are widened alike
        then, now = self.rows(before, answered), self.rows(step, len(units))
        same: list[int] = []
        after, _ = self.note_place(step)
        asked = self._asked(answered) if self.recalls and self.omitted(before) else None
        for (index, tokens), (again, still) in zip(then.items(), now.items(), strict=False):
            if index != again or tokens != still:
                break
            same.append(index)
            if index in (self.first, after) and step.cut != before.cut:
                break
            if index + 1 == asked and index + 1 < len(conversation) and asked != self._draft.query:
                break  # what is recalled stands before another question now
        note = 0
        if after is not None and step.cut == before.cut and same[-1:] != [after]:
            note = self._draft.placeholder.tokens(self.omitted(step))
        systems = sum(conversation.cost(i) for i in conversation.systems if same and i <= same[-1])
        return note + systems + sum(shortened[index].tokens if index in shortened else now[index] for index in same)

    def omitted(self, step: Step) -> int:
        """Return how many messages before the cut are left out."""
        end = self.units[step.cut].indices[0]
        present = {self.first, self.units[self._opener(step)].indices[0], *self._draft.conversation.systems} - {None}
        return end - sum(index is not None and index < end for index in present)

    def _asked(self, end: int) -> int | None:
        """Return the newest user message of a request with `end` units."""
        return next((self.units[n].indices[0] for n in range(end - 1, -1, -1) if self.units[n].kind == "user"), None)

    def _opener(self, step: Step) -> int:
        """Return which unit is the user message that opened the turn in which the cut is."""
        return max((n for n in range(step.cut + 1) if self.units[n].kind == "user"), default=step.cut)

    def _leveled(self, unit: Unit, limit: int) -> Mapping[int, int]:
        """Return the tokens that each result of a unit may have, so that the unit is within `limit`."""
        least = [self._least(index) for index in unit.results]
        saved = [self._draft.conversation.cost(i) - low for i, low in zip(unit.results, least, strict=True)]
        extras = level_down(saved, limit - (unit.tokens - sum(saved)))
        return {index: low + extra for index, low, extra in zip(unit.results, least, extras, strict=True)}

    def _least(self, index: int) -> int:
        """Return the tokens of a pruned result. One with attachments or words beside it is not pruned."""
        conversation = self._draft.conversation
        message, cost = conversation.message(index), conversation.cost(index)
        if message.removable or message.sources or message.speaks_beside_results:
            return cost
        return min(cost, lowest_tokens(conversation, index, _RESULT_TOKENS, self._draft.counter))


def _opening_properly(units: Units) -> Sequence[Unit]:
    """Return the units from the first user message on, if messages before it had to go; else all units."""
    kept = units.kept
    if not kept or kept[0].kind == "user" or not any(index < kept[0].indices[0] for index in units.strays):
        return kept
    return kept[next((n for n, unit in enumerate(kept) if unit.kind == "user"), 0) :]
