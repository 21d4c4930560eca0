"""A conversation whose messages are read and counted lazily, from the newest one back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from typing import NamedTuple

from ctxopt_core.conversation.message_tokens import TOKENS_PER_MESSAGE, TOKENS_PER_NAME, tokens_by
from ctxopt_core.conversation.plain_runs import PlainRuns
from ctxopt_core.counting.token_counter import TokenCounter, cached_counts_of, most_tokens_per_byte
from ctxopt_core.messages.message import Message
from ctxopt_core.messages.message_views import (
    SYSTEM_ROLES,
    MessageList,
    MessageViews,
    MessageViewsFrom,
    PlainRange,
)
from ctxopt_core.messages.placeholder import is_recalled
from ctxopt_core.messages.roles import TOOL_ROLES
from ctxopt_core.providers.rules import priced, rules_of

# Messages at either end that are searched for system messages and for a compaction. In a conversation of 100,000
# messages a search of all of them would take longer than the fit (docs/why.md, "Behavior").
SYSTEM_SCAN_HEAD = 100  # messages
SYSTEM_SCAN_TAIL = 5_000  # messages
_COUNTED_TOGETHER = 16  # messages, a part of a run: a call for each takes twice the time, and few are read in vain
_PROBES = 8  # messages that are measured in bytes first; they estimate the whole within a factor of about two
_UNBOUNDED = 2**62  # bytes: more than any limit, for messages that are not plain


class CountedConversation:
    """A conversation with the role and the tokens of each message, which are read and counted once, when asked for.

    Args:
        messages: The messages, oldest first, as a tuple or list; `MessageViews` are read lazily.
        counter: Counts their tokens.

    Attributes:
        systems: Indices of the system messages.
        system_scan_bounded: Whether only the two ends were searched for system messages.
        results_omitted: Indices of the messages that are seen without the tool results in them.
        costs, roles: What was counted so far, by index.
        special: Indices of counted messages that are blank, call, answer, or are an earlier placeholder.
    """

    def __init__(self, messages: tuple[Message, ...] | list[Message] | MessageViews, counter: TokenCounter) -> None:
        self._views: MessageViews = MessageList(messages) if isinstance(messages, (tuple, list)) else messages
        self._counter, self._count = counter, counter.count
        self._known = cached_counts_of(counter)
        self._rules = rules_of(counter)
        self._per_byte = most_tokens_per_byte(counter)
        self._runs = PlainRuns(self._views)
        self._messages: dict[int, Message] = {}
        self._overheads: dict[str, int] = {}
        self._peeks: dict[int, Peek] = {}
        self._total, self._uncounted = 0, len(self._views)
        self.costs: dict[int, int] = {}
        self.roles: dict[int, str] = {}
        self.special: set[int] = set()
        self.results_omitted: frozenset[int] = frozenset()
        self._blank: set[int] = set()
        self.systems, self.system_scan_bounded = self._find_systems()

    def __len__(self) -> int:
        return len(self._views)

    def message(self, index: int) -> Message:
        """Return a message; each attachment has its cost in tokens."""
        found = self._messages.get(index)
        if found is None:
            found = priced(self._views[index], self._rules)
            if found.synthetic and found.role == "user" and not self._is_beside_user(found, index):
                found = replace(found, synthetic=False)  # the only words of a user are never a placeholder
            self._messages[index] = found
        return found

    def peek(self, index: int) -> Peek:
        """Return the role and the text of a message without counting its tokens."""
        found = self._peeks.get(index)
        if found is None:
            plain = self._views.plain(index)
            found = Peek.at(self.message(index)) if plain is None else Peek(*plain, bool(plain[1].strip()))
            self._peeks[index] = found
        return found

    def role(self, index: int) -> str:
        """Return a message's role."""
        found = self.roles.get(index)
        if found is None:
            plain = self._views.plain(index)
            found = plain[0] if plain else self.message(index).role
        return found

    def is_system(self, index: int) -> bool:
        """Return whether a message has the role of the system or the developer."""
        return self.role(index) in SYSTEM_ROLES

    def is_blank(self, index: int) -> bool:
        """Return whether a message has neither content nor calls; this does not count its tokens."""
        if index in self.costs:
            return index in self._blank
        plain = self._views.plain(index)
        return self.message(index).empty if plain is None else not plain[1].strip()

    def is_synthetic(self, index: int) -> bool:
        """Return whether a message is the placeholder of an earlier fit."""
        if index in self.costs and index not in self.special:
            return False
        return self._views.plain(index) is None and self.message(index).synthetic

    def opens_turn(self, index: int) -> bool:
        """Return whether a message starts a turn: a user's text that is not beside the results of preceding calls."""
        if self.role(index) != "user" or self.is_blank(index) or self.is_synthetic(index):
            return False
        return not self.holds_results(index) or (
            self.message(index).speaks_beside_results and not self._follows_calls(index)
        )

    def leads(self, index: int) -> bool:
        """Return whether a message ends with reasoning, which goes with the model's next message alone."""
        if index in self.costs and index not in self.special:
            return False
        return self._views.plain(index) is None and self.message(index).leads

    def holds_results(self, index: int) -> bool:
        """Return whether a message is a tool result, or a user's message with tool results in it."""
        if self.role(index) in TOOL_ROLES:
            return True
        if index in self.costs and index not in self.special:
            return False
        return self._views.plain(index) is None and bool(self.message(index).tool_results)

    def fix_calls(self, index: int) -> None:
        """Let the arguments of a message's calls stay as they are, because of reasoning in messages before it."""
        message = self.message(index)
        if message.tool_calls:
            fixed = tuple(replace(call, fixed=True) for call in message.tool_calls)
            self._messages[index] = replace(message, tool_calls=fixed)

    def without_results(self, indices: Iterable[int]) -> CountedConversation:
        """Return the conversation as it is when the tool results in some messages are left out.

        What was read and counted of the other messages stays read; this conversation stays as it is.
        """
        omitted = [i for i in indices if i not in self.results_omitted and self.message(i).tool_results]
        if not omitted:
            return self
        found = copy(self)
        found.results_omitted = self.results_omitted.union(omitted)
        beside = {i: self.message(i).beside_results for i in omitted}
        found._messages, found._peeks = {**self._messages, **beside}, dict(self._peeks)  # noqa: SLF001 (a copy of self)
        found.costs = dict(self.costs)
        for index in omitted:
            found.measure(index)
        return found

    def starting_at(self, start: int) -> CountedConversation:
        """Return the conversation without the messages before `start`, which becomes index 0."""
        omitted = [i - start for i in self.results_omitted if i >= start]
        return CountedConversation(MessageViewsFrom(self._views, start), self._counter).without_results(omitted)

    def last_compaction(self, *, reading: bool) -> int | None:
        """Return the index of the last message with a compaction; `reading` if most messages are read in any case."""
        return self._runs.last_compaction(reading=reading)

    def backwards(self, stop: int) -> Iterator[tuple[str, str] | None]:
        """Yield (role, text) of each message before `stop` that has nothing else, else None; newest first."""
        return self._views.backwards(stop)

    def named(self, index: int) -> tuple[str, str, str] | None:
        """Return (role, name, text) of a message that has nothing else, where that can be told cheaply, else None."""
        return self._runs.named(index)

    def plain_range(self, start: int, stop: int) -> PlainRange | None:
        """Return the messages in [start, stop), all of one run, if they are known to be plain, else None."""
        return self._runs.between(start, stop)

    def text_cost(self, index: int) -> int:
        """Return the tokens of a message's texts alone, which are what shortening can save."""
        return sum(self._count(text) for text in self.message(index).texts)

    def spoken_cost(self, index: int) -> int:
        """Return the tokens of what a user says beside tool results; 0 for every other message."""
        message = self.message(index)
        return sum(self._count(message.texts[i]) for i in message.own) if message.tool_results else 0

    def cost(self, index: int) -> int:
        """Return the tokens of a message, its framing included."""
        found = self.costs.get(index)
        return self.measure(index) if found is None else found

    def total_up_to(self, limit: int) -> int:
        """Return the tokens of all messages, or any number above `limit` as soon as the sum is above it.

        A later call continues where an earlier one stopped.
        """
        total, index = self._total, self._uncounted
        costs, roles, overheads = self.costs, self.roles, self._overheads
        known, count = self._known, self._count
        while index > 0 and total <= limit:
            start = (index - 1) // _COUNTED_TOGETHER * _COUNTED_TOGETHER
            for one in self._runs.backwards(start, index):
                index -= 1
                cost = costs.get(index)
                if cost is None:
                    # The inlined common case of `measure`: a plain message that says something.
                    if one is not None and one[0] in overheads and one[1] and not one[1].isspace():
                        tokens = known(one[1])
                        roles[index] = one[0]
                        cost = (count(one[1]) if tokens is None else tokens) + overheads[one[0]]
                        costs[index] = cost
                    else:
                        cost = self.measure(index)
                total += cost
                if total > limit:
                    break
        self._total, self._uncounted = total, index
        return total

    def bytes_prove_fit(self, limit: int) -> bool:
        """Return whether the size in bytes proves that the conversation is within `limit` tokens, without tokenizing.

        Where a token is at least one byte, a string never has more tokens than bytes, or than bytes times the factor of
        an estimate. Of other counters nothing is proven. A few messages are measured first, because in most
        conversations that are over the limit they show that a sum over all is useless.
        """
        if self._per_byte is None:
            return False
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
        """Read a message, count it, and remember its role and its tokens."""
        plain = self._views.plain(index)
        said = (plain[0], "", plain[1]) if plain else self._runs.named(index)
        if said is not None:
            role, name, text = said
            blank = not text or text.isspace()
            tokens = self._count(text) + (self._overheads.get(role) or self._overhead(role))
            tokens += TOKENS_PER_NAME + self._count(name) if name else 0
        else:
            message = self.message(index)
            role, blank = message.role, message.empty
            tokens = tokens_by(message, self._count, self._rules.call_tokens)
            if message.special:
                self.special.add(index)
        self.roles[index] = role
        self.costs[index] = tokens
        if blank:
            self._blank.add(index)
            self.special.add(index)
        return tokens

    def _is_beside_user(self, message: Message, index: int) -> bool:
        """Return whether a user's message follows another one or, if it recalls something, stands before one."""
        before = range(index - 1, -1, -1)
        beside = range(index + 1, len(self)) if is_recalled(message.texts[0]) else before
        roles = (plain[0] if (plain := self._views.plain(i)) else self._views[i].role for i in beside)
        return next((role for role in roles if role not in SYSTEM_ROLES), None) == "user"

    def _follows_calls(self, index: int) -> bool:
        before = next((i for i in range(index - 1, -1, -1) if self.role(i) not in SYSTEM_ROLES), None)
        return before is not None and (bool(self.message(before).tool_calls) or self.holds_results(before))

    def _byte_bound(self, index: int) -> int:
        plain = self._views.plain(index)
        if plain is None:
            return _UNBOUNDED
        text = plain[1]
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        if self._per_byte != 1:
            size = math.ceil(size * (self._per_byte or 0)) + 1  # counts are rounded up
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


class Peek(NamedTuple):
    """A message that was read but not counted.

    `text` has everything that the message says, calls with their arguments included. `plain` is true for a message with
    content that neither calls, nor answers a call, nor is the placeholder of an earlier fit.
    """

    role: str
    text: str
    plain: bool

    @classmethod
    def at(cls, message: Message) -> Peek:
        """Return the role and the text of a message."""
        calls = [text for call in message.tool_calls for text in (call.name, call.arguments)]
        text = "\n".join((*([message.name] if message.name else ()), *message.texts, *calls))
        special = message.special or message.role in TOOL_ROLES
        return cls(message.role, text, not special and not message.empty)
