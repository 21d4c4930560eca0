"""The parts of a message's content: of which kind each is, and which must stay verbatim."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ctxopt_core.formats.media import facts_of
from ctxopt_core.messages.message import Attachment, AttachmentKind

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
THOUGHT_KINDS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_SEARCH_RESULT = "search_result"
_READ_TEXT = {"thinking": "thinking", "refusal": "refusal"}
_UNREAD_KEYS = frozenset({"cache_control", "index", "extras"})
_SEALED_KEYS = frozenset({"signature", "encrypted_content", "encrypted_index", "data", "base64"})
_LONGEST_MEDIA_TYPE = 200  # characters of a data URI in which `;base64,` is looked for; no media type is longer


def kind_of(part: object) -> str:
    """Return the type of a part; one that names none is recognized by its keys.

    Raises:
        TypeError: It is neither a string nor a mapping.
    """
    if isinstance(part, str):
        return "text"
    if isinstance(part, Mapping):
        return str(part.get("type") or next((key for key in _UNTYPED if key in part), ""))
    message = f"a part of a message's `content` must be a string or a mapping, got {type(part).__name__}"
    raise TypeError(message)


def is_attachment(part: Any, kind: str) -> bool:
    """Return whether a part is an attachment that may be left out."""
    if kind in ATTACHMENT_KINDS:
        return not texts_inside(part)
    if kind in THOUGHT_KINDS or kind.startswith("server_tool") or kind.endswith(RESULT_KIND):
        return False
    return kind not in TEXT_KINDS and kind not in CALL_KINDS and holds_media(part, kind)


def holds_media(part: Any, kind: str) -> bool:
    """Return whether a part of an unknown kind names something that is not text."""
    return kind != _SEARCH_RESULT and not MEDIA_KEYS.isdisjoint(part)


def text_of(part: Any) -> str:
    """Return the text of a part that is text."""
    text = part if isinstance(part, str) else part.get("text")
    return text if isinstance(text, str) else ""


def texts_inside(part: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts of a file that is sent as text; none where its bytes are sent."""
    source = part.get("source")
    kind = source.get("type") if isinstance(source, Mapping) else None
    if isinstance(source, Mapping) and kind == "content":
        content = source.get("content")
        if isinstance(content, str):
            return (content,) if content else ()
        pieces = content if isinstance(content, Sequence) else ()
        return tuple(text_of(piece) for piece in pieces if kind_of(piece) in TEXT_KINDS)
    text = source.get("data") if isinstance(source, Mapping) and kind == "text" else part.get("text")
    return (text,) if isinstance(text, str) else ()


def is_readable(content: object) -> bool:
    """Return whether the content of a result is a string or a list of parts."""
    if content is None or isinstance(content, str):
        return True
    return isinstance(content, Sequence) and all(isinstance(part, (str, Mapping)) for part in content)


def verbatim_texts(part: Mapping[str, Any], kind: str, attachments: list[Attachment]) -> list[str]:
    """Return the texts of a part that may not be cut; media inside it are added to `attachments`."""
    if kind in _READ_TEXT:
        text = part.get(_READ_TEXT[kind])
        return [text] if isinstance(text, str) and text else []
    if kind == "reasoning":
        found = part.get("reasoning") or part.get("text")
        summary = part.get("summary")
        pieces = [found] if isinstance(found, str) else []
        if isinstance(summary, Sequence) and not isinstance(summary, str):
            pieces += [text_of(piece) for piece in summary if isinstance(piece, (str, Mapping))]
        return [piece for piece in pieces if piece]
    if kind == "redacted_thinking":
        return []
    left_out = MEDIA_KEYS | _SEALED_KEYS
    sent = {
        key: _sent(value, attachments)
        for key, value in part.items()
        if key not in _UNREAD_KEYS and not (key in left_out and isinstance(value, str))
    }
    return [json.dumps(sent, separators=(",", ":"), ensure_ascii=False, default=str)]


def _sent(value: object, attachments: list[Attachment]) -> object:
    """Return what of a nested value is sent as text; media inside it are added to `attachments`."""
    if isinstance(value, (list, tuple)):
        return [_sent(item, attachments) for item in value]
    is_data_uri = isinstance(value, str) and value.startswith("data:") and ";base64," in value[:_LONGEST_MEDIA_TYPE]
    if is_data_uri or isinstance(value, (bytes, bytearray, memoryview)):
        attachments.append(Attachment(kind="other", fixed=True, facts=facts_of({"data": value})))
        return ""
    if not isinstance(value, Mapping):
        return value
    kind = value.get("type")
    if isinstance(kind, str) and kind in ATTACHMENT_KINDS:
        inside = texts_inside(value)
        if not inside:
            attachments.append(Attachment(kind=ATTACHMENT_KINDS[kind], fixed=True, facts=facts_of(value)))
        return {"type": kind, "text": inside}
    if any(isinstance(value.get(key), str) for key in ("data", "base64")):
        attachments.append(Attachment(kind="other", fixed=True, facts=facts_of(value)))
    return {
        key: _sent(inner, attachments)
        for key, inner in value.items()
        if not (isinstance(inner, str) and key in _SEALED_KEYS)
    }
