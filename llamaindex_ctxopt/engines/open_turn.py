"""A user's turn between the two moments at which an engine asks for history and documents, in either order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from weakref import ref

from llama_index.core.base.llms.types import ChatMessage

from llamaindex_ctxopt.messages.message_views import copied


class HandedOutHistory(list[ChatMessage]):
    """The history of a turn, as it was given to an engine that has not retrieved its documents yet.

    An engine that condenses the history first holds this list until it builds the prompt. Once the documents are known,
    the list is still changed to the messages that fit beside them. What the memory stores is not changed.
    """

    def become(self, messages: Iterable[ChatMessage]) -> None:
        """Replace the content by copies of these messages."""
        self[:] = map(copied, messages)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpenTurn:
    """A turn of which history or documents were fitted already.

    Args:
        owner: The planner whose turn it is.
        query: The user's question.
        messages: The conversation before the question, as it was read.
        kept: The messages that were kept of it.
        handed_out: The list that the engine holds, where the history was decided first.
        asked_once_more: Whether the engine asks for the history only once more, which ends the turn.
        was_read: Whether the engine has asked for the history since the documents were fitted.
    """

    owner: ref[object]
    query: str
    messages: Sequence[ChatMessage]
    kept: Sequence[ChatMessage]
    handed_out: ref[HandedOutHistory] | None = None
    asked_once_more: bool = False
    was_read: bool = False

    def has_decided(self, query: str, messages: Sequence[ChatMessage]) -> bool:
        """Return whether the history for this query was fitted with the documents already.

        That is so where the conversation is the one that was read then, message by message. Messages that were stored
        since belong to other turns of an engine that is asked several things at once; after the history was read once,
        they are the answer of this one, which another thread may have stored.
        """
        if self.handed_out is not None and not self.was_read:
            return False
        if self.was_read and len(messages) > len(self.messages):
            return False
        if query != self.query or len(messages) < len(self.messages):
            return False
        return all(new is old or new == old for new, old in zip(messages, self.messages, strict=False))


# Turns open at once in one thread or task, as when engines call each other. With more, the oldest is forgotten and its
# second half is fitted alone. Without a limit, turns that engines leave open would be kept for ever.
_AT_ONCE = 16

_open_turns: ContextVar[tuple[OpenTurn, ...]] = ContextVar("ctxopt_open_turns", default=())


def open_turn_of(owner: object) -> OpenTurn | None:
    """Return the open turn of a planner in this thread or task."""
    return next((turn for turn in _open_turns.get() if turn.owner() is owner), None)


def set_open_turn(owner: object, turn: OpenTurn | None) -> None:
    """Replace the open turn of a planner in this thread or task; None only closes it."""
    others = [open_turn for open_turn in _open_turns.get() if open_turn.owner() not in (None, owner)]
    _open_turns.set(tuple(others if turn is None else [*others[1 - _AT_ONCE :], turn]))
