"""What of a part is sent as text but may not be cut: reasoning, server tools, everything of an unknown kind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ctxopt_core.media_parts import facts_of
from ctxopt_core.messages import Attachment
from ctxopt_core.part_kinds import ATTACHMENT_KINDS, MEDIA_KEYS, text_of, texts_inside

_READ_TEXT = {"thinking": "thinking", "refusal": "refusal"}
_UNREAD_KEYS = frozenset({"cache_control", "index", "extras"})
_SEALED_KEYS = frozenset({"signature", "encrypted_content", "encrypted_index", "data", "base64"})
_LONGEST_MEDIA_TYPE = 200


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
    told = {key: _told(value, attachments) for key, value in part.items() if not _is_unread(key, value)}
    return [json.dumps(told, separators=(",", ":"), ensure_ascii=False, default=str)]


def _told(value: object, attachments: list[Attachment]) -> object:
    """Return what of a nested value is sent as text; media inside it are added to `attachments`."""
    if isinstance(value, (list, tuple)):
        return [_told(item, attachments) for item in value]
    if isinstance(value, str) and value.startswith("data:") and ";base64," in value[:_LONGEST_MEDIA_TYPE]:
        attachments.append(Attachment(kind="other", fixed=True, facts=facts_of({"url": value})))
        return ""
    if isinstance(value, (bytes, bytearray, memoryview)):
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
    return {key: _told(inner, attachments) for key, inner in value.items() if not _is_sealed(key, inner)}


def _is_unread(key: object, value: object) -> bool:
    return key in _UNREAD_KEYS or (key in MEDIA_KEYS | _SEALED_KEYS and isinstance(value, str))


def _is_sealed(key: object, value: object) -> bool:
    return isinstance(value, str) and key in _SEALED_KEYS
