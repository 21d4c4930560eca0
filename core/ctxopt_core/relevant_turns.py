"""Which earlier turns are kept for what is asked now: the newest ones, then those that say most about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from ctxopt_core.conversation import Conversation
from ctxopt_core.message_worth import worth_of_messages
from ctxopt_core.relevance import Scorer
from ctxopt_core.turns import Turn

WorthOf = Callable[[Sequence[Turn]], Sequence[float]]


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
    called = [text for call in message.tool_calls for text in (call.name, call.arguments)]
    return "\n".join((*([message.name] if message.name else ()), *message.texts, *called))
