"""What is kept of the first user message, which usually states the task."""

from __future__ import annotations

from ctxopt_core.conversation import Conversation
from ctxopt_core.excerpts import Shortened, shorten_message
from ctxopt_core.tokens import TokenCounter

_SMALLEST = 24


def within_cap(conversation: Conversation, index: int, cap: int, counter: TokenCounter) -> Shortened | None:
    """Return the first message in at most `cap` tokens, whole where it fits; None where too little would be left."""
    message, cost = conversation.message(index), conversation.cost(index)
    if cost <= cap:
        return Shortened(texts=message.texts, tokens=cost)
    return shorten_message(message, cost, cap, counter) if cap >= _SMALLEST else None
