"""The text of the placeholder, the one message that says how much of the conversation was left out."""

from __future__ import annotations

import re
from collections.abc import Sequence

PLACEHOLDER_ROLE = "assistant"
_PATTERN = re.compile(
    r"\[[\d,]+ earlier messages? omitted(?:; named there: [!-\\^-~ ]+|\. Among them:(?:\n- [^\n]+)+)?\]"
)


def placeholder_text(messages: int, named: Sequence[str] = (), *, excerpts: Sequence[str] = ()) -> str:
    """Return the text that says how many messages were left out, with identifiers or else one-line excerpts of them."""
    more = f"; named there: {', '.join(named)}" if named else ""
    if excerpts:
        more = ". Among them:" + "".join(f"\n- {excerpt}" for excerpt in excerpts)
    return f"[{messages:,} earlier message{'s' if messages != 1 else ''} omitted{more}]"


def is_placeholder(text: str) -> bool:
    """Return whether a string is the placeholder of an earlier fit."""
    return text[:1] == "[" and _PATTERN.fullmatch(text) is not None


def is_placeholder_message(role: str, texts: tuple[str, ...]) -> bool:
    """Return whether a message of this role and these texts is the placeholder of an earlier fit."""
    return role == PLACEHOLDER_ROLE and len(texts) == 1 and is_placeholder(texts[0])
