"""Turns, exchanges and units: the parts of a conversation that are kept or dropped together.

A *turn* is a user message and everything up to the next user message. Inside a turn an *exchange* is an assistant
message with calls and the run of results that answers it. An exchange is complete or it is broken: results without
their call, and calls without all of their results, belong to no unit and can only be dropped. A call at the very end
of the conversation is *pending*: its results are still to come.

A call that the provider answers itself, such as a web search, may have its result in a later message of the assistant.
Then all messages up to that one are one exchange, with the calls and results between them.

A message that ends with reasoning is in one unit with the model's next message, since providers refuse the one without
the other.

Where results are parts of a user's message, as in Anthropic's API, that message belongs to the exchange and opens no
turn, even if the user says something beside them. Where such results answer no call, only what the user says is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.messages.message import Message
from ctxopt_core.messages.message_views import SYSTEM_ROLES
from ctxopt_core.messages.roles import TOOL_ROLES

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
        results: Its messages that are results.
        speaks: Whether a user says something in it beside results.
        compacts: Whether a provider's compaction is in it.
    """

    kind: UnitKind
    indices: tuple[int, ...]
    tokens: int
    results: tuple[int, ...] = ()
    speaks: bool = False
    compacts: bool = False

    @property
    def words(self) -> tuple[int, ...]:
        """Its messages that are not results."""
        return tuple(i for i in self.indices if i not in self.results)

    @property
    def unread(self) -> tuple[int, ...]:
        """The results that no message in it follows but other results."""
        last = self.words[-1] if self.words else -1
        return tuple(i for i in self.results if i > last)


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
    exchanges = _Exchanges(conversation, indices)
    position = 0
    while position < len(indices):
        leading, position = _leading(conversation, indices, position, blanks)
        index = indices[position]
        message = conversation.message(index)
        position += 1
        loose: Sequence[int] = ()
        if message.synthetic:
            superseded.append(index)
        elif conversation.holds_results(index):
            loose = (index,)
        elif message.tool_calls or message.server_calls:
            members, loose, is_open, position = exchanges.at(position - 1)
            after = range(members[-1] + 1, len(conversation))
            if is_open and not all(conversation.is_system(i) for i in after):
                orphans += [*leading, *(i for i in members if not conversation.holds_results(i))]
                loose = sorted((*loose, *(i for i in members if conversation.holds_results(i))))
            else:
                found.append(("pending" if is_open else "exchange", (*leading, *members)))
        elif message.server_results:
            orphans += [*leading, index]
        elif message.empty:
            blanks.append(index)
        else:
            found.append(("user" if message.role == "user" else "assistant", (*leading, index)))
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


def _leading(
    conversation: CountedConversation, indices: Sequence[int], position: int, blanks: list[int]
) -> tuple[tuple[int, ...], int]:
    """Return the messages from a position on that lead to the model's message after them, and the position of that.

    The arguments of the calls of that message stay as they are.

    Args:
        conversation: The conversation.
        indices: Messages of it.
        position: A position among these.
        blanks: Messages without content that stand between are added to it.
    """
    leading: list[int] = []
    between: list[int] = []
    for end in range(position, len(indices)):
        index = indices[end]
        if conversation.leads(index):
            leading.append(index)
        elif not leading or conversation.role(index) != "assistant" or conversation.is_synthetic(index):
            break
        elif conversation.is_blank(index):
            between.append(index)
        else:
            blanks += between
            conversation.fix_calls(index)
            return tuple(leading), end
    return (), position


class _Exchanges:
    """The exchanges among some messages of a conversation, by the position of the message that begins one."""

    def __init__(self, conversation: CountedConversation, indices: Sequence[int]) -> None:
        self._conversation, self._indices = conversation, indices
        self._linked: dict[str, list[int]] | None = None

    def at(self, position: int) -> tuple[tuple[int, ...], list[int], bool, int]:
        """Return the messages of an exchange, its results that answer no call, whether it is open, and where it ends.

        A step is a message with the results after it. While a call of the provider waits for its result, the exchange
        goes on up to the last message that has the result, or a call that was made for it.
        """
        indices, message = self._indices, self._conversation.message
        members: list[int] = []
        loose: list[int] = []
        waiting: dict[str, None] = {}
        is_open, last = False, position
        while position <= last:
            step = message(indices[position])
            end = position + 1
            while end < len(indices) and self._conversation.holds_results(indices[end]):
                end += 1
            results = indices[position + 1 : end]
            matched, lacks = _match(step, [(i, message(i)) for i in results])
            members += [indices[position], *matched]
            loose += [i for i in results if i not in matched]
            is_open = is_open or lacks
            waiting = {name: None for name in (*waiting, *step.server_calls) if name not in step.server_results}
            last = max([last, *(self._last_linked(name, end) for name in waiting)])
            position = end
        return tuple(members), loose, is_open or bool(waiting), position

    def _last_linked(self, name: str, start: int) -> int:
        """Return the position of the first result of a provider's call from `start` on, else of the last call for it.

        It is -1 where there is none before the user speaks again.
        """
        if self._linked is None:
            self._linked = {}
            for position, index in enumerate(self._indices):
                message = self._conversation.message(index)
                for linked in (*message.server_results, *(call.caller for call in message.tool_calls)):
                    if linked is not None:
                        self._linked.setdefault(linked, []).append(position)
        later = [position for position in self._linked.get(name, ()) if position >= start]
        conversation, indices = self._conversation, self._indices
        closing = (p for p in later if name in conversation.message(indices[p]).server_results)
        found = next(closing, later[-1] if later else -1)
        return -1 if any(conversation.opens_turn(indices[p]) for p in range(start, found)) else found


def _unit(conversation: CountedConversation, kind: UnitKind, indices: tuple[int, ...]) -> Unit:
    messages = [conversation.message(i) for i in indices]
    return Unit(
        kind=kind,
        indices=indices,
        tokens=sum(map(conversation.cost, indices)),
        results=tuple(i for i in indices[1:] if conversation.holds_results(i)),
        speaks=any(message.speaks_beside_results for message in messages),
        compacts=any(message.compacts for message in messages),
    )


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
