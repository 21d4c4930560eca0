"""Turns and exchanges: the units in which a conversation is kept or dropped.

A *turn* is a user message and everything up to the next user message. Inside a turn an *exchange* is an assistant
message with calls and the run of results that answers it. An exchange is complete or it is not there: results without
their call, and calls without all of their results, belong to no unit and can only be dropped. A call at the very end
of the conversation is *pending*: its results are still to come.

Where results stand in a user's message, as Anthropic's API wants them, that message belongs to the exchange and opens
no turn, even if the user says something beside them. Where such results answer nothing, what the user says stays.
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


UNCOUNTED = -1


class Turn(NamedTuple):
    """A range of messages and its tokens; system messages inside the range are neither counted nor part of it.

    A turn that nobody has counted yet has -1 tokens.
    """

    start: int
    stop: int
    tokens: int
    plain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What is kept or dropped together inside a turn.

    Args:
        kind: `user`, `assistant` (without calls), `exchange` (a call with all its results), `pending` (a call at the
            very end whose results are still to come).
        indices: Its messages, ascending.
        tokens: Their tokens.
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
    """The units of a turn, and what of it belongs to no unit.

    Args:
        kept: The units, in order.
        orphans: Results without a call, and calls without all results.
        blanks: Messages that say nothing.
        superseded: Placeholders of earlier fits.
    """

    kept: tuple[Unit, ...]
    orphans: tuple[int, ...] = ()
    blanks: tuple[int, ...] = ()
    superseded: tuple[int, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens of the units."""
        return sum(unit.tokens for unit in self.kept)


def newest_turns(conversation: CountedConversation, stop: int) -> Iterator[Turn]:
    """Yield the turns before index `stop`, newest first, reading no more than is asked for.

    Messages before the first user message form a last turn of their own.
    """
    end, tokens, plain = stop, 0, True
    costs, roles, special = conversation.costs, conversation.roles, conversation.special
    for index in range(stop - 1, -1, -1):
        price = costs[index] if index in costs else conversation.measure(index)
        role = roles[index]
        if role in SYSTEM_ROLES:
            continue
        tokens += price
        if index in special or role in TOOL_ROLES:
            plain = False
        if role == "user" and (index not in special or conversation.opens_turn(index)):
            yield Turn(index, end, tokens, plain)
            end, tokens, plain = index, 0, True
    if tokens or not plain:
        yield Turn(0, end, tokens, plain)


def turn_ranges(conversation: CountedConversation, stop: int) -> Iterator[Turn]:
    """Yield the turns before index `stop` as `newest_turns` does, but do not count them."""
    end, plain, found = stop, True, False
    for index in range(stop - 1, -1, -1):
        seen = conversation.glance(index)
        if seen.role in SYSTEM_ROLES:
            continue
        found = True
        plain = plain and seen.plain
        if seen.role == "user" and (seen.plain or conversation.opens_turn(index)):
            yield Turn(index, end, UNCOUNTED, plain)
            end, plain, found = index, True, False
    if found:
        yield Turn(0, end, UNCOUNTED, plain)


def last_user_message(conversation: CountedConversation) -> int | None:
    """Return the index of the last user message that says something; None where there is none."""
    for index in range(len(conversation) - 1, -1, -1):
        if conversation.opens_turn(index):
            return index
    return None


def first_user_message(conversation: CountedConversation, stop: int, *, look_at: int = 50) -> int | None:
    """Return the index of the first user message before `stop`, looking at the first few messages only."""
    for index in range(min(stop, look_at)):
        if conversation.opens_turn(index) and not conversation.holds_results(index):
            return index
    return None


def units_of(conversation: CountedConversation, start: int, stop: int) -> Units:
    """Split the messages of [start, stop) into units."""
    kept: list[Unit] = []
    orphans: list[int] = []
    blanks: list[int] = []
    superseded: list[int] = []
    indices = [i for i in range(start, stop) if conversation.role(i) not in SYSTEM_ROLES]
    position = 0
    while position < len(indices):
        index = indices[position]
        message = conversation.message(index)
        position += 1
        if message.synthetic:
            superseded.append(index)
        elif conversation.holds_results(index):
            _add_loose(conversation, index, kept, orphans)
        elif message.tool_calls:
            results = _run_of_results(conversation, indices, position)
            position += len(results)
            _add_exchange(conversation, index, message, results, kept, orphans)
        elif message.empty:
            blanks.append(index)
        else:
            kind: UnitKind = "user" if message.role == "user" else "assistant"
            kept.append(Unit(kind=kind, indices=(index,), tokens=conversation.cost(index)))
    return Units(kept=tuple(kept), orphans=tuple(orphans), blanks=tuple(blanks), superseded=tuple(superseded))


def _run_of_results(conversation: CountedConversation, indices: Sequence[int], position: int) -> list[int]:
    run: list[int] = []
    while position < len(indices) and conversation.holds_results(indices[position]):
        run.append(indices[position])
        position += 1
    return run


def _add_exchange(
    conversation: CountedConversation,
    index: int,
    message: Message,
    results: list[int],
    kept: list[Unit],
    orphans: list[int],
) -> None:
    matched, open_calls = _match(message, [(i, conversation.message(i)) for i in results])
    loose = [i for i in results if i not in matched]
    kind: UnitKind = "exchange"
    if open_calls and _is_end(conversation, (matched or [index])[-1]):
        kind = "pending"
    elif open_calls:
        orphans.append(index)
        loose = results
    if not open_calls or kind == "pending":
        members = (index, *matched)
        speaks = any(conversation.message(i).speaks_beside_results for i in matched)
        tokens = sum(map(conversation.cost, members))
        kept.append(Unit(kind=kind, indices=members, tokens=tokens, speaks=speaks))
    for result in loose:
        _add_loose(conversation, result, kept, orphans)


def _add_loose(conversation: CountedConversation, index: int, kept: list[Unit], orphans: list[int]) -> None:
    """Results that answer nothing are orphans; what a user says beside them is a unit without them."""
    if conversation.message(index).speaks_beside_results:
        conversation.leave_results_out(index)
        kept.append(Unit(kind="user", indices=(index,), tokens=conversation.cost(index), speaks=True))
    else:
        orphans.append(index)


def _match(message: Message, results: Sequence[tuple[int, Message]]) -> tuple[list[int], bool]:
    """Return the messages that answer a message's calls and nothing else, and whether a call is left open.

    Ids need to be unique within the message only, and may even repeat there. A result that names nothing answers the
    next call that has no id.
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
        if calls.keys() >= answers.keys():
            answered += answers
            matched.append(index)
    return matched, bool(calls - answered)


def _is_end(conversation: CountedConversation, index: int) -> bool:
    return all(conversation.role(i) in SYSTEM_ROLES for i in range(index + 1, len(conversation)))
