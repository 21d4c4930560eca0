"""Strings with surrogates, as a tokenizer reads them: pairs as the character they mean, lone ones as U+FFFD."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def has_surrogates(text: str) -> bool:
    """Return whether `text` cannot be encoded as UTF-8."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def joined_surrogates(text: str) -> str:
    """Return `text` with pairs joined and lone surrogates replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def index_before_joining(text: str, index: int) -> int:
    """Return the index in `text` of the character that has `index` in `joined_surrogates(text)`."""
    pairs = 0
    for pair in _PAIR.finditer(text):
        if pair.start() - pairs >= index:
            break
        pairs += 1
    return index + pairs
