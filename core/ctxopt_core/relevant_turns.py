"""Which earlier turns are kept for what is asked now: the newest ones, then those that say most about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from ctxopt_core.conversation import Conversation
from ctxopt_core.message_worth import worth_of_messages
from ctxopt_core.relevance import Scorer
from ctxopt_core.turn_draft import TurnDraft
from ctxopt_core.turns import Turn

WorthOf = Callable[[Sequence[Turn]], Sequence[float]]


def add_relevant_turns(draft: TurnDraft, stop: int, worth_of: WorthOf) -> None:
    """Keep the newest turns up to their share, then those that are worth most; all of them whole.

    Args:
        draft: The trimming in the making.
        stop: Index of the query; the turns before it are looked at.
        worth_of: Tells what turns, given newest first, are worth to what is asked.
    """
    turns = list(draft.counted_turns(stop))
    if turns and not draft.opens_properly(turns[-1]):
        turns.pop()
    if not turns or sum(turn.tokens for turn in turns) <= draft.left:
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
    # The note of an earlier fit goes, so that its turn gives the first message and a new note.
    turns = [turn for turn in turns if turn.plain or not draft.units_of(turn).superseded or turn is turns[0]]
    taken = chosen_turns(turns, worth_of(turns), room, room * draft.policy.recent_share / 100)
    draft.keep_whole([turns[n] for n in taken])
    if first is not None and first not in draft.kept:
        draft.add_first(first)


def chosen_turns(turns: Sequence[Turn], worth: Sequence[float], room: int, recent_room: float) -> list[int]:
    """Return the positions of the turns that are kept, in ascending order; the newest one whenever it fits.

    Args:
        turns: The turns, newest first, at least one.
        worth: What each is worth.
        room: Tokens that they may take together.
        recent_room: Tokens of these that the newest turns may take before any other is looked at.
    """
    taken: set[int] = set()
    for n, turn in enumerate(turns):
        if turn.tokens > (min(room, recent_room) if n else room):
            break
        taken.add(n)
        room -= turn.tokens
        recent_room -= turn.tokens
    for n in sorted(range(len(turns)), key=lambda n: (-worth[n], n)):
        if n not in taken and turns[n].tokens <= room:
            taken.add(n)
            room -= turns[n].tokens
    return sorted(taken)


def worth_to(task: str, conversation: Conversation, scorer: Scorer | None) -> WorthOf:
    """Return a function that tells what turns are worth to a task: as much as the best of their messages."""

    def worth_of(turns: Sequence[Turn]) -> list[float]:
        oldest_first = [*reversed(turns)]
        starts = [0]
        texts: list[str] = []
        for turn in oldest_first:
            texts.extend(_text(conversation, index) for index in range(turn.start, turn.stop))
            starts.append(len(texts))
        worth = worth_of_messages(task, texts, scorer)
        return [max(worth[start:stop]) for start, stop in pairwise(starts)][::-1]

    return worth_of


def _text(conversation: Conversation, index: int) -> str:
    message = conversation.message(index)
    if not message.name and isinstance(message.content, str) and not message.tool_calls:
        return message.content
    called = [text for call in message.tool_calls for text in (call.name, call.arguments)]
    return "\n".join((*([message.name] if message.name else ()), *message.texts, *called))
