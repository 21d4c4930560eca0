"""The text of a file that was loaded into a box."""

from __future__ import annotations

import codecs

from ctxopt_core.playground.pasted_json import UnreadablePasteError

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def text_of_file(content: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 where it begins with the mark of that.

    Raises:
        UnreadablePasteError: It is neither.
    """
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"the file is no text in UTF-8: byte {error.start:,} cannot be read; store it as UTF-8"
        raise UnreadablePasteError(message) from error
