"""Lazy sequences of messages: a message is built when it is read, so that a fit does not pay for a long history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Generic, NamedTuple, Protocol, TypeVar

from ctxopt_core.messages.message import Message
from ctxopt_core.messages.roles import TOOL_ROLES

SYSTEM_ROLES = frozenset({"system", "developer"})
RUN_MESSAGES = 256
"""Messages that are read together. A run begins at a multiple of it; a search remembers the words of one."""
Item = TypeVar("Item")


class MessageViews(Protocol):
    """A lazy sequence of messages that can answer the two questions of a scan cheaply.

    1. `len()` costs nothing; `views[i]` builds the full view of message i, equal at every call.
    2. `plain(i)` is (role, content) where message i has nothing else, else None. The content is the very string that
       is sent, so that its count can be cached.
    3. `backwards(stop)` yields `plain(i)` for i from `stop` - 1 down to 0, lazily: the form for a scan.
    4. `system_indices(start, stop)` are the system and developer messages in that range, ascending.
    """

    def __len__(self) -> int:
        """Return the number of messages."""
        ...

    def __getitem__(self, index: int) -> Message:
        """Return the full view of message `index`."""
        ...

    def plain(self, index: int) -> tuple[str, str] | None:
        """Return (role, content) of a message that has nothing else."""

    def backwards(self, stop: int) -> Iterator[tuple[str, str] | None]:
        """Yield what `plain` returns for each message before `stop`, newest first."""
        ...

    def system_indices(self, start: int, stop: int) -> Sequence[int]:
        """Return the indices of system and developer messages in [start, stop)."""
        ...


class PlainRange(NamedTuple):
    """Messages that have a role, perhaps a name, a string that is not blank, and nothing else, oldest first.

    None of them is a tool's message or the placeholder of an earlier fit. `names` is None where none has a name.
    """

    roles: Sequence[str]
    names: Sequence[str | None] | None
    texts: Sequence[str]


def plain_range(roles: Sequence[str], names: Sequence[str | None] | None, texts: Sequence[str]) -> PlainRange | None:
    """Return messages that have nothing else than these, if they are as in a `PlainRange`, else None."""
    # There are few different first characters, and hardly any is white space. What begins with a bracket may be an
    # earlier placeholder, which is not looked at here.
    first = {text[:1] for text in texts}
    if not first.isdisjoint(("", "[")) or (any(map(str.isspace, first)) and any(map(str.isspace, texts))):
        return None
    if not TOOL_ROLES.isdisjoint(roles):
        return None
    return PlainRange(roles, names if names is not None and any(names) else None, texts)


class LazyMessages(Generic[Item]):
    """`MessageViews` over the messages of any API or framework, by three functions that read one of them.

    Args:
        items: The messages in their own form, oldest first. They are neither copied nor changed.
        view: Returns the full view of an item.
        plain: Returns (role, content) of an item that has nothing else, else None. It is called for each item of a
            scan, so it looks at no more than it must.
        role: Returns the role of an item.
        compacts: Tells whether a provider's compaction is in an item, which stands for all items before it. By default
            there is none.
    """

    __slots__ = ("_compacts", "_plain", "_role", "_sought", "_sought_first", "_view", "items")

    def __init__(
        self,
        items: Sequence[Item],
        view: Callable[[Item], Message],
        plain: Callable[[Item], tuple[str, str] | None],
        role: Callable[[Item], str | None],
        compacts: Callable[[Item], bool] | None = None,
    ) -> None:
        self.items = items
        self._view, self._plain, self._role, self._compacts = view, plain, role, compacts
        self._sought = self._sought_first = range(0)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Message:
        return self._view(self.items[index])

    def plain(self, index: int) -> tuple[str, str] | None:
        """Return (role, content) of a message that has nothing else."""
        return self._plain(self.items[index])

    def named(self, index: int) -> tuple[str, str, str] | None:  # noqa: ARG002
        """Return (role, name, content) of a message that has nothing else, where that can be told cheaply, else None.

        It spares a search the full views of a conversation whose speakers have names.
        """
        return None

    def backwards(self, stop: int) -> Iterator[tuple[str, str] | None]:
        """Yield what `plain` returns for each message before `stop`, newest first."""
        return map(self._plain, map(self.items.__getitem__, range(stop - 1, -1, -1)))

    def plain_range(self, start: int, stop: int) -> PlainRange | None:
        """Return the messages in [start, stop) if all of them are known to be as in a `PlainRange`, else None.

        It takes a fraction of the time of a call for each message.
        """
        found = [self._plain(self.items[index]) for index in range(start, stop)]
        plain = [one for one in found if one is not None]
        if len(plain) < len(found):
            return None
        return plain_range([role for role, _ in plain], None, [text for _, text in plain])

    def system_indices(self, start: int, stop: int) -> Sequence[int]:
        """Return the indices of system and developer messages in [start, stop)."""
        self._note_search(start, stop)
        role, items = self._role, self.items
        return [i for i in range(start, stop) if role(items[i]) in SYSTEM_ROLES]

    def last_compaction(self, without: Callable[[int, int], bool] | None = None) -> int | None:  # noqa: ARG002
        """Return the index of the last item with a provider's compaction, of those where system messages were sought.

        It is None where there is none. Views that are not searched for system messages are not searched for it either.

        Args:
            without: Says of the start and the stop of a run whether it is known that no item of it has one. Views
                whose items tell it at once do not ask.
        """
        compacts, items = self._compacts, self.items
        if compacts is None:
            return None
        return next((i for part in self._searched for i in reversed(part) if compacts(items[i])), None)

    def _searched_runs(self) -> Iterator[tuple[range, range]]:
        """Yield the runs where system messages were sought, newest first, and what of each was searched."""
        for part in self._searched:
            for first in range(
                (part.stop - 1) // RUN_MESSAGES * RUN_MESSAGES, part.start - RUN_MESSAGES, -RUN_MESSAGES
            ):
                run = range(first, min(first + RUN_MESSAGES, len(self.items)))
                yield run, range(max(run.start, part.start), min(run.stop, part.stop))

    @property
    def _searched(self) -> tuple[range, ...]:
        """Where system messages were sought, the newest part first, each once."""
        return (self._sought,) if self._sought == self._sought_first else (self._sought, self._sought_first)

    def _note_search(self, start: int, stop: int) -> None:
        """Remember where system messages were sought: the longest range, which ends with the last item, and the first.

        They are one and the same where all items are searched.
        """
        if stop - start > len(self._sought):
            self._sought = range(start, stop)
        if start == 0 and stop > len(self._sought_first):
            self._sought_first = range(stop)


class MessageViewsFrom:
    """`MessageViews` of what is left of others when the messages before `start` are gone."""

    def __init__(self, views: MessageViews, start: int) -> None:
        self._views, self._start = views, start

    def __len__(self) -> int:
        return len(self._views) - self._start

    def __getitem__(self, index: int) -> Message:
        return self._views[index + self._start]

    def plain(self, index: int) -> tuple[str, str] | None:
        """Return (role, content) of a message that has nothing else."""
        return self._views.plain(index + self._start)

    def backwards(self, stop: int) -> Iterator[tuple[str, str] | None]:
        """Yield what `plain` returns for each message before `stop`, newest first."""
        return islice(self._views.backwards(stop + self._start), stop)

    def system_indices(self, start: int, stop: int) -> Sequence[int]:
        """Return the indices of system and developer messages in [start, stop)."""
        found = self._views.system_indices(start + self._start, stop + self._start)
        return [index - self._start for index in found]


class MessageList(LazyMessages[Message]):
    """`MessageViews` over messages that exist already."""

    __slots__ = ()

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__(messages, _itself, _plain, attrgetter("role"), attrgetter("compacts"))

    def named(self, index: int) -> tuple[str, str, str] | None:
        """Return (role, name, content) of a message that has nothing else, else None."""
        message = self.items[index]
        if not message.name or not isinstance(message.content, str) or _has_more(message):
            return None
        return message.role, message.name, message.content

    def plain_range(self, start: int, stop: int) -> PlainRange | None:
        """Return the messages in [start, stop) if all of them are as in a `PlainRange`, else None."""
        messages = self.items[start:stop]
        texts = [message.content for message in messages if isinstance(message.content, str)]
        if len(texts) < len(messages) or any(map(_has_more, messages)):
            return None
        return plain_range([message.role for message in messages], [message.name for message in messages], texts)


def _has_more(message: Message) -> bool:
    """Return whether a message has more than a role, a name and a string, or answers a call."""
    if message.special or message.role in TOOL_ROLES or message.tool_call_id is not None:
        return True
    return bool(message.attachments or message.verbatim)


def _itself(message: Message) -> Message:
    return message


def _plain(message: Message) -> tuple[str, str] | None:
    return (message.role, message.content) if message.plain and isinstance(message.content, str) else None
