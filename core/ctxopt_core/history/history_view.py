"""The seam for a custom history strategy: what it sees of a conversation, and what it returns."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, MutableMapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from ctxopt_core.messages.message import Message

run_progress: ContextVar[MutableMapping[str, Any] | None] = ContextVar("ctxopt_run_progress", default=None)
"""Where custom strategies keep their progress in the current run; an adapter whose runs have a state sets it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryView:
    """What a custom strategy sees of a conversation.

    Args:
        messages: The whole conversation, oldest first. It must not be changed.
        turns: The earlier turns, oldest first, each as a range of indices into `messages`. The query, and what follows
            it, is always kept and is not among them.
        tokens: The tokens of each message of these turns, by index; system messages are not among them.
        room: The most tokens that the chosen messages may have together.
        ranking_query: What is asked now.
        progress: Where the strategy can store values for its next call in the same run. In an agent they are kept in
            the run's state; elsewhere the mapping is new at each call.

    Example:
        >>> from ctxopt_core import HistoryView, Message
        >>> messages = [Message(role="user", content="Hello."), Message(role="user", content="And now?")]
        >>> view = HistoryView(
        ...     messages=messages, turns=[range(0, 1)], tokens={0: 7}, room=50, ranking_query="And now?", progress={}
        ... )
        >>> [sum(view.tokens[i] for i in turn) <= view.room for turn in view.turns]
        [True]
    """

    messages: Sequence[Message] = field(repr=False)
    turns: Sequence[range]
    tokens: dict[int, int] = field(repr=False)
    room: int
    ranking_query: str = field(repr=False)
    progress: MutableMapping[str, Any] = field(repr=False)


@runtime_checkable
class HistoryStrategy(Protocol):
    """Chooses which messages of the earlier turns are kept. Any function of a `HistoryView` is one.

    1. It returns the indices of the messages to keep, in any order. It may be a coroutine function, which is awaited on
       the caller's event loop by `afit` and by the async methods of an adapter.
    2. It is called only when the conversation is over its allocation.
    3. A call is kept with all its results or dropped with them. What is kept starts with a user message. If it is over
       `view.room`, the oldest of it goes. The report's notes say what was left out for these reasons.

    Example:
        >>> from ctxopt_core import CallableCounter, HistoryPolicy, HistoryView, Message, trim_history
        >>> def long_questions(view: HistoryView) -> list[int]:
        ...     return [i for turn in view.turns for i in turn if view.tokens[i] > 15]
        >>> messages = [Message(role="user", content="Long! " * n) for n in (1, 2, 3, 1)]
        >>> policy = HistoryPolicy(strategy=long_questions)
        >>> trim_history(messages, 60, CallableCounter(len), policy=policy).kept
        (1, 2)
    """

    def __call__(self, view: HistoryView, /) -> Iterable[int] | Awaitable[Iterable[int]]:
        """Return the indices of the messages to keep."""
