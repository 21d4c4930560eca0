"""How a conversation is handed over: as messages, or as views that are built when they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from ctxopt_core.messages.message import Message

SYSTEM_ROLES = frozenset({"system", "developer"})
Item = TypeVar("Item")


class MessageViews(Protocol):
    """A lazy sequence of messages that can answer the two questions of a scan cheaply.

    1. `len()` costs nothing; `views[i]` builds the full view of message i, equal at every call.
    2. `plain(i)` is (role, text) where that is all there is to message i, else None. The text is the very string that
       is sent, so that its count can be cached.
    3. `backwards(stop)` gives `plain(i)` for i from `stop` - 1 down to 0, lazily: the form for a scan.
    4. `system_indices(start, stop)` are the system and developer messages in that range, ascending.
    """

    def __len__(self) -> int:
        """Return the number of messages."""

    def __getitem__(self, index: int) -> Message:
        """Return the full view of message `index`."""

    def plain(self, index: int) -> tuple[str, str] | None:
        """Return (role, text) of a message that has nothing else."""

    def backwards(self, stop: int) -> Iterator[tuple[str, str] | None]:
        """Yield what `plain` returns for each message before `stop`, newest first."""

    def system_indices(self, start: int, stop: int) -> Sequence[int]:
        """Return the indices of system and developer messages in [start, stop)."""


class MessageList:
    """`MessageViews` over messages that exist already."""

    __slots__ = ("_messages",)

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages

    def __len__(self) -> int:
        return len(self._messages)

    def __getitem__(self, index: int) -> Message:
        return self._messages[index]

    def plain(self, index: int) -> tuple[str, str] | None:
        """Return (role, text) of a message that has nothing else."""
        return _plain(self._messages[index])

    def backwards(self, stop: int) -> Iterator[tuple[str, str] | None]:
        """Yield what `plain` returns for each message before `stop`, newest first."""
        return backwards(_plain, self._messages, stop)

    def system_indices(self, start: int, stop: int) -> Sequence[int]:
        """Return the indices of system and developer messages in [start, stop)."""
        return [i for i in range(start, stop) if self._messages[i].role in SYSTEM_ROLES]


def backwards(
    plain: Callable[[Item], tuple[str, str] | None], items: Sequence[Item], stop: int
) -> Iterator[tuple[str, str] | None]:
    """Apply `plain` to the items before `stop`, last first, one at a time."""
    return map(plain, islice(reversed(items), len(items) - stop, None))


def _plain(message: Message) -> tuple[str, str] | None:
    return (message.role, message.content) if message.plain and isinstance(message.content, str) else None
