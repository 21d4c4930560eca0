"""Exact counting with a tiktoken encoding, which reads no more of a string than it needs to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxopt_core.counting.conservative import CONSERVATIVE_ENCODINGS
from ctxopt_core.counting.encodings import ADDITIVE_ENCODINGS, fast_count_of, load_encoding
from ctxopt_core.counting.split_points import (
    PIECE,
    cut_after,
    cut_before,
    longest_fitting,
    part_of,
    pieces,
    pieces_from_end,
)
from ctxopt_core.runtime.text_cache import CountCache, shared_cache
from ctxopt_core.text.surrogates import has_surrogates, index_before_joining, joined_surrogates

# Bytes of the longest token in all additive vocabularies, a run of spaces.
LONGEST_TOKEN_BYTES = 128
# Characters. A string without a safe cut is read in windows: one of this size first, then larger ones.
_WINDOW = 2 * PIECE
# Tokens at the end of a window that may differ from those of the whole string. A window decides only what is over the
# limit by more than that; `test_tiktoken_counter.py` compares windows with whole strings.
_UNSETTLED_TOKENS = 128
# Characters for each token of the limit that are tokenized first, then second, to find a prefix or suffix. English has
# 4 to 5 a token, so that 7 nearly always suffice; where neither does, all of the piece is tokenized.
_CHARACTERS_PER_TOKEN = (7, 10)
# Characters. Longer strings are searched for runs of blanks: tiktoken panics at a run of 999,999.
_BLANK_RUN = 500_000
# Characters of the blocks into which such a run is cut, well below what is refused.
_BLANK_BLOCK = 256_000
# Characters that the tokenizers take for white space but not for a line break.
_LONG_BLANK_RUN = re.compile(rf"(?<![^\S\r\n\x1c-\x1f])[^\S\r\n\x1c-\x1f]{{{_BLANK_RUN},}}")


class TiktokenCounter:
    """Count tokens exactly as tiktoken does. Special tokens in a string are ordinary text.

    The vocabulary is loaded by the first count. Counts are cached per encoding for the whole process. A counter
    pickles by the name of its encoding. With the extra `fast`, `toktok-rs` counts the strings for which it is known to
    return what tiktoken returns.

    Args:
        name: A tiktoken encoding. `o200k_base` and `cl100k_base` need no network.
        cache: Where counts are kept; by default the cache that all counters of this encoding share.

    Raises:
        ValueError: `name` is no string, or is blank.

    Example:
        >>> from ctxopt_core import TiktokenCounter
        >>> counter = TiktokenCounter("o200k_base")
        >>> counter.count("The capital of Italy is Rome.")
        7
        >>> text = "The capital of Italy is Rome."
        >>> text[: counter.prefix_length(text, 3)]
        'The capital of'
    """

    __slots__ = ("_cache", "_is_additive", "cached_count", "exact", "name")
    tokens_per_byte = 1

    def __init__(self, name: str = "o200k_base", *, cache: CountCache | None = None) -> None:
        if not isinstance(name, str) or not name.strip():
            message = f"`name` must be the name of a tiktoken encoding such as 'o200k_base', got {name!r}"
            raise ValueError(message)
        self.name = name.strip()
        self._cache = shared_cache(self.name) if cache is None else cache
        self.cached_count = self._cache.get
        self.exact = self.name not in CONSERVATIVE_ENCODINGS
        self._is_additive = self.name in ADDITIVE_ENCODINGS

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return self.name == other.name if isinstance(other, TiktokenCounter) else NotImplemented

    def __hash__(self) -> int:
        return hash((TiktokenCounter, self.name))

    def __reduce__(self) -> tuple[object, ...]:
        return TiktokenCounter, (self.name,)

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`; an empty or missing string has none."""
        if not text:
            return 0
        cached = self.cached_count(text)
        if cached is not None:
            return cached
        if len(text) > PIECE and self._is_additive:
            tokens = sum(self._count_piece(text[start:stop]) for start, stop in pieces(text))
        else:
            tokens = self._count_at_once(text)
        self._cache.store(text, tokens)
        return tokens

    def exceeds(self, text: str, limit: int) -> bool:
        """Return whether `text` has more than `limit` tokens; no more of it is tokenized than needed."""
        if not text or limit < 0:
            return limit < 0
        length = len(text)
        if (length if text.isascii() else length * 4) <= limit:
            return False
        if self._is_additive and length > limit * LONGEST_TOKEN_BYTES:
            return True
        cached = self.cached_count(text)
        if cached is not None:
            return cached > limit
        if length <= PIECE or not self._is_additive:
            return self.count(text) > limit
        total = 0
        for start, stop in pieces(text):
            piece = text[start:stop]
            if len(piece) > _WINDOW and self._window_exceeds(piece, limit - total):
                return True
            total += self._count_piece(piece)
            if total > limit:
                return True
        self._cache.store(text, total)
        return False

    def prefix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of the longest prefix within `limit` tokens.

        The cut lies on a token border and never inside a code point.
        """
        return self._longest(text, limit, from_end=False)

    def suffix_length(self, text: str, limit: int) -> int:
        """Return the length in characters of the longest suffix within `limit` tokens."""
        return self._longest(text, limit, from_end=True)

    def _longest(self, text: str, limit: int, *, from_end: bool) -> int:
        if not text or limit <= 0:
            return 0
        within = part_of(text, limit * LONGEST_TOKEN_BYTES, from_end=from_end) if self._is_additive else text
        if not has_surrogates(within):
            return self._longest_tokenized(within, limit, from_end=from_end)
        joined = joined_surrogates(within)
        length = self._longest_tokenized(joined, limit, from_end=from_end)
        if from_end:
            return len(within) - index_before_joining(within, len(joined) - length)
        return index_before_joining(within, length)

    def _longest_tokenized(self, text: str, limit: int, *, from_end: bool) -> int:
        in_order = pieces_from_end if from_end else pieces
        left, length = limit, 0
        for start, stop in in_order(text) if self._is_additive else [(0, len(text))]:
            piece = text[start:stop]
            tokens = self._tokens_at_one_end(piece, left, from_end=from_end)
            if len(tokens) > left:
                return length + self._decodable(piece, tokens, left, from_end=from_end)
            left -= len(tokens)
            length += len(piece)
        return length

    def _tokens_at_one_end(self, piece: str, limit: int, *, from_end: bool) -> list[int]:
        """Return all tokens of a piece, or more than `limit` of the first or of the last."""
        for characters in _CHARACTERS_PER_TOKEN if self._is_additive else ():
            if from_end:
                part = piece[cut_before(piece, len(piece) - characters * limit) :]
            else:
                part = piece[: cut_after(piece, characters * limit)]
            if len(part) < len(piece) and len(tokens := self._encode(part)) > limit:
                return tokens
        return self._window(piece, limit, from_end=from_end)[1]

    def _window_exceeds(self, piece: str, limit: int) -> bool:
        cached = self.cached_count(piece)
        if cached is not None:
            return cached > limit
        read, tokens = self._window(piece, limit, from_end=False)
        if len(read) == len(piece):
            self._cache.store(piece, len(tokens))
        return len(tokens) > limit

    def _window(self, piece: str, limit: int, *, from_end: bool) -> tuple[str, list[int]]:
        """Return one end of a piece that clearly has more than `limit` tokens, or all of it, and its tokens."""
        enough = limit + _UNSETTLED_TOKENS
        width = _WINDOW
        while 2 * width < len(piece) and self._is_additive:
            read = part_of(piece, width, from_end=from_end)
            tokens = self._encode(read)
            if len(tokens) > enough:
                return read, tokens
            width = max(2 * width, (enough + enough // 16) * width // len(tokens))
        return piece, self._encode(piece)

    def _decodable(self, text: str, tokens: list[int], limit: int, *, from_end: bool) -> int:
        """Return the characters of the first or the last `limit` tokens, or of fewer where they end inside one."""
        for kept in range(limit, 0, -1):
            run = load_encoding(self.name).decode_bytes(tokens[-kept:] if from_end else tokens[:kept])
            try:
                part = run.decode("utf-8")
            except UnicodeDecodeError:
                continue
            # A run may have more tokens alone than inside the string.
            if self._count_at_once(part) <= limit:
                return len(part)
        # The slow, certain way, where the first `limit` tokens do not end on a whole character.
        most = min(len(text), limit * LONGEST_TOKEN_BYTES)
        return longest_fitting(most, lambda n: len(self._encode(part_of(text, n, from_end=from_end))) <= limit)

    def _count_piece(self, piece: str) -> int:
        """Count a piece between safe cuts. Pieces are cached, so that a string that grew costs what was added."""
        tokens = self.cached_count(piece)
        if tokens is None:
            tokens = self._count_at_once(piece)
            self._cache.store(piece, tokens)
        return tokens

    def _count_at_once(self, text: str) -> int:
        fast = fast_count_of(self.name)
        tokens = None if fast is None or len(text) >= _BLANK_RUN else fast(text)
        return len(self._encode(text)) if tokens is None else tokens

    def _encode(self, text: str) -> list[int]:
        encoding = load_encoding(self.name)
        if len(text) < _BLANK_RUN:
            return encoding.encode_ordinary(text)
        # Unlike `encode_ordinary`, `encode` never panics.
        return [token for part in _without_long_blanks(text) for token in encoding.encode(part, disallowed_special=())]


def _without_long_blanks(text: str) -> Iterator[str]:
    """Yield the string in parts, cut inside long runs of blanks, where cuts do not change the count."""
    start = 0
    for run in _LONG_BLANK_RUN.finditer(text):
        for cut in range(run.start() + _BLANK_BLOCK, run.end() - 1, _BLANK_BLOCK):
            yield text[start:cut]
            start = cut
    yield text[start:]
