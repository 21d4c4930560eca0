"""Copies of messages that may be changed without changing what a memory stores."""

from __future__ import annotations

from llama_index.core.base.llms.types import ChatMessage, TextBlock


def copied(message: ChatMessage) -> ChatMessage:
    """Return a copy of a message with texts and arguments of its own.

    Agents write their state into the text block of the last message that a memory returns.
    """
    blocks = [block.model_copy() if isinstance(block, TextBlock) else block for block in message.blocks]
    return message.model_copy(update={"blocks": blocks, "additional_kwargs": dict(message.additional_kwargs)})
