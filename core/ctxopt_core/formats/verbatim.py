"""The texts of a part that may not be edited, as a provider reads them: no payload, nothing that is sealed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ctxopt_core.formats.media import facts_of
from ctxopt_core.formats.part_kinds import ATTACHMENT_KINDS, MEDIA_KEYS, text_of, texts_inside
from ctxopt_core.formats.sealed import is_sealed_key, sealed_characters
from ctxopt_core.messages.message import Attachment

_UNREAD_KEYS = frozenset({"cache_control", "index", "extras"})
_PAYLOAD_KEYS = frozenset({"data", "base64"})
_LONGEST_MEDIA_TYPE = 200  # characters of a data URI in which `;base64,` is looked for; no media type is longer


def verbatim_texts(part: Mapping[str, Any], kind: str, attachments: list[Attachment]) -> list[str]:
    """Return the texts of a part that may not be cut; media inside it are added to `attachments`."""
    if kind in ("thinking", "refusal"):
        text = part.get(kind)
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
    left_out = MEDIA_KEYS | _PAYLOAD_KEYS
    sent = {
        key: _sent(value, attachments)
        for key, value in part.items()
        if key not in _UNREAD_KEYS and not is_sealed_key(key) and not (key in left_out and isinstance(value, str))
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
    if any(isinstance(value.get(key), str) for key in _PAYLOAD_KEYS) and not sealed_characters(value):
        attachments.append(Attachment(kind="other", fixed=True, facts=facts_of(value)))
    return {
        key: _sent(inner, attachments)
        for key, inner in value.items()
        if not is_sealed_key(key) and not (isinstance(inner, str) and key in _PAYLOAD_KEYS)
    }
