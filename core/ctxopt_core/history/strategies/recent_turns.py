"""The strategies `turns` and `sliding_window`: the newest turns."""

from __future__ import annotations

import math
from itertools import islice

from ctxopt_core.conversation.turns import Turn
from ctxopt_core.history.draft import HistoryDraft


def add_newest_turns(draft: HistoryDraft, stop: int) -> None:
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


def add_window(draft: HistoryDraft, stop: int) -> None:
    """Keep the newest whole turns while both their messages and their tokens have room.

    Everything that is sent takes a place in the window: system messages, the query and the current exchange, too. There
    is no kept first message and no placeholder.

    Args:
        draft: The trimming in the making.
        stop: Index of the query; the turns before it are looked at.
    """
    conversation, room = draft.conversation, draft.left
    taken = len(conversation.systems) + len(draft.kept) + (1 if stop < len(conversation) else 0)
    places = math.inf if draft.policy.max_messages is None else draft.policy.max_messages - taken
    whole: list[Turn] = []
    draft.strategy = "sliding_window"
    for turn in draft.counted_turns(stop):
        places -= _messages(draft, turn)
        if places < 0 or turn.tokens > room or not draft.opens_properly(turn):
            break
        whole.append(turn)
        room -= turn.tokens
    draft.keep_whole(whole)
    if not whole and places >= 0:
        # What was said last is shortened before it is lost.
        for turn in islice(draft.counted_turns(stop), 1):
            if draft.opens_properly(turn):
                draft.add_part(turn)


def _messages(draft: HistoryDraft, turn: Turn) -> int:
    if not turn.plain:
        return sum(len(unit.indices) for unit in draft.units_of(turn).kept)
    return sum(not draft.conversation.is_system(index) for index in range(turn.start, turn.stop))
