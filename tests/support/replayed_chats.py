"""Plain chats for tests of replay, a word being a token."""

from __future__ import annotations

from ctxopt_core import HistoryPolicy, Message, counter_for

WORDS = counter_for(lambda text: len(text.split()))
IN_STEPS = HistoryPolicy(strategy="turns", stable_prefix=True)


def chat(turns: int = 12, words: int = 8) -> list[Message]:
    said = " word" * (words - 2)
    return [
        message
        for n in range(turns)
        for message in (
            Message(role="user", content=f"Question {n}{said}"),
            Message(role="assistant", content=f"Answer {n}{said}"),
        )
    ]


def rows_of_chat(turns: int = 12) -> list[dict[str, str]]:
    return [{"role": message.role, "content": str(message.content)} for message in chat(turns)]
