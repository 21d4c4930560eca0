"""A conversation seen from its newest end, read and counted no further than is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ctxopt_core.counting.token_counter import TokenCounter, cached_counts_of
from ctxopt_core.messages.message import TOOL_ROLES, Message
from ctxopt_core.messages.message_views import SYSTEM_ROLES, MessageList, MessageViews
from ctxopt_core.providers.rules import priced, rules_of

TOKENS_PER_MESSAGE = 3
TOKENS_PER_NAME = 1
TOKENS_PER_REQUEST = 3
SYSTEM_SCAN_HEAD = 100
SYSTEM_SCAN_TAIL = 5_000
_PROBES = 8
_UNBOUNDED = 2**62


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """Return the tokens of one message as a chat request holds it.

    3 for the message itself, its role, its texts, 1 and the name where it has one, the name, arguments and id of each
    call, the id that it answers, and what the counter's rules charge for each attachment. The rule is the one OpenAI
    publishes for its chat models; it is exact for text and an upper bound for calls.
    """
    return _message_tokens(priced(message, rules_of(counter)), counter.count)


def _message_tokens(message: Message, count: Callable[[str], int]) -> int:
    content = message.content
    tokens = TOKENS_PER_MESSAGE + count(message.role)
    tokens += count(content) if isinstance(content, str) else sum(map(count, content))
    tokens += sum(map(count, message.verbatim))
    if message.name:
        tokens += TOKENS_PER_NAME + count(message.name)
    if message.tool_call_id:
        tokens += count(message.tool_call_id)
    for call in message.tool_calls:
        tokens += count(call.name) + count(call.arguments) + count(call.id or "")
    return tokens + sum([attachment.cost for attachment in message.attachments])


class CountedConversation:
    """Roles and costs of a conversation's messages, each read and counted once.

    Args:
        messages: The messages, oldest first, as a tuple or list; `MessageViews` are read lazily.
        counter: Counts their texts.
    """

    __slots__ = (
        "_count",
        "_glances",
        "_known",
        "_messages",
        "_overheads",
        "_rules",
        "_total",
        "_uncounted",
        "_views",
        "bare",
        "blank",
        "costs",
        "roles",
        "special",
        "system_scan_bounded",
        "systems",
    )

    def __init__(self, messages: tuple[Message, ...] | list[Message] | MessageViews, counter: TokenCounter) -> None:
        self._views: MessageViews = MessageList(messages) if isinstance(messages, (tuple, list)) else messages
        self._count = counter.count
        self._known = cached_counts_of(counter)
        self._rules = rules_of(counter)
        self._messages: dict[int, Message] = {}
        self._overheads: dict[str, int] = {}
        self._glances: dict[int, Glance] = {}
        self._total, self._uncounted = 0, len(self._views)
        self.costs: dict[int, int] = {}
        self.roles: dict[int, str] = {}
        self.special: set[int] = set()
        self.blank: set[int] = set()
        self.bare: set[int] = set()
        self.systems, self.system_scan_bounded = self._find_systems()

    def __len__(self) -> int:
        return len(self._views)

    def message(self, index: int) -> Message:
        """Return the full view of a message; its attachments say what they cost."""
        found = self._messages.get(index)
        if found is None:
            found = self._messages[index] = priced(self._views[index], self._rules)
        return found

    def glance(self, index: int) -> Glance:
        """Return what can be seen of a message without counting it."""
        found = self._glances.get(index)
        if found is None:
            plain = self._views.plain(index)
            found = glance_at(self.message(index)) if plain is None else Glance(*plain, bool(plain[1].strip()))
            self._glances[index] = found
        return found

    def role(self, index: int) -> str:
        """Return a message's role."""
        found = self.roles.get(index)
        if found is None:
            plain = self._views.plain(index)
            found = plain[0] if plain else self.message(index).role
        return found

    def is_system(self, index: int) -> bool:
        """Tell whether a message is one of the system or the developer."""
        return self.role(index) in SYSTEM_ROLES

    def is_blank(self, index: int) -> bool:
        """Tell whether a message says nothing and calls nothing. It is not counted for that."""
        if index in self.costs:
            return index in self.blank
        plain = self._views.plain(index)
        return self.message(index).empty if plain is None else not plain[1].strip()

    def is_synthetic(self, index: int) -> bool:
        """Tell whether a message is a placeholder that an earlier fit put there."""
        if index in self.costs and index not in self.special:
            return False
        return self._views.plain(index) is None and self.message(index).synthetic

    def opens_turn(self, index: int) -> bool:
        """Tell whether a message is one of a user who says something, and does not say it beside answers to calls."""
        if self.role(index) != "user" or self.is_blank(index) or self.is_synthetic(index):
            return False
        return not self.holds_results(index) or (
            self.message(index).speaks_beside_results and not self._follows_calls(index)
        )

    def holds_results(self, index: int) -> bool:
        """Tell whether a message is a result, or a user's message with results in it."""
        if self.role(index) in TOOL_ROLES:
            return True
        if index in self.costs and index not in self.special:
            return False
        return self._views.plain(index) is None and bool(self.message(index).tool_results)

    def leave_results_out(self, index: int) -> None:
        """From now on see a message without the results in it, since they answer no call."""
        message = self.message(index)
        if message.tool_results and index not in self.bare:
            self.bare.add(index)
            self._messages[index] = message.beside_results
            self.measure(index)

    def text_cost(self, index: int) -> int:
        """Return the tokens of a message's texts alone: what shortening can win."""
        return sum(self._count(text) for text in self.message(index).texts)

    def spoken_cost(self, index: int) -> int:
        """Return the tokens of what a user says beside results; 0 for every other message."""
        message = self.message(index)
        return sum(self._count(message.texts[i]) for i in message.spoken) if message.tool_results else 0

    def cost(self, index: int) -> int:
        """Return a message's tokens as rendered."""
        found = self.costs.get(index)
        return self.measure(index) if found is None else found

    def total_up_to(self, limit: int) -> int:
        """Return the tokens of all messages; once the sum has passed `limit`, any larger figure.

        A later call goes on from where an earlier one stopped.
        """
        total, start = self._total, self._uncounted
        if total > limit or start == 0:
            return total
        costs, roles, overheads = self.costs, self.roles, self._overheads
        known, count = self._known, self._count
        index = start
        for plain in self._views.backwards(start):
            index -= 1
            cost = costs.get(index)
            if cost is None:
                # The inlined common case of `measure`: a plain message that says something.
                if plain is not None and plain[0] in overheads and plain[1] and not plain[1].isspace():
                    tokens = known(plain[1])
                    roles[index] = plain[0]
                    cost = (count(plain[1]) if tokens is None else tokens) + overheads[plain[0]]
                    costs[index] = cost
                else:
                    cost = self.measure(index)
            total += cost
            if total > limit:
                break
        self._total, self._uncounted = total, index
        return total

    def bytes_prove_fit(self, limit: int) -> bool:
        """Tell whether the mere bytes of the conversation prove that it is within `limit`, without tokenizing.

        A token is at least one byte, so a text never counts more tokens than it has bytes. A few messages are looked
        at first, to see whether trying is worth it.
        """
        length = len(self._views)
        probe = range(0, length, length // _PROBES + 1)
        if sum(map(self._byte_bound, probe)) * length > 2 * limit * len(probe):
            return False
        bound = 0
        for index in range(length - 1, -1, -1):
            bound += self._byte_bound(index)
            if bound > limit:
                return False
        return True

    def measure(self, index: int) -> int:
        """Read and count a message for the first time."""
        plain = self._views.plain(index)
        if plain is None:
            message = self.message(index)
            role, blank = message.role, message.empty
            tokens = _message_tokens(message, self._count)
            if message.tool_calls or message.tool_results or message.synthetic:
                self.special.add(index)
        else:
            role, text = plain
            blank = not text or text.isspace()
            tokens = self._count(text) + (self._overheads.get(role) or self._overhead(role))
        self.roles[index] = role
        self.costs[index] = tokens
        if blank:
            self.blank.add(index)
            self.special.add(index)
        return tokens

    def _follows_calls(self, index: int) -> bool:
        before = next((i for i in range(index - 1, -1, -1) if self.role(i) not in SYSTEM_ROLES), None)
        return before is not None and (bool(self.message(before).tool_calls) or self.holds_results(before))

    def _byte_bound(self, index: int) -> int:
        plain = self._views.plain(index)
        if plain is None:
            return _UNBOUNDED
        text = plain[1]
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        return size + (self._overheads.get(plain[0]) or self._overhead(plain[0]))

    def _overhead(self, role: str) -> int:
        found = self._overheads[role] = TOKENS_PER_MESSAGE + self._count(role)
        return found

    def _find_systems(self) -> tuple[tuple[int, ...], bool]:
        length = len(self._views)
        if length <= SYSTEM_SCAN_HEAD + SYSTEM_SCAN_TAIL:
            return tuple(self._views.system_indices(0, length)), False
        head = self._views.system_indices(0, SYSTEM_SCAN_HEAD)
        tail = self._views.system_indices(length - SYSTEM_SCAN_TAIL, length)
        return (*head, *tail), True


class Glance(NamedTuple):
    """What can be seen of a message without counting it.

    `text` is all that it says, calls with their arguments included. `plain` tells that it stands for itself: it says
    something, and it neither calls nor answers.
    """

    role: str
    text: str
    plain: bool


def glance_at(message: Message) -> Glance:
    """Return what can be seen of a message."""
    calls = [text for call in message.tool_calls for text in (call.name, call.arguments)]
    text = "\n".join((*([message.name] if message.name else ()), *message.texts, *calls))
    special = message.tool_calls or message.tool_results or message.role in TOOL_ROLES or message.synthetic
    return Glance(message.role, text, not special and not message.empty)
