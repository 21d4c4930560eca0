"""What is known of the image, the recording or the file in a part of a message.

Nothing is downloaded, no file is opened but by `file_facts`, and of base64 only the pieces that have the header are
decoded.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from ctxopt_core.messages.message import MediaFacts

Read: TypeAlias = Callable[[int, int], bytes]
"""From an offset and a number of bytes to these bytes; fewer, or none, where the file ends."""

_big = partial(int.from_bytes, byteorder="big")
_little = partial(int.from_bytes, byteorder="little")
_HEAD = 32  # bytes: the format, and the size of an image in all formats but JPEG
_PDF_HEAD = 1024  # bytes in which the number of pages of a linearized PDF is; the PDF standard puts it there
_MOST_SEGMENTS = 500  # of a JPEG or WAV file: it bounds the time that a broken file takes
_LONGEST = 10**7  # pixels of a side: a header that says more is broken, and its image has the allowance
_SIZED_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE_MARKERS = frozenset({0x01, *range(0xD0, 0xD9)})
_LINEARIZED = re.compile(rb"/Linearized\b[^>]*?/N\s+(\d{1,6})\b")
_PAYLOAD_KEYS = ("data", "base64", "bytes", "file_data", "url", "image_url")
_NESTED_KEYS = ("source", "image_url", "input_audio", "file", "inline_data", "inlineData", "image", "document", "audio")
_TYPE_KEYS = ("media_type", "mime_type", "mimeType")
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[^;,]{0,100})*;base64,")
_URI_HEAD = 300  # characters in which the payload of a data URI begins, so that a long string is not searched
_PLAIN_BASE64 = re.compile(r"[A-Za-z0-9+/]{8,}=*")
_TRIED = 64  # characters that must be base64 before a string is decoded as such
_DETAILS = frozenset({"low", "medium", "high", "original", "ultra_high", "auto"})
_RESOLUTION = "media_resolution_"


def header_facts(read: Read) -> MediaFacts | None:
    """Return what the first bytes of a file say; None where its format is unknown."""
    head = read(0, _HEAD)
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return _image("image/png", _big(head[16:20]), _big(head[20:24]))
    if head.startswith((b"GIF87a", b"GIF89a")):
        return _image("image/gif", _little(head[6:8]), _little(head[8:10]))
    if head.startswith(b"\xff\xd8\xff"):
        return _image("image/jpeg", *_jpeg_size(read))
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _image("image/webp", *_webp_size(head))
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return _wav(read)
    if head.startswith(b"%PDF-"):
        found = _LINEARIZED.search(read(0, _PDF_HEAD))
        return MediaFacts(media_type="application/pdf", pages=int(found[1]) or None if found else None)
    return None


def stream_facts(stream: BinaryIO) -> MediaFacts | None:
    """Return what the first bytes of an open file say. It is left at the position where it was."""

    def read(offset: int, length: int) -> bytes:
        stream.seek(offset)
        return stream.read(length)

    before = stream.tell()
    try:
        return header_facts(read)
    finally:
        stream.seek(before)


def file_facts(path: str | Path) -> MediaFacts | None:
    """Return what the first bytes of a local file say; None where it cannot be read."""
    try:
        # Opening a pipe would wait for what is written into it.
        if not Path(path).is_file():
            return None
        with Path(path).open("rb") as stream:
            return stream_facts(stream)
    except OSError:
        return None


def _image(media_type: str, width: int, height: int) -> MediaFacts:
    if 0 < width <= _LONGEST and 0 < height <= _LONGEST:
        return MediaFacts(media_type=media_type, width=width, height=height)
    return MediaFacts(media_type=media_type)


def _jpeg_size(read: Read) -> tuple[int, int]:
    """Return width and height from the frame that has them, after thumbnails and color profiles; zeros for none."""
    position = 2
    for _ in range(_MOST_SEGMENTS):
        segment = read(position, 9)
        if len(segment) < 9 or segment[0] != 0xFF:
            break
        marker = segment[1]
        if marker in _SIZED_FRAMES:
            return _big(segment[7:9]), _big(segment[5:7])
        if marker == 0xFF:
            position += 1
        elif marker in _BARE_MARKERS:
            position += 2
        else:
            position += 2 + _big(segment[2:4])
    return 0, 0


def _webp_size(head: bytes) -> tuple[int, int]:
    kind = head[12:16]
    if kind == b"VP8X":
        return _little(head[24:27]) + 1, _little(head[27:30]) + 1
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        return _little(head[26:28]) & 0x3FFF, _little(head[28:30]) & 0x3FFF
    if kind == b"VP8L" and head[20:21] == b"\x2f":
        bits = _little(head[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return 0, 0


def _wav(read: Read) -> MediaFacts:
    """Return the length of a recording: the bytes of its data divided by the bytes of a second."""
    position, bytes_per_second = 12, 0
    for _ in range(_MOST_SEGMENTS):
        chunk = read(position, 20)
        if len(chunk) < 8:
            break
        size = _little(chunk[4:8])
        if chunk.startswith(b"fmt "):
            bytes_per_second = _little(chunk[16:20])
        elif chunk.startswith(b"data"):
            # A recording that is streamed declares no length, or the greatest there is.
            known = bytes_per_second > 0 and 0 < size < 0xFFFFFFFF
            return MediaFacts(media_type="audio/wav", seconds=size / bytes_per_second if known else None)
        position += 8 + size + size % 2
    return MediaFacts(media_type="audio/wav")


def facts_of(part: Mapping[str, Any]) -> MediaFacts | None:
    """Return what a part says of the image, recording or file in it; None where it says nothing."""
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
    """Yield a part and the mappings in it that can have its payload."""
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
        data = memoryview(payload)
        facts = header_facts(lambda offset, length: bytes(data[offset : offset + length]))
        # Bytes may be base64, too, which no format of media looks like.
        return facts or header_facts(_reader_of_base64(data, 0))
    if not isinstance(payload, str) or not payload:
        return None
    uri = _DATA_URI.match(payload, 0, _URI_HEAD)
    start = uri.end() if uri else 0
    if not _PLAIN_BASE64.fullmatch(payload, start, start + _TRIED):
        return None
    facts = header_facts(_reader_of_base64(payload, start))
    return MediaFacts(media_type=uri[1]) if facts is None and uri and uri[1] else facts


def _reader_of_base64(text: str | memoryview, start: int) -> Read:
    """Return a reader of base64 that decodes only the groups that are asked for, four characters for three bytes."""

    def read(offset: int, length: int) -> bytes:
        first, last = offset // 3, (offset + length + 2) // 3
        try:
            decoded = base64.b64decode(text[start + 4 * first : start + 4 * last], validate=True)
        except (binascii.Error, ValueError):
            return b""
        return decoded[offset - 3 * first :][:length]

    return read
