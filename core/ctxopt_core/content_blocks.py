"""Message contents as lists of parts: what of them is text to cut, text to keep, calls, and attachments.

The shapes are those that chat APIs and frameworks share: a plain text, or a list of texts and of mappings with a
`type`. Bytes in base64 and addresses are never counted as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxopt_core.excerpts import ATTACHMENT_OMITTED, Shortened
from ctxopt_core.request import Attachment, AttachmentKind, ToolCall

_TEXT = frozenset({"text", "input_text", "output_text"})
_ATTACHMENTS: Mapping[str, AttachmentKind] = {
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
_UNTYPED = ("text", "image", "document", "video", "audio")
_CALLS = frozenset(
    {"tool_use", "tool_call", "tool_call_chunk", "function_call", "custom_tool_call", "invalid_tool_call"}
)
_READ_TEXT = {"thinking": "thinking", "refusal": "refusal"}
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_BESIDE_CONTENT = ("refusal", "reasoning_content", "reasoning")
_UNREAD_KEYS = frozenset({"cache_control", "index", "extras"})
_SEALED_KEYS = frozenset({"signature", "encrypted_content", "encrypted_index", "data", "base64"})
_MEDIA_KEYS = frozenset({"data", "base64", "url", "file_id", "source"})
_LONGEST_MEDIA_TYPE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A content, taken apart.

    Args:
        texts: The text parts, in order.
        verbatim: What else is sent as text and may not be cut: reasoning, citations, server tool calls and results.
        attachments: Images, audio, video and files.
        calls: Tool calls that stand in the content.
    """

    texts: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    calls: tuple[ToolCall, ...] = ()


def take_apart(content: object) -> Content:
    """Return the parts of a message content.

    Raises:
        TypeError: The content is neither text nor a list of parts.
    """
    if content is None or content == "":
        return Content()
    if isinstance(content, str):
        return Content(texts=(content,))
    if not isinstance(content, Sequence):
        message = f"a message's `content` must be a text, a list of parts or None, got {type(content).__name__}"
        raise TypeError(message)
    texts: list[str] = []
    verbatim: list[str] = []
    attachments: list[Attachment] = []
    calls: list[ToolCall] = []
    for part in content:
        kind = _kind(part)
        if kind in _TEXT:
            texts.append(_text(part))
        elif kind in _ATTACHMENTS:
            inside = _texts_inside(part)
            verbatim.extend(inside)
            attachments.extend(() if inside else (Attachment(kind=_ATTACHMENTS[kind]),))
        elif kind in _CALLS:
            calls.append(call_of(part))
        else:
            verbatim.extend(_verbatim(part, kind, attachments))
            if not _MEDIA_KEYS.isdisjoint(part):
                attachments.append(Attachment(kind="other", fixed=not _is_attachment(part, kind)))
    return Content(texts=tuple(texts), verbatim=tuple(verbatim), attachments=tuple(attachments), calls=tuple(calls))


def put_together(content: object, cut: Shortened) -> Any:
    """Return a content with the texts of `cut` in the places of its text parts, everything else as it was.

    A text part of which nothing is left goes; the first attachment that is left out becomes a text part that says so.
    """
    if content is None or isinstance(content, str):
        return cut.texts[0] if cut.texts else content
    if not isinstance(content, Sequence):
        return content
    texts = iter(cut.texts)
    parts: list[Any] = []
    said = False
    for part in content:
        kind = _kind(part)
        if kind in _TEXT:
            text = next(texts)
            if text == _text(part):
                parts.append(part)
            elif text:
                parts.append(text if isinstance(part, str) else {**part, "text": text})
        elif cut.attachments_omitted and _is_attachment(part, kind):
            if not said:
                parts.append({"type": "text", "text": ATTACHMENT_OMITTED})
            said = True
        else:
            parts.append(part)
    return parts


def extra_texts(mapping: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts that are sent beside a message's content: a refusal, or reasoning that is handed back."""
    return tuple(text for key in _BESIDE_CONTENT if isinstance(text := mapping.get(key), str) and text)


def call_of(part: Mapping[str, Any]) -> ToolCall:
    """Return the tool call that a mapping in any of the usual shapes describes."""
    function = part.get("function") or part.get("custom")
    inner = function if isinstance(function, Mapping) else part
    arguments = next((inner[key] for key in ("arguments", "args", "input") if inner.get(key) is not None), None)
    identity = part.get("call_id") or part.get("id")
    return ToolCall(
        id=identity if isinstance(identity, str) else None,
        name=str(inner.get("name") or ""),
        arguments=arguments_text(arguments),
    )


def arguments_text(arguments: object) -> str:
    """Return call arguments as the text that is sent: none as an empty text, mappings as JSON."""
    if arguments is None:
        return ""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False, default=str)


def _kind(part: object) -> str:
    if isinstance(part, str):
        return "text"
    if isinstance(part, Mapping):
        return str(part.get("type") or next((key for key in _UNTYPED if key in part), ""))
    message = f"a part of a message's `content` must be a text or a mapping, got {type(part).__name__}"
    raise TypeError(message)


def _is_attachment(part: Any, kind: str) -> bool:
    if kind in _ATTACHMENTS:
        return not _texts_inside(part)
    if kind in _THOUGHTS or kind.startswith("server_tool") or kind.endswith("tool_result"):
        return False
    return kind not in _TEXT and kind not in _CALLS and not _MEDIA_KEYS.isdisjoint(part)


def _text(part: Any) -> str:
    text = part if isinstance(part, str) else part.get("text")
    return text if isinstance(text, str) else ""


def _texts_inside(part: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts of a file that is sent as text."""
    source = part.get("source")
    if isinstance(source, Mapping) and source.get("type") == "content":
        return take_apart(source.get("content")).texts
    text = source.get("data") if isinstance(source, Mapping) and source.get("type") == "text" else part.get("text")
    return (text,) if isinstance(text, str) else ()


def _verbatim(part: Mapping[str, Any], kind: str, attachments: list[Attachment]) -> list[str]:
    if kind in _READ_TEXT:
        text = part.get(_READ_TEXT[kind])
        return [text] if isinstance(text, str) and text else []
    if kind == "reasoning":
        found = part.get("reasoning") or part.get("text")
        summary = part.get("summary")
        pieces = [found] if isinstance(found, str) else []
        if isinstance(summary, Sequence) and not isinstance(summary, str):
            pieces += [_text(piece) for piece in summary if isinstance(piece, (str, Mapping))]
        return [piece for piece in pieces if piece]
    if kind == "redacted_thinking":
        return []
    told = {key: _told(value, attachments) for key, value in part.items() if not _is_unread(key, value)}
    return [json.dumps(told, separators=(",", ":"), ensure_ascii=False, default=str)]


def _told(value: object, attachments: list[Attachment]) -> object:
    """Return what of a nested value is sent as text; media inside it are added to `attachments`."""
    if isinstance(value, (list, tuple)):
        return [_told(item, attachments) for item in value]
    if isinstance(value, str) and value.startswith("data:") and ";base64," in value[:_LONGEST_MEDIA_TYPE]:
        attachments.append(Attachment(kind="other", fixed=True))
        return ""
    if isinstance(value, (bytes, bytearray, memoryview)):
        attachments.append(Attachment(kind="other", fixed=True))
        return ""
    if not isinstance(value, Mapping):
        return value
    kind = value.get("type")
    if isinstance(kind, str) and kind in _ATTACHMENTS:
        inside = _texts_inside(value)
        attachments.extend(() if inside else (Attachment(kind=_ATTACHMENTS[kind], fixed=True),))
        return {"type": kind, "text": inside}
    if any(isinstance(value.get(key), str) for key in ("data", "base64")):
        attachments.append(Attachment(kind="other", fixed=True))
    return {key: _told(inner, attachments) for key, inner in value.items() if not _is_sealed(key, inner)}


def _is_unread(key: object, value: object) -> bool:
    return key in _UNREAD_KEYS or (key in _MEDIA_KEYS | _SEALED_KEYS and isinstance(value, str))


def _is_sealed(key: object, value: object) -> bool:
    return isinstance(value, str) and key in _SEALED_KEYS
