"""A strategy of one's own: a function over a view of the conversation, whose choice is checked like any other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ctxopt_core.conversation.turns import Turn, Unit
from ctxopt_core.history.draft import HistoryDraft
from ctxopt_core.history.history_view import HistoryView, run_progress
from ctxopt_core.runtime.call_or_await import call_or_await, is_coroutine_function


def add_chosen(draft: HistoryDraft, stop: int, ranking_query: str, strategy: Callable[..., Any]) -> None:
    """Keep what a strategy chooses of the earlier turns, as far as it may be kept.

    Args:
        draft: The trimming in the making.
        stop: Index of the query; the turns before it are looked at.
        ranking_query: What is asked now.
        strategy: The strategy.

    Raises:
        TypeError: It returns something else than whole numbers.
        ValueError: It returns an index that is in none of the turns.
    """
    turns = [*draft.counted_turns(stop)][::-1]
    if turns and not draft.opens_properly(turns[0]):
        del turns[0]
    draft.strategy = _name(strategy)
    if sum(turn.tokens for turn in turns) <= draft.left:
        draft.keep_whole(turns[::-1])
        return
    chosen = _asked(strategy, _view_of(draft, turns, ranking_query))
    units = [(turn, unit) for turn in turns for unit in draft.units_of(turn).kept]
    known = {index for _, unit in units for index in unit.indices}
    if unknown := sorted(chosen.difference(range(stop))):
        message = (
            f"`strategy` {draft.strategy} must return indices of messages before the query, from 0 to {stop - 1}, "
            f"got {unknown[0]}"
        )
        raise ValueError(message)
    whole = [(turn, unit) for turn, unit in units if chosen.issuperset(unit.indices)]
    _keep_newest(draft, whole)
    _say_what_was_left_out(draft, chosen & known)
    for turn in turns:
        draft.note(draft.units_of(turn))


def _view_of(draft: HistoryDraft, turns: Sequence[Turn], ranking_query: str) -> HistoryView:
    conversation = draft.conversation
    progress = run_progress.get()
    return HistoryView(
        messages=tuple(conversation.message(index) for index in range(len(conversation))),
        turns=tuple(range(turn.start, turn.stop) for turn in turns),
        tokens={
            index: conversation.cost(index)
            for turn in turns
            for index in range(turn.start, turn.stop)
            if not conversation.is_system(index)
        },
        room=draft.left,
        ranking_query=ranking_query,
        progress={} if progress is None else progress,
    )


def _asked(strategy: Callable[..., Any], view: HistoryView) -> set[int]:
    named = f"`strategy` {_name(strategy)}"
    plain, awaited = (None, strategy) if is_coroutine_function(strategy) else (strategy, None)
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


def _keep_newest(draft: HistoryDraft, units: Sequence[tuple[Turn, Unit]]) -> None:
    """Keep units while there is room, newest first; those without a user message before them go."""
    stays: list[tuple[Turn, Unit]] = []
    for turn, unit in reversed(units):
        if unit.tokens > draft.left:
            break
        draft.left -= unit.tokens
        stays.append((turn, unit))
    # What remains starts with a user message, or with that with which the conversation itself starts.
    while stays and stays[-1][1].kind != "user" and stays[-1][1].indices[0] != 0:
        draft.left += stays.pop()[1].tokens
    for _, unit in stays:
        draft.kept.extend(unit.indices)
    kept = frozenset(draft.kept)
    turns = dict.fromkeys(turn for turn, _ in stays)
    draft.turns += len(turns)
    draft.whole_turns += sum(all(kept.issuperset(unit.indices) for unit in draft.units_of(turn).kept) for turn in turns)


def _say_what_was_left_out(draft: HistoryDraft, chosen: set[int]) -> None:
    left_out = len(chosen.difference(draft.kept))
    if left_out:
        message = "message" if left_out == 1 else "messages"
        draft.notes.append(
            f"{left_out} {message} that the strategy chose had to be left out: over the room, of an exchange that was "
            "not chosen whole, or without a user message before them"
        )


def _name(strategy: object) -> str:
    return str(getattr(strategy, "__qualname__", None) or type(strategy).__qualname__)
