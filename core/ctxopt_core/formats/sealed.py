"""What sealed content costs: text that a provider encrypted or signed, which only the provider can read.

It is sent back as it is, and the provider counts what is inside. How much that is shows in its length alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ctxopt_core.messages.message import Attachment

_SEALED_WORDS = ("signature", "encrypted", "redacted")
_SEALED_TYPES = ("redacted", "encrypted")
# Where the sealed text is no English, the figures are off as those of any estimate; only the provider can count it.
_BYTES_PER_CHARACTER = 0.75  # bytes: base64 writes 3 of them in 4 characters, and encryption adds next to none
_BYTES_PER_TOKEN = 4  # bytes of English in a token of today's vocabularies, about
_SMALL = 400  # characters of base64 in one part: a key and a digest, or a pointer, which hold no text
_DEEPEST = 8  # levels of nesting in which sealed content is looked for; providers use up to 5


def is_sealed_key(key: object) -> bool:
    """Return whether what a key names is sealed."""
    return isinstance(key, str) and any(word in key.lower() for word in _SEALED_WORDS)


def sealed_characters(value: object, *, sealed: bool = False, levels: int = _DEEPEST) -> int:
    """Return the characters of base64 of everything that is sealed in a value."""
    if isinstance(value, str):
        return len(value) if sealed else 0
    if isinstance(value, (bytes, bytearray, memoryview)):
        return int(len(value) / _BYTES_PER_CHARACTER) if sealed else 0
    if levels and isinstance(value, Mapping):
        kind = value.get("type")
        of_data = isinstance(kind, str) and any(word in kind for word in _SEALED_TYPES)
        return sum(
            sealed_characters(
                inner,
                sealed=sealed or is_sealed_key(key) or (of_data and key == "data"),
                levels=levels - 1,
            )
            for key, inner in value.items()
        )
    if levels and isinstance(value, (list, tuple)):
        return sum(sealed_characters(inner, sealed=sealed, levels=levels - 1) for inner in value)
    return 0


def sealed_attachment(characters: int, *, readable: int = 0, small: int = _SMALL) -> tuple[Attachment, ...]:
    """Return what stands for the sealed content of a part in a view: one fixed attachment, or none for a small one.

    Args:
        characters: Its characters of base64.
        readable: Bytes of text beside it that it seals, too, and that are counted already, as those of a thought.
        small: The most characters that cost nothing; 0 where it is known to be text.
    """
    if characters <= small:
        return ()
    tokens = math.ceil(max(0.0, characters * _BYTES_PER_CHARACTER - readable) / _BYTES_PER_TOKEN)
    return (Attachment(tokens=tokens, fixed=True),) if tokens else ()
