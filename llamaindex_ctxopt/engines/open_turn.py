"""A user's turn between the two moments at which an engine asks for its parts: history and documents, in any order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from weakref import ref

from llama_index.core.base.llms.types import ChatMessage

from llamaindex_ctxopt.messages.message_views import copied


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
        owner: The planner whose turn it is.
        query: What the user asks.
        messages: The conversation before that, as it was read.
        kept: What is kept of it.
        handed_out: The list that the engine holds, where the history was decided first.
    """

    owner: ref[object]
    query: str
    messages: Sequence[ChatMessage]
    kept: Sequence[ChatMessage]
    handed_out: ref[HandedOutHistory] | None = None

    def goes_on(self, query: str, messages: Sequence[ChatMessage]) -> bool:
        """Tell whether a history that is asked for is the one that was decided with the documents.

        Messages that were stored meanwhile belong to other turns of an engine that is asked several things at once.
        """
        known = len(self.messages)
        if self.handed_out is not None or query != self.query or len(messages) < known:
            return False
        return known == 0 or messages[known - 1] == self.messages[-1]


_AT_ONCE = 16  # engines inside one another; what was left open before them is forgotten

_open_turns: ContextVar[tuple[OpenTurn, ...]] = ContextVar("ctxopt_open_turns", default=())


def open_turn_of(owner: object) -> OpenTurn | None:
    """Return the turn of a planner that is open in this thread or task."""
    return next((turn for turn in _open_turns.get() if turn.owner() is owner), None)


def set_open_turn(owner: object, turn: OpenTurn | None) -> None:
    """Open a turn of a planner in this thread or task, in place of the one that is open; None only closes that."""
    others = [open_turn for open_turn in _open_turns.get() if open_turn.owner() not in (None, owner)]
    _open_turns.set(tuple(others if turn is None else [*others[1 - _AT_ONCE :], turn]))
