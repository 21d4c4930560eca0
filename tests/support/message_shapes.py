"""Every message shape that the tests run, each kind known from reports of trimming gone wrong."""

from __future__ import annotations

from shape_rows import MessageShape
from shapes_of_chats import CHAT_SHAPES, OVERFLOW_SHAPES
from shapes_of_media import MEDIA_SHAPES
from shapes_of_text import TEXT_SHAPES
from shapes_of_tool_pairs import TOOL_PAIR_SHAPES
from shapes_of_tool_payloads import TOOL_PAYLOAD_SHAPES

__all__ = ["MESSAGE_SHAPES", "MessageShape"]

MESSAGE_SHAPES: tuple[MessageShape, ...] = (
    *CHAT_SHAPES,
    *OVERFLOW_SHAPES,
    *TOOL_PAIR_SHAPES,
    *TOOL_PAYLOAD_SHAPES,
    *TEXT_SHAPES,
    *MEDIA_SHAPES,
)
