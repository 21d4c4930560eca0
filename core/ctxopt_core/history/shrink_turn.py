"""Making one turn smaller from the inside, in the order in which its content is missed least.

1. Results of tools that the model has already read, oldest first, down to an excerpt.
2. What the assistant wrote on the way, oldest first.
3. Whole exchanges, oldest first.
4. The user message and the final answer of the turn, the longer first; results that the model has not read yet; what a
   user says beside results last.

What has been won too much is given back, newest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import Unit
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.messages.message import TOOL_ROLES
from ctxopt_core.shortening.shorten_message import Shortened, shorten_message

RESULT_FLOOR = 48
TEXT_FLOOR = 24
_LAST_FLOOR = 1
_LEAST_SPOKEN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """What is left of a turn.

    Args:
        kept: Its messages that stay, ascending.
        shortened: New texts of those that were cut.
        tokens: What is kept counts.
    """

    kept: tuple[int, ...]
    shortened: Mapping[int, Shortened]
    tokens: int


@dataclass(slots=True)
class _Plan:
    """The target of every message that is still there, in tokens; arithmetic only, no text is touched."""

    conversation: CountedConversation
    units: list[Unit]
    targets: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.targets = {i: self.conversation.cost(i) for unit in self.units for i in unit.indices}

    @property
    def tokens(self) -> int:
        return sum(self.targets.values())

    def lower(self, indices: Iterable[int], floor: int, budget: int) -> None:
        """Lower targets in the given order until the plan is within `budget`."""
        over = self.tokens - budget
        for index in indices:
            if over <= 0:
                return
            cut = min(over, max(0, self.targets[index] - lowest_tokens(self.conversation, index, floor)))
            self.targets[index] -= cut
            over -= cut

    def level(self, indices: Sequence[int], floor: int, budget: int) -> None:
        """Lower the longest of the given messages to one common level, so that the plan is within `budget`."""
        over = self.tokens - budget
        if over <= 0 or not indices:
            return
        lows = {i: lowest_tokens(self.conversation, i, floor) for i in indices}
        room = sum(self.targets[i] - lows[i] for i in indices) - over
        left = max(0, room)
        ranked = sorted(indices, key=lambda i: self.targets[i] - lows[i])
        for rank, index in enumerate(ranked):
            extra = min(self.targets[index] - lows[index], left // (len(ranked) - rank))
            self.targets[index] = lows[index] + extra
            left -= extra

    def drop(self, unit: Unit) -> None:
        """Take a unit out of the plan."""
        self.units.remove(unit)
        for index in unit.indices:
            del self.targets[index]

    def give_back(self, indices: Iterable[int], budget: int) -> None:
        """Raise targets in the given order while there is room."""
        left = budget - self.tokens
        for index in indices:
            if index in self.targets and left > 0:
                more = min(left, self.conversation.cost(index) - self.targets[index])
                self.targets[index] += more
                left -= more


def lowest_tokens(conversation: CountedConversation, index: int, floor: int) -> int:
    """Return what a message counts when its texts are cut to `floor` tokens and its attachments are gone.

    The floor holds for each of the results in it; what a user says beside them is not cut.
    """
    message = conversation.message(index)
    cost, text, spoken = conversation.cost(index), conversation.text_cost(index), conversation.spoken_cost(index)
    attached = max(0, sum(attachment.cost for attachment in message.removable) - TEXT_FLOOR)
    least = floor * max(1, len(message.tool_results))
    if spoken:
        least += spoken if floor > _LAST_FLOOR else min(spoken, _LEAST_SPOKEN)
    return cost - max(0, text - least) - attached


def shrink(
    conversation: CountedConversation,
    units: Sequence[Unit],
    budget: int,
    counter: TokenCounter,
    *,
    references: bool = False,
) -> Shrunk | None:
    """Return what of a turn fits in `budget` tokens.

    The user message, what the user said last, the final answer and calls that are still pending stay; so does the
    newest exchange of a turn that has no answer yet.

    Args:
        conversation: Gives roles and costs.
        units: The units of the turn, in order.
        budget: The most that may be kept, in tokens.
        counter: Counts the shortened texts.
        references: Whether the markers in results say how the omitted lines can be read.

    Returns:
        None when the turn cannot be made that small.
    """
    plan = _Plan(conversation, list(units))
    _decide(plan, budget)
    if plan.tokens > budget or not plan.targets:
        return None
    return _apply(plan, counter, references=references)


def _decide(plan: _Plan, budget: int) -> None:
    essential = essential_units(plan.units)
    newest = plan.units[-1] if plan.units else None
    unread = newest.results if newest is not None and newest.kind in ("exchange", "pending") else ()
    read = [i for unit in plan.units for i in unit.results if i not in unread]
    between = [unit for unit in plan.units if unit.kind in ("assistant", "exchange") and unit not in essential]
    plan.lower(read, RESULT_FLOOR, budget)
    plan.lower([unit.indices[0] for unit in between], TEXT_FLOOR, budget)
    for unit in [unit for unit in plan.units if unit not in essential]:
        if plan.tokens <= budget:
            break
        plan.drop(unit)
    ends = [unit.indices[0] for unit in essential]
    spoken = [i for unit in essential if unit.speaks for i in unit.results if i not in unread]
    plan.level([*ends, *unread], TEXT_FLOOR, budget)
    plan.level([*ends, *unread, *spoken], _LAST_FLOOR, budget)
    newest_first = sorted(plan.targets, reverse=True)
    plan.give_back([*unread, *newest_first], budget)


def essential_units(units: Sequence[Unit]) -> list[Unit]:
    """Return the units that a shrunk turn may not lose: its user message, what came last, what a user said last."""
    found = [unit for unit in units[:1] if unit.kind == "user"]
    found += [unit for unit in units[-1:] if unit not in found]
    said = [unit for unit in units if unit.speaks][-1:]
    return found + [unit for unit in units if (unit.kind == "pending" or unit in said) and unit not in found]


def _apply(plan: _Plan, counter: TokenCounter, *, references: bool) -> Shrunk | None:
    conversation = plan.conversation
    shortened: dict[int, Shortened] = {}
    tokens = 0
    for index, target in plan.targets.items():
        cost = conversation.cost(index)
        if target < cost:
            message = conversation.message(index)
            says_more = message.role in TOOL_ROLES or bool(message.tool_calls or message.verbatim)
            cut = shorten_message(message, cost, target, counter, marks_suffice=says_more, references=references)
            if cut is None:
                return None
            shortened[index] = cut
            cost = cut.tokens
        tokens += cost
    kept = tuple(sorted(plan.targets))
    return Shrunk(kept=kept, shortened=shortened, tokens=tokens)
