"""A user's turn between the two moments at which an engine asks for its parts: history and documents, in any order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from weakref import ref

from llama_index.core.base.llms.types import ChatMessage

from llamaindex_ctxopt.message_copies import copied


class HandedOutHistory(list[ChatMessage]):
    """The history of a turn, as it was given to an engine that has not retrieved its documents yet.

    An engine that condenses the history first holds this list until it builds the prompt. So once the documents are
    known, what is in it can still be made to fit beside them, or more be put into it. It is ours; what the memory
    stores is not touched.
    """

    def become(self, messages: Iterable[ChatMessage]) -> None:
        """Hold copies of these messages from now on."""
        self[:] = map(copied, messages)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpenTurn:
    """What was decided of a turn.

    Args:
        owner: Stands for the planner whose turn it is.
        query: What the user asks.
        messages: The conversation before that, as it was read.
        kept: What is kept of it.
        handed_out: The list that the engine holds, where the history was decided first.
    """

    owner: object
    query: str
    messages: Sequence[ChatMessage]
    kept: Sequence[ChatMessage]
    handed_out: ref[HandedOutHistory] | None = None

    def goes_on(self, query: str, messages: Sequence[ChatMessage]) -> bool:
        """Tell whether a history that is asked for is the one that was decided with the documents."""
        if self.handed_out is not None or query != self.query or len(messages) != len(self.messages):
            return False
        return not messages or messages[-1] == self.messages[-1]


_open_turn: ContextVar[OpenTurn | None] = ContextVar("ctxopt_open_turn", default=None)


def open_turn_of(owner: object) -> OpenTurn | None:
    """Return the turn that is open in this thread or task, if it is this planner's."""
    turn = _open_turn.get()
    return turn if turn is not None and turn.owner is owner else None


def set_open_turn(turn: OpenTurn | None) -> None:
    """Open a turn in this thread or task, or close the one that is open."""
    _open_turn.set(turn)
