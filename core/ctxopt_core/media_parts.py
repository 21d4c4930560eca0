"""What a part of a message tells of the image, the recording or the file in it.

Nothing is downloaded or opened, and of base64 text only the pieces that hold the header are decoded.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxopt_core.header_facts import Read, header_facts
from ctxopt_core.media_facts import MediaFacts

_PAYLOAD_KEYS = ("data", "base64", "bytes", "file_data", "url", "image_url")
_NESTED_KEYS = ("source", "image_url", "input_audio", "file", "inline_data", "inlineData", "image", "document", "audio")
_TYPE_KEYS = ("media_type", "mime_type", "mimeType")
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[^;,]{0,100})*;base64,")
_URI_HEAD = 300
_PLAIN_BASE64 = re.compile(r"[A-Za-z0-9+/]{8,}=*")
_TRIED = 64
_DETAILS = frozenset({"low", "medium", "high", "original", "ultra_high", "auto"})
_RESOLUTION = "media_resolution_"


def facts_of(part: Mapping[str, Any]) -> MediaFacts | None:
    """Return what a part tells of what is in it; None where it tells nothing."""
    found, declared, detail = None, None, None
    for mapping in _mappings(part):
        declared = declared or next((mapping[key] for key in _TYPE_KEYS if isinstance(mapping.get(key), str)), None)
        detail = detail or _detail(mapping)
        for key in _PAYLOAD_KEYS:
            found = found or _facts_of_payload(mapping.get(key))
    if found is None and declared is None and detail is None:
        return None
    facts = found or MediaFacts()
    return replace(facts, media_type=facts.media_type or declared, detail=detail)


def _mappings(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the part and the mappings in which a part names its payload."""
    yield part
    for key in _NESTED_KEYS:
        nested = part.get(key)
        if isinstance(nested, Mapping):
            yield nested
            source = nested.get("source")
            if isinstance(source, Mapping):
                yield source


def _detail(mapping: Mapping[str, Any]) -> str | None:
    """Return the resolution that is asked for, as OpenAI or as Google writes it."""
    asked = mapping.get("detail") or mapping.get("media_resolution") or mapping.get("mediaResolution")
    if isinstance(asked, Mapping):
        asked = asked.get("level")
    if not isinstance(asked, str):
        return None
    name = asked.lower().removeprefix(_RESOLUTION)
    return name if name in _DETAILS else None


def _facts_of_payload(payload: object) -> MediaFacts | None:
    if isinstance(payload, (bytes, bytearray, memoryview)):
        return header_facts(_reader_of_bytes(memoryview(payload)))
    if not isinstance(payload, str) or not payload:
        return None
    uri = _DATA_URI.match(payload, 0, _URI_HEAD)
    start = uri.end() if uri else 0
    if not _PLAIN_BASE64.fullmatch(payload, start, start + _TRIED):
        return None
    facts = header_facts(_reader_of_base64(payload, start))
    return MediaFacts(media_type=uri[1]) if facts is None and uri and uri[1] else facts


def _reader_of_bytes(data: memoryview) -> Read:
    return lambda offset, length: bytes(data[offset : offset + length])


def _reader_of_base64(text: str, start: int) -> Read:
    """Return a reader of base64 text that decodes the groups that are asked for, four characters for three bytes."""

    def read(offset: int, length: int) -> bytes:
        first, last = offset // 3, (offset + length + 2) // 3
        try:
            decoded = base64.b64decode(text[start + 4 * first : start + 4 * last], validate=True)
        except (binascii.Error, ValueError):
            return b""
        return decoded[offset - 3 * first :][:length]

    return read
