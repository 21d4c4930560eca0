"""The first bytes of small media files, as their formats lay them down, with a tail that is never looked at."""

from __future__ import annotations

import base64
import struct

TAIL = b"\x5a" * 3_000


def png(width, height):
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + TAIL


def gif(width, height):
    return b"GIF89a" + struct.pack("<HH", width, height) + TAIL


def jpeg(width, height, *, before=b"", frame=0xC0):
    """A JPEG whose frame comes after the segments `before`, where cameras put thumbnails and color profiles."""
    return b"\xff\xd8" + before + b"\xff" + bytes([frame]) + struct.pack(">HBHH", 17, 8, height, width) + TAIL


def segment(marker, size):
    return b"\xff" + bytes([marker]) + struct.pack(">H", size) + b"\xd8" * (size - 2)


def webp(width, height, kind="VP8X"):
    if kind == "VP8X":
        body = b"\0" * 4 + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    elif kind == "VP8 ":
        body = b"\0" * 3 + b"\x9d\x01\x2a" + struct.pack("<HH", width, height)
    else:
        body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little")
    return b"RIFF\0\0\0\0WEBP" + kind.encode() + b"\0" * 4 + body + TAIL


def wav(seconds, *, rate=8_000):
    chunks = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    chunks += struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16)
    chunks += struct.pack("<4sI", b"data", int(seconds * rate * 2))
    return b"RIFF\0\0\0\0WAVE" + chunks + TAIL


def pdf(pages):
    return b"%PDF-1.7\n1 0 obj\n<< /Linearized 1 /L 90000 /O 3 /N " + str(pages).encode() + b" /T 89 >>\nendobj" + TAIL


def base64_text(data):
    return base64.b64encode(data).decode()


def image_url(data, **more):
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64_text(data)}", **more}}
