"""`stable_prefix` and the strategy `summarize`: a cut that moves in steps, so that a prompt cache is hit in between.

A provider's prompt cache reuses what a request has in common with the one before, from the start on. A window that
slides with every message has next to nothing in common. Here the conversation is walked from its start as it grew: when
it no longer fits, results that were read are pruned to excerpts and the oldest units go until a share of the window is
free. Until that is used up, every request begins with the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ctxopt_core.conversation.turns import Unit, Units, first_user_message
from ctxopt_core.history.draft import HistoryDraft, within_cap
from ctxopt_core.history.placeholder_note import WIDEST_NOTE, summary_room
from ctxopt_core.history.shrink_turn import lowest_tokens
from ctxopt_core.history.strategies.strategy import Strategy
from ctxopt_core.shortening.shorten_message import Shortened, shorten_message
from ctxopt_core.shortening.truncate import level_down

# Tokens of a pruned result. It is never cut again, so it has more than the 48 of a draft without a stable prefix.
_RESULT_TOKENS = 100
# Shares of the window that a step frees. More makes steps rarer and keeps less: a chat asks for its past, while an
# agent sends many requests for each turn and needs what came last.
FREE_SHARE = 0.11  # of a chat
FREE_SHARE_WITH_TOOLS = 0.5  # of an agent's run
_MOST_FREE_SHARE = 0.5  # of a chat with long turns
_REQUESTS_PER_STEP = 4  # requests that fit after a step at least; with fewer, most requests would be a cache miss
_LARGE_SHARE = 0.15  # of the window: a result whose pruning saves more is pruned before the next step


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
        limit = draft.stable_limit
        if limit is None:
            limit = draft.budget + draft.query_tokens
        if self.summarizes:
            draft.placeholder.summary_room = summary_room(draft.policy, limit, draft.counter)
        if _add_stable(draft, limit):
            draft.strategy = "summarize" if self.summarizes else "turns"
            return
        draft.placeholder.summary_room = 0
        draft.notes.append("the prefix could not be kept stable within the budget")
        self.otherwise.apply(draft)
        draft.fallback = draft.strategy


@dataclass(frozen=True, slots=True)
class Summarize(StablePrefix):
    """`summarize`: the newest messages after a cut that moves in steps, and a summary of those before it."""

    summarizes = True


def _add_stable(draft: HistoryDraft, limit: int) -> bool:
    """Keep what the stepped cut leaves; return False, with the draft still empty, where that is over its budget."""
    cut = _SteppedCut(draft, limit)
    step = cut.walked[-1] if cut.walked else None
    if step is None:
        return False
    conversation = draft.conversation
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
    noted = cut.is_noted(step)
    if tokens + (cut.note_tokens if noted else 0) > draft.left:
        return False
    draft.record_strays(cut.strays)
    draft.kept.extend(rows)
    draft.left -= tokens + (draft.placeholder.tokens(len(conversation)) if noted else 0)
    draft.turns = draft.whole_turns = sum(map(conversation.opens_turn, rows))
    draft.shortened.update(shortened)
    draft.placeholder.after = cut.first if noted else None
    draft.omitted = cut.omitted(step)
    draft.reused_prefix_tokens = cut.reused_prefix_tokens(step, shortened)
    return True


class _SteppedCut:
    """What the stepped cut leaves of a conversation, for each number of its units.

    Nothing is kept in the draft yet. `limit` is the most tokens that the conversation may ever have, its query included
    and its system messages not; it has to be the same for every request. `walked` says where the cut is after each
    unit, with None where nothing that it leaves fits.
    """

    def __init__(self, draft: HistoryDraft, limit: int) -> None:
        self.strays = draft.split(0, len(draft.conversation))
        self.units = _opening_properly(self.strays)
        self._draft = draft
        conversation, policy = draft.conversation, draft.policy
        self.first = first_user_message(conversation, len(conversation)) if policy.keep_first_user_message else None
        self.first_left: Shortened | None = None
        if self.first is not None:
            cap = int(limit * policy.first_message_max_percent / 100)
            self.first_left = within_cap(conversation, self.first, cap, draft.counter)
            self.first = None if self.first_left is None else self.first
        self.note_tokens = draft.placeholder.tokens(WIDEST_NOTE)
        opener, first, units = 0, len(self.units), []
        for n, unit in enumerate(self.units):
            opener = n if unit.kind == "user" else opener
            first = n if unit.indices[0] == self.first else first
            saved = sum(conversation.cost(i) - self._least(i) for i in unit.results)
            units.append(StepUnit(unit.tokens, unit.tokens - saved, opener, unit.kind == "exchange"))
        self._large = frozenset(n for n, unit in enumerate(units) if unit.saved > large_results(limit))
        head = 0 if self.first_left is None else self.first_left.tokens + self.note_tokens
        leading = next((n for n, unit in enumerate(self.units) if unit.kind == "user"), 0)
        self.walked = list(steps(units, limit, first=first, head=head, leading=leading))

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

    def is_noted(self, step: Step) -> bool:
        """Return whether the first message is alone in front, so that the placeholder can follow it."""
        first = self.first
        if first is None or not self.note_tokens or self.units[step.cut].indices[0] <= first:
            return False
        return self.units[self._opener(step)].indices[0] != first

    def shortened(self, index: int, tokens: int) -> Shortened | None:
        """Return the texts with which a message has at most `tokens`; they depend on nothing but these two."""
        draft = self._draft
        message, cost = draft.conversation.message(index), draft.conversation.cost(index)
        references = draft.policy.recoverable_tool_results
        return shorten_message(message, cost, tokens, draft.counter, references=references)

    def reused_prefix_tokens(self, step: Step, shortened: Mapping[int, Shortened]) -> int:
        """Return the tokens of the messages that repeat the start of the request before, byte for byte.

        The request before is the one that was answered by the newest message of the assistant. Messages that are
        `shortened` may have fewer tokens than they were allowed.
        """
        units, conversation = self.units, self._draft.conversation
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
            note = self._draft.placeholder.tokens(self.omitted(step))
        systems = sum(conversation.cost(i) for i in conversation.systems if same and i <= same[-1])
        return note + systems + sum(shortened[index].tokens if index in shortened else now[index] for index in same)

    def omitted(self, step: Step) -> int:
        """Return how many messages before the cut are left out."""
        end = self.units[step.cut].indices[0]
        present = {self.first, self.units[self._opener(step)].indices[0], *self._draft.conversation.systems} - {None}
        return end - sum(index is not None and index < end for index in present)

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


class StepUnit(NamedTuple):
    """A unit of a conversation: its tokens, those with its results pruned, where its turn starts, and its kind."""

    full: int
    least: int
    opener: int
    is_exchange: bool

    @property
    def saved(self) -> int:
        """Tokens that pruning its results saves."""
        return self.full - self.least


class Step(NamedTuple):
    """Where the cut is.

    Units before `cut` are gone, except for the user message that opened the turn in which the cut is. Of those that are
    kept, the ones before `pruned` have their results pruned. The newest unit, whose results are not read yet, has at
    most `newest_limit` tokens, where it would not fit whole even alone.
    """

    cut: int = 0
    pruned: int = 0
    newest_limit: int | None = None


def steps(units: Sequence[StepUnit], limit: int, *, first: int, head: int, leading: int = 0) -> Iterator[Step | None]:
    """Yield where the cut is after each unit; None where even that does not fit.

    A step frees a ninth of the limit, or the tokens of four more requests if that is more, but at most half; where
    tools are at work it frees half. After the first step, a unit with large results is pruned as soon as another unit
    follows, without waiting for the next step: so close to the end that costs little of what is cached.

    Args:
        units: The units, oldest first.
        limit: The most that they may have, in tokens.
        first: Which unit is the first user message, of which something is kept when it goes.
        head: Tokens of what is kept of it, and of the placeholder after it.
        leading: How many units come before the first user message. They go together.
    """
    large = large_results(limit)
    cut = pruned = total = requests = exchanges = 0

    def held() -> int:
        opener = units[cut].opener
        inside = units[opener].full if opener < cut else 0
        return inside + (head if cut > first and opener != first else 0)

    for n, unit in enumerate(units):
        total += unit.full
        requests += unit.opener != n
        exchanges += unit.is_exchange
        if 0 < pruned < n and units[n - 1].saved > large:
            total -= units[n - 1].saved
        if cut and n == leading:
            # A cut among them was made before there was a user message.
            cut, total, requests, exchanges = n, unit.full, 0, 0
        if total + held() <= limit:
            yield Step(cut, pruned)
            continue
        total -= sum(read.saved for read in units[max(cut, pruned) : n] if not pruned or read.saved <= large)
        pruned = n
        usual = _REQUESTS_PER_STEP * total / requests if requests else 0
        in_chat = min(limit * _MOST_FREE_SHARE, max(limit * FREE_SHARE, usual))
        goal = limit - int(limit * FREE_SHARE_WITH_TOOLS if exchanges else in_chat)
        while cut < n and (total + held() > goal or 0 < cut < leading):
            total -= units[cut].least
            requests -= units[cut].opener != cut
            exchanges -= units[cut].is_exchange
            cut += 1
        left = limit - (total + held() - unit.full) if total + held() > limit else None
        yield Step(cut, pruned, left) if left is None or unit.least <= left else None
        if left is not None:
            total -= unit.saved
            pruned = n + 1


def large_results(limit: int) -> int:
    """Return how many tokens pruning has to save for a unit to be pruned as soon as it was read."""
    return int(limit * _LARGE_SHARE)
