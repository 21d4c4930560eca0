"""Shrinks one turn from the inside, beginning with the content that is missed least.

1. Tool results that the model has already read, oldest first, down to an excerpt.
2. What the assistant wrote between them, oldest first.
3. Whole exchanges, oldest first.
4. The user message and the final answer of the turn, the longer first; results that the model has not read yet; last of
   all, what a user says beside results.

What this saves beyond the need is given back, newest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import Unit, units_of
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.messages.roles import TOOL_ROLES
from ctxopt_core.shortening.shorten_message import Shortened, shorten_message
from ctxopt_core.shortening.text_shares import removable_sources, tokens_beside
from ctxopt_core.shortening.truncate import level_down

# Tokens of an excerpt: about as few as show head, marker and tail of a tool result, or the beginning of an answer.
# Lower floors keep more turns of which less can be read.
RESULT_FLOOR = 48  # tokens
TEXT_FLOOR = 24  # tokens
_LAST_FLOOR = 1  # tokens: a mark alone, where nothing else made the turn small enough
_LEAST_SPOKEN = 8  # tokens of what a user says beside results: a short request is not reduced to a mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """What is left of a turn: its messages that are kept, ascending, new texts of those that were cut, their tokens."""

    kept: tuple[int, ...]
    shortened: Mapping[int, Shortened]
    tokens: int


@dataclass(slots=True)
class _Plan:
    """The tokens that each message may have; only numbers change here, and no message is cut yet."""

    conversation: CountedConversation
    units: list[Unit]
    counter: TokenCounter
    targets: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.targets = {i: self.conversation.cost(i) for unit in self.units for i in unit.indices}

    @property
    def tokens(self) -> int:
        return sum(self.targets.values())

    def reduce(self, indices: Iterable[int], floor: int, budget: int) -> None:
        """Reduce targets in the given order until the plan is within `budget`."""
        over = self.tokens - budget
        for index in indices:
            if over <= 0:
                return
            cut = min(over, max(0, self.targets[index] - lowest_tokens(self.conversation, index, floor, self.counter)))
            self.targets[index] -= cut
            over -= cut

    def level(self, indices: Sequence[int], floor: int, budget: int) -> None:
        """Reduce the longest of some messages to one common level, so that the plan is within `budget`."""
        over = self.tokens - budget
        if over > 0:
            lows = [lowest_tokens(self.conversation, i, floor, self.counter) for i in indices]
            above = [self.targets[i] - low for i, low in zip(indices, lows, strict=True)]
            extras = level_down(above, sum(above) - over)
            self.targets.update({i: low + more for i, low, more in zip(indices, lows, extras, strict=True)})

    def give_back(self, indices: Iterable[int], budget: int) -> None:
        """Raise targets in the given order while the plan is below `budget`."""
        left = budget - self.tokens
        for index in indices:
            if index in self.targets and left > 0:
                more = min(left, self.conversation.cost(index) - self.targets[index])
                self.targets[index] += more
                left -= more


def lowest_tokens(conversation: CountedConversation, index: int, floor: int, counter: TokenCounter) -> int:
    """Return the tokens of a message when its texts are cut to `floor` tokens, and attachments and sources are gone.

    The floor holds for each of the results in it; what a user says beside them is not cut.
    """
    message = conversation.message(index)
    cost, text, spoken = conversation.cost(index), conversation.text_cost(index), conversation.spoken_cost(index)
    attached = max(0, sum(attachment.cost for attachment in message.removable) - TEXT_FLOOR)
    least = floor * max(1, len(message.tool_results) + bool(message.tool_results and message.outer_sources))
    if spoken:
        least += spoken if floor > _LAST_FLOOR else min(spoken, _LEAST_SPOKEN)
    beside = sum(tokens_beside(message, source, counter) for source in removable_sources(message))
    return cost - max(0, text - least) - attached - beside


def essential_after(conversation: CountedConversation, query: int, counter: TokenCounter) -> tuple[int, int]:
    """Return the tokens of what is kept of the exchange after the query: shrunk as far as it can be, and whole."""
    units = units_of(conversation, query + 1, len(conversation))
    essential = essential_units(units.kept)
    indices = [i for unit in essential for i in unit.indices]
    least = sum(lowest_tokens(units.conversation, i, _LAST_FLOOR, counter) for i in indices)
    return least, sum(unit.tokens for unit in essential)


def essential_units(units: Sequence[Unit]) -> list[Unit]:
    """Return the units that a shrunk turn keeps: its user message, the newest, pending calls, the user's last words."""
    found = [unit for unit in units[:1] if unit.kind == "user"]
    found += [unit for unit in units[-1:] if unit not in found]
    said = [unit for unit in units if unit.speaks][-1:]
    return found + [unit for unit in units if (unit.kind == "pending" or unit in said) and unit not in found]


def shrink(
    conversation: CountedConversation,
    units: Sequence[Unit],
    budget: int,
    counter: TokenCounter,
    *,
    references: bool = False,
) -> Shrunk | None:
    """Return what of a turn fits in `budget` tokens.

    The user message, what the user said last, the final answer and pending calls are kept; so is the newest exchange of
    a turn without an answer. With `references`, the markers in results say how the omitted lines can be read.

    Returns:
        None when the turn cannot be made that small.
    """
    plan = _Plan(conversation, list(units), counter)
    _decide(plan, budget)
    if plan.tokens > budget or not plan.targets:
        return None
    shortened: dict[int, Shortened] = {}
    for index, target in plan.targets.items():
        cost, message = conversation.cost(index), conversation.message(index)
        if target < cost:
            says_more = message.role in TOOL_ROLES or bool(message.tool_calls or message.verbatim)
            cut = shorten_message(message, cost, target, counter, marks_suffice=says_more, references=references)
            if cut is None:
                return None
            shortened[index] = cut
    tokens = sum(shortened[i].tokens if i in shortened else conversation.cost(i) for i in plan.targets)
    return Shrunk(kept=tuple(sorted(plan.targets)), shortened=shortened, tokens=tokens)


def _decide(plan: _Plan, budget: int) -> None:
    units = plan.units
    essential = essential_units(units)
    unread = units[-1].unread if units and units[-1].kind in ("exchange", "pending") else ()
    read = [i for unit in units for i in unit.results if i not in unread]
    between = [unit for unit in units if unit.kind in ("assistant", "exchange") and unit not in essential]
    plan.reduce(read, RESULT_FLOOR, budget)
    plan.reduce([i for unit in between for i in unit.words], TEXT_FLOOR, budget)
    for unit in units:
        if plan.tokens <= budget:
            break
        if unit not in essential:
            for index in unit.indices:
                del plan.targets[index]
    ends = [i for unit in essential for i in unit.words]
    spoken = [i for unit in essential if unit.speaks for i in unit.results if i not in unread]
    plan.level([*ends, *unread], TEXT_FLOOR, budget)
    plan.level([*ends, *unread, *spoken], _LAST_FLOOR, budget)
    plan.give_back([*unread, *sorted(plan.targets, reverse=True)], budget)
