"""The strategy `relevance`: the newest turns, then those that say most about what is asked now."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import Turn, turn_ranges
from ctxopt_core.history.draft import HistoryDraft
from ctxopt_core.history.message_scores import worth_of_messages
from ctxopt_core.relevance.scorer import Scorer

LOOK_BACK_CHARACTERS = 160_000
LOOK_BACK_PER_TOKEN = 8
# A token is hardly ever longer; a turn with more characters for each token that is left is not counted in vain.
_LONGEST_TOKEN = 10


def look_back(room: int) -> int:
    """Return how many characters before the query are looked at by default, where the earlier turns have `room` tokens.

    160,000, about 40,000 tokens of English, or about twice the room if that is more: the cost of a fit follows the
    window and not the conversation.
    """
    return max(LOOK_BACK_CHARACTERS, LOOK_BACK_PER_TOKEN * room)


def add_relevant_turns(
    draft: HistoryDraft, stop: int, ranking_query: str, *, most_characters: int | None = None
) -> None:
    """Keep the newest turns up to their share, then those that are worth most; all of them whole.

    Args:
        draft: The trimming in the making.
        stop: Index of the query; the turns before it are looked at.
        ranking_query: What is asked now.
        most_characters: How many characters before the query are looked at; None for all.
    """
    turns, complete = draft.scan(stop)
    if not complete:
        turns += _older_turns(draft.conversation, turns, most_characters)
    if turns and not draft.opens_properly(turns[-1]):
        turns.pop()
    if complete or not turns:
        draft.keep_whole(turns)
        return
    draft.scattered = True
    first = draft.first_message(stop)
    if first is not None and first >= turns[0].start:
        first = None
    room = draft.left - draft.reserve(first)
    if turns[0].tokens > room:
        # Nothing is worth more than what was said last.
        if first is not None:
            draft.add_first(first)
        draft.add_part(turns[0])
        return
    turns = _choosable(draft, turns, first)
    worth = worth_of_turns(ranking_query, draft.conversation, turns, draft.policy.scorer)
    taken = _chosen(draft, turns, worth, room)
    draft.keep_whole(taken)
    whole = {turn.start: turn for turn in taken}
    _keep_first(draft, first, whole)
    left_out = next((turn for turn in turns if turn.start not in whole), None)
    if left_out is not None and left_out.start != first:
        draft.add_part(left_out)


def _choosable(draft: HistoryDraft, turns: Sequence[Turn], first: int | None) -> list[Turn]:
    """Return the turns that may be kept whole.

    The note of an earlier fit goes, so that its turn gives the first message and a new note. A summary needs its place
    behind the first message.
    """
    summarizes = bool(draft.placeholder.summary_room)
    return [
        turn
        for turn in turns
        if turn is turns[0] or not (draft.holds_placeholder(turn) or (summarizes and turn.start == first))
    ]


def _keep_first(draft: HistoryDraft, first: int | None, whole: Mapping[int, Turn]) -> None:
    if first is None:
        return
    if first not in whole:
        draft.add_first(first)
    elif whole[first].stop == first + 1:
        # Behind a whole turn with an answer no placeholder stands, since roles would not alternate.
        draft.add_placeholder(first)


def worth_of_turns(
    ranking_query: str, conversation: CountedConversation, turns: Sequence[Turn], scorer: Scorer | None
) -> Sequence[float]:
    """Return what turns, given newest first, are worth to a ranking_query: as much as the best of their messages."""
    starts = [0]
    texts: list[str] = []
    for turn in reversed(turns):
        texts.extend(conversation.glance(index).text for index in range(turn.start, turn.stop))
        starts.append(len(texts))
    worth = worth_of_messages(ranking_query, texts, scorer)
    return [max(worth[start:stop]) for start, stop in pairwise(starts)][::-1]


def _older_turns(conversation: CountedConversation, scanned: Sequence[Turn], most_characters: int | None) -> list[Turn]:
    """Return the turns before those that were scanned, as far as one looks back; they are not counted."""
    left = math.inf if most_characters is None else most_characters
    left -= sum(_characters(conversation, turn) for turn in scanned)
    older: list[Turn] = []
    for turn in turn_ranges(conversation, scanned[-1].start):
        left -= _characters(conversation, turn)
        if left < 0:
            break
        older.append(turn)
    return older


def _chosen(draft: HistoryDraft, turns: Sequence[Turn], worth: Sequence[float], room: int) -> list[Turn]:
    """Return the turns that are kept, newest first; the newest one always."""
    recent_room = room * draft.policy.recent_percent / 100
    taken: dict[int, Turn] = {}
    for n, turn in enumerate(turns):
        counted = draft.counted(turn)
        if counted.tokens > (min(room, recent_room) if n else room):
            break
        taken[n] = counted
        room -= counted.tokens
        recent_room -= counted.tokens
    for n in sorted(range(len(turns)), key=lambda n: (-worth[n], n)):
        if n in taken or _characters(draft.conversation, turns[n]) > _LONGEST_TOKEN * room:
            continue
        counted = draft.counted(turns[n])
        if counted.tokens <= room:
            taken[n] = counted
            room -= counted.tokens
    return [taken[n] for n in sorted(taken)]


def _characters(conversation: CountedConversation, turn: Turn) -> int:
    return sum(len(conversation.glance(index).text) for index in range(turn.start, turn.stop))
