"""What kind of thing one part of a message's content is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxopt_core.messages import AttachmentKind

TEXT_KINDS = frozenset({"text", "input_text", "output_text"})
ATTACHMENT_KINDS: Mapping[str, AttachmentKind] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "image_generation_call": "image",
    "computer_screenshot": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "file": "file",
    "input_file": "file",
    "document": "file",
    "text-plain": "file",
    "media": "other",
}
CALL_KINDS = frozenset(
    {"tool_use", "tool_call", "tool_call_chunk", "function_call", "custom_tool_call", "invalid_tool_call"}
)
RESULT_KIND = "tool_result"
MEDIA_KEYS = frozenset({"data", "base64", "url", "file_id", "source"})
_UNTYPED = ("text", "image", "document", "video", "audio")
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_SEARCH_RESULT = "search_result"


def kind_of(part: object) -> str:
    """Return the type of a part; a part that names none is known by its keys.

    Raises:
        TypeError: It is neither a text nor a mapping.
    """
    if isinstance(part, str):
        return "text"
    if isinstance(part, Mapping):
        return str(part.get("type") or next((key for key in _UNTYPED if key in part), ""))
    message = f"a part of a message's `content` must be a text or a mapping, got {type(part).__name__}"
    raise TypeError(message)


def is_attachment(part: Any, kind: str) -> bool:
    """Tell whether a part is something that is not text and may be left out."""
    if kind in ATTACHMENT_KINDS:
        return not texts_inside(part)
    if kind in _THOUGHTS or kind.startswith("server_tool") or kind.endswith(RESULT_KIND):
        return False
    return kind not in TEXT_KINDS and kind not in CALL_KINDS and holds_media(part, kind)


def holds_media(part: Any, kind: str) -> bool:
    """Tell whether a part of a kind that is not known names something that is not text."""
    return kind != _SEARCH_RESULT and not MEDIA_KEYS.isdisjoint(part)


def text_of(part: Any) -> str:
    """Return the text of a text part."""
    text = part if isinstance(part, str) else part.get("text")
    return text if isinstance(text, str) else ""


def texts_inside(part: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts of a file that is sent as text; none where its bytes are sent."""
    source = part.get("source")
    if isinstance(source, Mapping) and source.get("type") == "content":
        return _texts_of(source.get("content"))
    text = source.get("data") if isinstance(source, Mapping) and source.get("type") == "text" else part.get("text")
    return (text,) if isinstance(text, str) else ()


def is_readable(content: object) -> bool:
    """Tell whether the content of a result is a text or a list of parts."""
    if content is None or isinstance(content, str):
        return True
    return isinstance(content, Sequence) and all(isinstance(part, (str, Mapping)) for part in content)


def _texts_of(content: object) -> tuple[str, ...]:
    if isinstance(content, str):
        return (content,) if content else ()
    if not isinstance(content, Sequence):
        return ()
    return tuple(text_of(part) for part in content if kind_of(part) in TEXT_KINDS)
