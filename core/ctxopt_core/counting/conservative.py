"""Two vocabularies that need at least as many tokens as the published ones, for models whose own is not published.

Published vocabularies agree on common words and differ in the rest. Tekken and Qwen take digits one by one, Tekken has
no token for two carriage returns, capitals or most pairs of signs, and `cl100k_base` has few tokens for scripts other
than Latin. What only some of them have cannot be relied on. So `cl100k_base` is used without it: its tokens are left
out by kind, and the pattern that cuts a string into words cuts wherever one of the published patterns does.

* `conservative_large` stands for vocabularies of 100,000 tokens and more. It was fitted to `o200k_base`,
  `cl100k_base`, Tekken and that of Qwen 3.5.
* `conservative_small` stands for those of 32,000 tokens, such as those of Mistral 7B and Llama 2. It was fitted to the
  two SentencePiece vocabularies of mistral-common.

The ranks of the large one are round ones at which no text of the half that they were chosen on was counted below
`o200k_base`, `cl100k_base` or Tekken (docs/why.md, "Counting"). The small one is below for wide digits and single style
sheets. Both are estimates: there are texts that a vocabulary needs more tokens for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

CONSERVATIVE_LARGE = "conservative_large"
CONSERVATIVE_SMALL = "conservative_small"
BASE = "cl100k_base"

# Scripts that Tekken has no tokens for: Odia, Sinhala, Lao, Tibetan, Khmer. They count their bytes, and the space
# before a word is not joined to it.
_BYTE_SCRIPTS = "\u0b00-\u0b7f\u0d80-\u0dff\u0e80-\u0fff\u1780-\u17ff"
_BEFORE_WORD = rf"(?:[^\r\n\p{{L}}\p{{N}}](?![{_BYTE_SCRIPTS}]))?"
_UPPER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}"
_LOWER = r"\p{Ll}\p{Lm}\p{Lo}"
PATTERN = "|".join(
    (
        r"'(?i:[sdmt]|ll|ve|re)",  # as cl100k_base
        rf"{_BEFORE_WORD}[{_UPPER}]*[{_LOWER}]+",  # upper case ends a word as in Tekken, a mark as in cl100k_base
        rf"{_BEFORE_WORD}[{_UPPER}]+",
        r"\p{N}",  # as Tekken and Qwen
        r" ?[^\s\p{L}\p{N}]+",  # line breaks apart, as Qwen
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    )
)

# The first bytes of characters that Tekken spells in bytes: those scripts, box drawing except its plain line, combining
# accents, symbols, joiners and other invisible characters, the wide space, and emoji.
_BYTES = re.compile(
    rb"\xe0[\xac\xad\xb6\xb7\xba-\xbf]|\xe1[\x9e\x9f]|\xe2\x94[\x81-\xbf]|\xe2[\x95\x96]|\xcc.|\xcd[\x80-\xaf]"
    rb"|\xe2[\x98-\x9e]|\xe2\x80[\x8b-\x8f\xa8-\xaf]|\xe3\x80\x80|\xef[\xb8\xbb]|\xf0"
)
_MIDDLE_OF_CHARACTER = re.compile(rb"[\x80-\xbf]")
_SAME_LETTERS = re.compile(rb"([A-Za-z])\1\1")
_MIXED_BLANKS = re.compile(rb"(?=.*\n).*[ \t]|(?=.*\t).*[^\t]|.*\r.|.+\r|\n{5,}|.*\xc2\xa0", re.DOTALL)
_SIGNS = re.compile(rb"[!-/:-@\[-`{-~\s]*")
_SIGN_FIRST = re.compile(rb"[!-/:-@\[-`{-~]")
_CAPITALS = re.compile(rb"[A-Z]{2}")
_LONG_CAPITALS = re.compile(rb" ?[A-Z]{4,}")
_INNER = re.compile(rb"[a-z]+")
_WORD = re.compile(rb" ?[A-Za-z]+")
_SYMBOL = re.compile(rb"\xc2[\xa1-\xbf]|\xe2[\x80-\xbf]{2}")
_LONG_WORD = 11  # bytes, the space before it included
_HEX_LETTERS = re.compile(rb" ?[a-fx]{2,4}")
_LONGEST_RUN = 2  # of one sign, in bytes; the same for all runs after a space
# Bytes. The longest runs of one sign with which no line of that sign alone is counted too low, where that is more.
_LONGEST_RUNS = {b"-": 32, b"=": 8, b"*": 4, b"#": 8, b"/": 4, b".": 8, b"_": 8}
_SHORT_BLANKS, _LONG_BLANKS = 16, 64  # bytes: runs of blanks have a token up to the first, and some up to the second


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Which tokens of `cl100k_base` are kept.

    A token has a lower rank the more common it is. What is rare is in one vocabulary and not in the other.

    Args:
        below: Tokens of a lower rank are kept.
        capitals_below: As `below`, for tokens with two capitals.
        long_capitals_below: As `below`, for four capitals and more: licenses in source code have made words such as
            `MERCHANTABILITY` common in `cl100k_base` alone.
        signs_below: As `below`, for words that begin with a sign, such as `_name` or `(self`.
        sign_pairs_below: As `below`, for two different signs.
        words_below: As `below`, for the letters A to Z.
        long_words_below: As `below`, for long words of those letters, such as `sublicense`.
        inner_below: As `below`, for small letters without a space before them, which stand inside words.
        symbols_below: As `below`, for a single sign of Latin-1, or one from U+2000 to U+2FFF.
        hex_below: As `below`, for short strings of the letters of hexadecimal numbers.
        longest_blanks: Bytes of the longest run of spaces.
        only_spaces: Whether tabs and line breaks are all single.
    """

    below: int
    capitals_below: int
    signs_below: int
    long_capitals_below: int = 5_000
    sign_pairs_below: int = 25_000
    words_below: int = 45_000
    long_words_below: int = 18_000
    inner_below: int = 40_000
    symbols_below: int = 30_000
    hex_below: int = 2_000
    longest_blanks: int = _LONG_BLANKS
    only_spaces: bool = False


_KEPT = {
    CONSERVATIVE_LARGE: Kept(below=55_000, capitals_below=10_000, signs_below=10_000),
    CONSERVATIVE_SMALL: Kept(
        below=20_000, capitals_below=1_000, signs_below=1_000, longest_blanks=15, only_spaces=True
    ),
}
CONSERVATIVE_ENCODINGS = tuple(_KEPT)


def kept_ranks(name: str, ranks: Mapping[bytes, int]) -> dict[bytes, int]:
    """Return the tokens of a conservative vocabulary with their ranks, from those of `cl100k_base`."""
    kept = _KEPT[name]
    tokens = (token for token, rank in ranks.items() if len(token) == 1 or _is_kept(token, rank, kept))
    return {token: rank for rank, token in enumerate(sorted(tokens, key=ranks.__getitem__))}


def _is_kept(token: bytes, rank: int, kept: Kept) -> bool:
    if rank >= kept.below or _BYTES.search(token) or _MIDDLE_OF_CHARACTER.match(token):
        return False
    if _SAME_LETTERS.search(token) or _MIXED_BLANKS.match(token):
        return False
    if _SIGNS.fullmatch(token):
        return _is_kept_run(token, rank, kept)
    if _LONG_CAPITALS.fullmatch(token):
        return rank < min(kept.long_capitals_below, kept.capitals_below)
    if _CAPITALS.search(token):
        return rank < kept.capitals_below
    if _SIGN_FIRST.match(token):
        return rank < kept.signs_below
    if _SYMBOL.fullmatch(token):
        return rank < kept.symbols_below
    return not _WORD.fullmatch(token) or _is_kept_word(token, rank, kept)


def _is_kept_word(token: bytes, rank: int, kept: Kept) -> bool:
    """Return whether a token of the letters A to Z without two capitals, with or without a space before it, is kept."""
    if _HEX_LETTERS.fullmatch(token) and rank >= kept.hex_below:
        return False
    if len(token) >= _LONG_WORD and rank >= kept.long_words_below:
        return False
    return rank < (kept.inner_below if _INNER.fullmatch(token) else kept.words_below)


def _is_kept_run(token: bytes, rank: int, kept: Kept) -> bool:
    """Return whether a token of blanks or signs is kept."""
    size = len(token)
    if token.isspace():
        if kept.only_spaces and token.strip(b" "):
            return False
        return size <= kept.longest_blanks and (size <= _SHORT_BLANKS or size % 8 == 0)
    signs = token.strip()
    if len(set(signs)) > 1:
        return size <= len(b"({") and rank < kept.sign_pairs_below
    is_power_of_two = len(signs) & (len(signs) - 1) == 0
    longest = _LONGEST_RUNS.get(signs[:1], _LONGEST_RUN) if signs == token else _LONGEST_RUN
    return is_power_of_two and len(signs) <= longest
