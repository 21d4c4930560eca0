"""The strategy `turns`: the newest whole turns, then what still fits of the one before them."""

from __future__ import annotations

from ctxopt_core.turn_draft import TurnDraft


def add_newest_turns(draft: TurnDraft, stop: int) -> None:
    """Keep whole turns from the newest on, then what still fits of the next one.

    Args:
        draft: The trimming in the making.
        stop: Index of the query; the turns before it are looked at.
    """
    turns, complete = draft.scan(stop)
    if turns and not draft.opens_properly(turns[-1]):
        turns.pop()
    first = None if complete else draft.first_message(stop)
    room = draft.left if complete else draft.left - draft.reserve(first)
    whole = 0
    while whole < len(turns) and turns[whole].tokens <= room:
        room -= turns[whole].tokens
        whole += 1
    draft.keep_whole(turns[:whole])
    if whole == len(turns):
        return
    boundary = turns[whole]
    if first is not None and first < boundary.start:
        draft.add_first(first)
    draft.add_part(boundary)
