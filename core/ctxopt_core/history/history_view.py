"""What a strategy of one's own sees of a conversation, and what it returns."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, MutableMapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from ctxopt_core.messages.message import Message

run_progress: ContextVar[MutableMapping[str, Any] | None] = ContextVar("ctxopt_run_progress", default=None)
"""Where strategies keep their progress in the run that is going on; an adapter that has such a place sets it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryView:
    """What a strategy of one's own sees.

    Args:
        messages: The whole conversation, oldest first. It must not be changed.
        turns: The earlier turns, oldest first, each as a range of indices into `messages`. The query, and what follows
            it, stays in any case and is not among them.
        tokens: What each message of these turns counts, by index; system messages are not among them.
        room: The tokens that the chosen messages may count together.
        ranking_query: What is asked now.
        progress: A place for what the strategy wants to remember until the next call of the same run. In an agent it is
            kept in the run's state; elsewhere it is new at each call.
    """

    messages: Sequence[Message] = field(repr=False)
    turns: Sequence[range]
    tokens: dict[int, int] = field(repr=False)
    room: int
    ranking_query: str = field(repr=False)
    progress: MutableMapping[str, Any] = field(repr=False)


@runtime_checkable
class HistoryStrategy(Protocol):
    """Chooses which messages of the earlier turns stay.

    1. It returns the indices of the messages that stay, in any order. It may be a coroutine function, which is awaited
       on the caller's event loop when `afit` or an adapter's async method waits for the result.
    2. It is called only when the conversation is over its allocation.
    3. A call stays with all its results, or none of them does. What remains starts with a user message. Of what is more
       than `view.room`, the oldest goes. What had to be left out for this is said in the report's notes.
    """

    def __call__(self, view: HistoryView, /) -> Iterable[int] | Awaitable[Iterable[int]]:
        """Return the indices of the messages that stay."""
