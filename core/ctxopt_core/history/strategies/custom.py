"""The seam for a custom history strategy: the view that it gets, and the check of what it returns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from ctxopt_core.conversation.turns import Turn, Unit
from ctxopt_core.history.draft import HistoryDraft, indices_of
from ctxopt_core.history.strategies.strategy import Strategy
from ctxopt_core.messages.message import Message
from ctxopt_core.runtime.call_or_await import call_or_await, is_coroutine_function

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
        ...


@dataclass(frozen=True, slots=True)
class CustomStrategy(Strategy):
    """A `HistoryStrategy` of the user, whose choice is kept as far as the rules of `HistoryStrategy` allow."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        """The name that the report shows."""
        return str(getattr(self.function, "__qualname__", None) or type(self.function).__qualname__)

    def apply(self, draft: HistoryDraft) -> None:
        """Keep what the function chooses.

        Raises:
            TypeError: It returns something else than whole numbers.
            ValueError: It returns an index that is not before the query.
        """
        draft.add_current_exchange()
        turns = [*draft.counted_turns()][::-1]
        if turns and not draft.opens_properly(turns[0]):
            del turns[0]
        draft.strategy = self.name
        if sum(turn.tokens for turn in turns) <= draft.left:
            draft.keep_whole(turns[::-1])
            return
        chosen = self._chosen(_view_of(draft, turns))
        if unknown := sorted(chosen.difference(range(draft.end))):
            message = (
                f"`strategy` {self.name} must return indices of messages before the query, from 0 to {draft.end - 1}, "
                f"got {unknown[0]}"
            )
            raise ValueError(message)
        units = [(turn, unit) for turn in turns for unit in draft.units_of(turn).kept]
        _keep_newest(draft, [(turn, unit) for turn, unit in units if chosen.issuperset(unit.indices)])
        left_out = len(chosen.intersection(indices_of(unit for _, unit in units)).difference(draft.kept))
        if left_out:
            draft.notes.append(
                f"{left_out} message{'' if left_out == 1 else 's'} that the strategy chose had to be left out: over "
                "the room, of an exchange that was not chosen whole, or without a user message before them"
            )
        for turn in turns:
            draft.record_strays(draft.units_of(turn))

    def _chosen(self, view: HistoryView) -> set[int]:
        named, function = f"`strategy` {self.name}", self.function
        plain, awaited = (None, function) if is_coroutine_function(function) else (function, None)
        found = call_or_await(plain, awaited, view, named=named)
        try:
            chosen = list(found)
        except TypeError as error:
            message = f"{named} must return the indices of the messages that stay, got {type(found).__name__}"
            raise TypeError(message) from error
        if wrong := [index for index in chosen if not isinstance(index, int) or isinstance(index, bool)]:
            message = f"{named} must return whole numbers, got {type(wrong[0]).__name__}"
            raise TypeError(message)
        return set(chosen)


def _view_of(draft: HistoryDraft, turns: Sequence[Turn]) -> HistoryView:
    conversation, progress = draft.conversation, run_progress.get()
    ranges = tuple(range(turn.start, turn.stop) for turn in turns)
    return HistoryView(
        messages=tuple(map(conversation.message, range(len(conversation)))),
        turns=ranges,
        tokens={i: conversation.cost(i) for inside in ranges for i in inside if not conversation.is_system(i)},
        room=draft.left,
        ranking_query=draft.ranking_query,
        progress={} if progress is None else progress,
    )


def _keep_newest(draft: HistoryDraft, units: Sequence[tuple[Turn, Unit]]) -> None:
    """Keep units from the newest one back until one does not fit; those without a user message before them go."""
    kept: list[tuple[Turn, Unit]] = []
    for turn, unit in reversed(units):
        if unit.tokens > draft.left:
            break
        draft.left -= unit.tokens
        kept.append((turn, unit))
    # What remains starts with a user message, or as the conversation itself does.
    while kept and kept[-1][1].kind != "user" and kept[-1][1].indices[0] != 0:
        draft.left += kept.pop()[1].tokens
    draft.kept.extend(indices_of(unit for _, unit in kept))
    turns = dict.fromkeys(turn for turn, _ in kept)
    draft.turns += len(turns)
    present = frozenset(draft.kept)
    draft.whole_turns += sum(present.issuperset(indices_of(draft.units_of(turn).kept)) for turn in turns)
