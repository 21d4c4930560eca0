"""Short excerpts of the questions and answers that were dropped, as lines of the placeholder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ctxopt_core.conversation import Conversation
from ctxopt_core.tokens import TokenCounter
from ctxopt_core.truncation import truncate

QUESTION_TOKENS = 16
ANSWER_TOKENS = 24
_MOST_TURNS = 32
_MOST_CHARACTERS = 400
_GAP = "…"


def turn_excerpts(
    conversation: Conversation,
    counter: TokenCounter,
    dropped: Iterable[int],
    fits: Callable[[Sequence[str]], bool],
) -> tuple[str, ...]:
    """Return the beginnings of dropped questions and of their last answers, as many of the newest as fit, oldest first.

    Args:
        conversation: The whole conversation.
        counter: Counts the texts.
        dropped: The dropped messages, newest first.
        fits: Tells whether there is room for some lines.
    """
    lines: list[str] = []
    for line in _lines(conversation, counter, dropped):
        if len(lines) == _MOST_TURNS or not fits([line, *reversed(lines)]):
            break
        lines.append(line)
    return tuple(reversed(lines))


def _lines(conversation: Conversation, counter: TokenCounter, dropped: Iterable[int]) -> Iterator[str]:
    answer = ""
    for index in dropped:
        said = conversation.glance(index)
        if conversation.opens_turn(index):
            question = _beginning(said.text, QUESTION_TOKENS, counter)
            yield f"user: {question}" + (f" assistant: {answer}" if answer else "")
            answer = ""
        elif said.role == "assistant" and said.plain and not answer:
            answer = _beginning(said.text, ANSWER_TOKENS, counter)


def _beginning(text: str, tokens: int, counter: TokenCounter) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[:_MOST_CHARACTERS].split())
    if len(text) <= _MOST_CHARACTERS and not counter.exceeds(line, tokens):
        return line
    return truncate(line, tokens, counter).rstrip() + _GAP
