"""How many columns of a terminal a text takes.

Chinese, Japanese and Korean characters and most emoji take two, marks that stand on the character before them take
none. Terminals do not agree on every sequence of emoji; what is joined to the one before it is taken to add nothing.
"""

from __future__ import annotations

from unicodedata import category, east_asian_width

_JOINER = "\u200d"
_AS_EMOJI = "\ufe0f"
_WIDE = frozenset("WF")
_WITHOUT_WIDTH = frozenset({"Mn", "Me", "Cf"})
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_JOINED_HANGUL = range(0x1160, 0x1200)


def display_width(text: str) -> int:
    """Return the columns that a text of one line takes."""
    if text.isascii():
        return len(text)
    columns, before = 0, ""
    for character in text:
        if before == _JOINER or (before and ord(character) in _SKIN_TONES):
            added = 0
        elif character == _AS_EMOJI:
            added = 1 if before and _columns(before) == 1 else 0
        else:
            added = _columns(character)
        columns += added
        before = character
    return columns


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Return a text with the blanks that fill so many columns; a longer one is not cut.

    Args:
        text: The text.
        columns: How many columns it is to take.
        right: Whether the blanks stand before it.
    """
    blanks = " " * (columns - display_width(text))
    return blanks + text if right else text + blanks


def _columns(character: str) -> int:
    if category(character) in _WITHOUT_WIDTH or ord(character) in _JOINED_HANGUL:
        return 0
    return 2 if east_asian_width(character) in _WIDE else 1
