"""The strategies `turns` and `sliding_window`, which keep the newest turns."""

from __future__ import annotations

import math

from ctxopt_core.conversation.turns import Turn
from ctxopt_core.history.draft import HistoryDraft, indices_of
from ctxopt_core.history.strategies.strategy import Strategy


class NewestTurns(Strategy):
    """`turns`: whole turns from the newest one back, then what still fits of the next one."""

    may_be_stable = True
    prunes_results = True

    def apply(self, draft: HistoryDraft) -> None:
        """Keep the newest turns."""
        draft.add_current_exchange()
        add_newest_turns(draft)


class SlidingWindow(Strategy):
    """`sliding_window`: the newest whole turns, bounded by tokens and by a number of messages.

    Everything that is sent has a place in the window: system messages, the query and the current exchange, too. The
    first message is not kept, and there is no placeholder.
    """

    takes_max_messages = True

    def apply(self, draft: HistoryDraft) -> None:
        """Keep the turns in the window."""
        draft.add_current_exchange()
        draft.strategy = "sliding_window"
        policy, left = draft.policy, draft.left
        taken = len(draft.conversation.systems) + len(draft.kept) + (draft.query is not None)
        places = math.inf if policy.max_messages is None else policy.max_messages - taken
        whole: list[Turn] = []
        for turn in draft.counted_turns():
            places -= _number_of_messages(draft, turn)
            if places < 0 or turn.tokens > left or not draft.opens_properly(turn):
                break
            whole.append(turn)
            left -= turn.tokens
        draft.keep_whole(whole)
        if not whole and places >= 0:
            # What was said last is shortened before it is lost.
            newest = next(iter(draft.counted_turns()), None)
            if newest is not None and draft.opens_properly(newest):
                draft.add_part(newest)


def _number_of_messages(draft: HistoryDraft, turn: Turn) -> int:
    if not turn.plain:
        return len(indices_of(draft.units_of(turn).kept))
    # All of a plain turn stays, so that it need not be split into units, which would take twice the time of a fit.
    return sum(not draft.conversation.is_system(index) for index in range(turn.start, turn.stop))


def add_newest_turns(draft: HistoryDraft) -> None:
    """Keep whole turns from the newest one back, then what still fits of the next one."""
    turns, complete = draft.scan()
    if turns and not draft.opens_properly(turns[-1]):
        turns.pop()
    first = None if complete else draft.first_message()
    left = draft.left if complete else draft.left - draft.reserve(first)
    whole = 0
    while whole < len(turns) and turns[whole].tokens <= left:
        left -= turns[whole].tokens
        whole += 1
    draft.keep_whole(turns[:whole])
    if whole == len(turns):
        return
    boundary = turns[whole]
    if first is not None and first < boundary.start:
        draft.add_first(first)
    draft.add_part(boundary)
