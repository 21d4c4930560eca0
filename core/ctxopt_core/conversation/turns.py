"""Turns, exchanges and units: the parts of a conversation that are kept or dropped together.

A *turn* is a user message and everything up to the next user message. Inside a turn an *exchange* is an assistant
message with calls and the run of results that answers it. An exchange is complete or it is broken: results without
their call, and calls without all of their results, belong to no unit and can only be dropped. A call at the very end
of the conversation is *pending*: its results are still to come.

Where results are parts of a user's message, as in Anthropic's API, that message belongs to the exchange and opens no
turn, even if the user says something beside them. Where such results answer no call, only what the user says is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.messages.message import TOOL_ROLES, Message
from ctxopt_core.messages.message_views import SYSTEM_ROLES

UnitKind = Literal["user", "assistant", "exchange", "pending"]
UNCOUNTED = -1  # tokens of a turn that is not counted yet; no turn has a negative number


class Turn(NamedTuple):
    """A range of messages and its tokens; system messages inside the range do not belong to it and are not counted.

    `tokens` is `UNCOUNTED` where only the range was asked for. `plain` is true where all messages are plain text.
    """

    start: int
    stop: int
    tokens: int
    plain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """The messages of a turn that are kept or dropped together.

    Args:
        kind: `user`, `assistant` (without calls), `exchange` (a call with all its results), `pending` (a call at the
            very end whose results are still to come).
        indices: Its messages, ascending.
        tokens: The tokens of these messages.
        speaks: Whether a user says something in it beside results.
    """

    kind: UnitKind
    indices: tuple[int, ...]
    tokens: int
    speaks: bool = False

    @property
    def results(self) -> tuple[int, ...]:
        """The results of an exchange."""
        return self.indices[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """The units of a turn, and its messages that belong to no unit.

    Args:
        kept: The units, in order.
        conversation: The conversation without the tool results that answer no call; the units are counted in it.
        orphans: Results without a call, and calls without all results.
        blanks: Messages without content.
        superseded: Placeholders of earlier fits.
    """

    kept: tuple[Unit, ...]
    conversation: CountedConversation
    orphans: tuple[int, ...] = ()
    blanks: tuple[int, ...] = ()
    superseded: tuple[int, ...] = ()

    @property
    def strays(self) -> tuple[int, ...]:
        """The messages that belong to no unit."""
        return (*self.orphans, *self.blanks, *self.superseded)

    @property
    def tokens(self) -> int:
        """Tokens of the units."""
        return sum(unit.tokens for unit in self.kept)


def newest_turns(conversation: CountedConversation, stop: int, *, counted: bool = True) -> Iterator[Turn]:
    """Yield the turns before index `stop`, newest first, and read no more messages than these.

    Messages before the first user message form a last turn of their own. Turns that are not `counted` are only read,
    which takes less time.
    """
    end, tokens, plain, found = stop, 0, True, False
    costs, roles, special = conversation.costs, conversation.roles, conversation.special
    for index in range(stop - 1, -1, -1):
        if counted:
            cost = costs[index] if index in costs else conversation.measure(index)
            role = roles[index]
            is_plain = index not in special and role not in TOOL_ROLES
        else:
            cost = 0
            role, _, is_plain = conversation.peek(index)
        if role in SYSTEM_ROLES:
            continue
        tokens, plain, found = tokens + cost, plain and is_plain, True
        if role == "user" and (is_plain or conversation.opens_turn(index)):
            yield Turn(index, end, tokens if counted else UNCOUNTED, plain)
            end, tokens, plain, found = index, 0, True, False
    if found:
        yield Turn(0, end, tokens if counted else UNCOUNTED, plain)


def last_user_message(conversation: CountedConversation) -> int | None:
    """Return the index of the last user message with content; None where there is none."""
    return next(filter(conversation.opens_turn, range(len(conversation) - 1, -1, -1)), None)


def first_user_message(conversation: CountedConversation, stop: int, *, look_at: int = 50) -> int | None:
    """Return the index of the first user message before `stop` and among the first `look_at` messages."""
    opening = filter(conversation.opens_turn, range(min(stop, look_at)))
    return next((index for index in opening if not conversation.holds_results(index)), None)


def units_of(conversation: CountedConversation, start: int, stop: int) -> Units:
    """Split the messages in [start, stop) into units."""
    found: list[tuple[UnitKind, tuple[int, ...]]] = []
    orphans: list[int] = []
    blanks: list[int] = []
    superseded: list[int] = []
    beside: list[int] = []
    indices = [i for i in range(start, stop) if conversation.role(i) not in SYSTEM_ROLES]
    position = 0
    while position < len(indices):
        index = indices[position]
        message = conversation.message(index)
        position += 1
        loose: Sequence[int] = ()
        if message.synthetic:
            superseded.append(index)
        elif conversation.holds_results(index):
            loose = (index,)
        elif message.tool_calls:
            end = position
            while end < len(indices) and conversation.holds_results(indices[end]):
                end += 1
            results, position = indices[position:end], end
            matched, is_open = _match(message, [(i, conversation.message(i)) for i in results])
            after = range((matched or [index])[-1] + 1, len(conversation))
            if is_open and not all(conversation.is_system(i) for i in after):
                orphans.append(index)
                loose = results
            else:
                found.append(("pending" if is_open else "exchange", (index, *matched)))
                loose = [i for i in results if i not in matched]
        elif message.empty:
            blanks.append(index)
        else:
            found.append(("user" if message.role == "user" else "assistant", (index,)))
        for result in loose:
            # Results that answer no call go; what the user says beside them is a unit.
            if conversation.message(result).speaks_beside_results:
                beside.append(result)
                found.append(("user", (result,)))
            else:
                orphans.append(result)
    counted = conversation.without_results(beside)
    return Units(
        kept=tuple(_unit(counted, kind, members) for kind, members in found),
        conversation=counted,
        orphans=tuple(orphans),
        blanks=tuple(blanks),
        superseded=tuple(superseded),
    )


def _unit(conversation: CountedConversation, kind: UnitKind, indices: tuple[int, ...]) -> Unit:
    speaks = any(conversation.message(i).speaks_beside_results for i in indices)
    return Unit(kind=kind, indices=indices, tokens=sum(map(conversation.cost, indices)), speaks=speaks)


def _match(message: Message, results: Sequence[tuple[int, Message]]) -> tuple[list[int], bool]:
    """Return the messages that answer a message's calls and nothing else, and whether a call is left open.

    A call is answered once, since providers refuse a second result for it: the first one counts. Ids need to be unique
    within the message only, and may even repeat there. A result without an id and a name answers the next call without
    an id.
    """
    calls = Counter(call.id or call.name for call in message.tool_calls)
    without_id = Counter(call.name for call in message.tool_calls if not call.id)
    answered: Counter[str] = Counter()
    matched: list[int] = []
    for index, result in results:
        named = [found.call_id for found in result.tool_results] or [result.tool_call_id or result.name]
        answers = Counter[str]()
        for name in named:
            answers[name or next(iter(without_id - answered - answers), "")] += 1
        if answered + answers <= calls:
            answered += answers
            matched.append(index)
    return matched, bool(calls - answered)
