"""The text of the placeholder, the one message that says how much of the conversation was left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

PLACEHOLDER_ROLE: Final = "assistant"
_PATTERN = re.compile(
    r"\[[\d,]+ earlier messages? omitted(?:; named there: [!-\\^-~ ]+|\. Among them:(?:\n- [^\n]+)+)?\]"
)
_RECALLED = re.compile(r"\[Recalled from [\d,]+ earlier messages?:(?:\n- [^\n]+)+\]")
_SUMMARY = re.compile(r"\[[\d,]+ earlier messages? omitted\. What was said there, in short: .*\]", re.DOTALL)


def placeholder_text(messages: int, named: Sequence[str] = (), *, excerpts: Sequence[str] = ()) -> str:
    """Return the text that says how many messages were left out, with identifiers or else one-line excerpts of them."""
    more = f"; named there: {', '.join(named)}" if named else ""
    if excerpts:
        more = ". Among them:" + "".join(f"\n- {excerpt}" for excerpt in excerpts)
    return f"[{messages:,} earlier message{'s' if messages != 1 else ''} omitted{more}]"


def summary_text(messages: int, summary: str) -> str:
    """Return the text of a placeholder with a summary."""
    return f"{placeholder_text(messages)[:-1]}. What was said there, in short: {summary}]"


def recalled_text(messages: int, lines: Sequence[str]) -> str:
    """Return the text of the message that recalls what was left out, in one-line excerpts of so many messages."""
    listed = "".join(f"\n- {line}" for line in lines)
    return f"[Recalled from {messages:,} earlier message{'s' if messages != 1 else ''}:{listed}]"


def is_recalled(text: str) -> bool:
    """Return whether a string is what an earlier fit recalled."""
    return text[:1] == "[" and _RECALLED.fullmatch(text) is not None


def is_placeholder(text: str) -> bool:
    """Return whether a string is the placeholder of an earlier fit."""
    return text[:1] == "[" and any(found.fullmatch(text) for found in (_PATTERN, _SUMMARY, _RECALLED))


def is_placeholder_message(role: str, texts: tuple[str, ...]) -> bool:
    """Return whether a message of this role and these texts is the placeholder of an earlier fit.

    A summary in an assistant's message is taken for what the assistant said. In a user's message it would be the
    question; a conversation believes this only of a message that follows another one of the user, and of what is
    recalled only if another one follows.
    """
    if len(texts) != 1 or texts[0][:1] != "[":
        return False
    if role == PLACEHOLDER_ROLE:
        return _PATTERN.fullmatch(texts[0]) is not None
    return role == "user" and (_SUMMARY.fullmatch(texts[0]) or _RECALLED.fullmatch(texts[0])) is not None
