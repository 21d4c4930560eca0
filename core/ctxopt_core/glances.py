"""What can be seen of a message without counting it."""

from __future__ import annotations

from typing import NamedTuple

from ctxopt_core.messages import TOOL_ROLES, Message


class Glance(NamedTuple):
    """What can be seen of a message without counting it.

    `text` is all that it says, calls with their arguments included. `plain` tells that it stands for itself: it says
    something, and it neither calls nor answers.
    """

    role: str
    text: str
    plain: bool


def glance_at(message: Message) -> Glance:
    """Return what can be seen of a message."""
    calls = [text for call in message.tool_calls for text in (call.name, call.arguments)]
    text = "\n".join((*([message.name] if message.name else ()), *message.texts, *calls))
    special = message.tool_calls or message.tool_results or message.role in TOOL_ROLES or message.synthetic
    return Glance(message.role, text, not special and not message.empty)
