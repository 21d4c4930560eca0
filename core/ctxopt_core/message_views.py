"""How a conversation is handed over: as messages, or as views that are built when they are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ctxopt_core.request import Message

SYSTEM_ROLES = frozenset({"system", "developer"})


class MessageViews(Protocol):
    """A lazy sequence of messages that can answer the two questions of a scan cheaply.

    1. `len()` costs nothing; `views[i]` builds the full view of message i, equal at every call.
    2. `plain(i)` is (role, text) where that is all there is to message i, else None. The text is the very string that
       is sent, so that its count can be cached.
    3. `system_indices(start, stop)` are the system and developer messages in that range, ascending.
    """

    def __len__(self) -> int:
        """Return the number of messages."""

    def __getitem__(self, index: int) -> Message:
        """Return the full view of message `index`."""

    def plain(self, index: int) -> tuple[str, str] | None:
        """Return (role, text) of a message that has nothing else."""

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
        message = self._messages[index]
        return (message.role, message.content) if message.plain and isinstance(message.content, str) else None

    def system_indices(self, start: int, stop: int) -> Sequence[int]:
        """Return the indices of system and developer messages in [start, stop)."""
        return [i for i in range(start, stop) if self._messages[i].role in SYSTEM_ROLES]
