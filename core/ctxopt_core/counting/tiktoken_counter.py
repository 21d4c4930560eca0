"""Exact counting with a tiktoken encoding, reading no more of a text than the question needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ctxopt_core.counting.encodings import BUNDLED_ENCODINGS, load_encoding
from ctxopt_core.counting.split_points import PIECE, cut_after, cut_before, pieces, pieces_from_end
from ctxopt_core.counting.toktok import fast_count_of
from ctxopt_core.runtime.text_cache import CountCache, shared_cache
from ctxopt_core.text.surrogates import has_surrogates, index_before_joining, joined_surrogates

if TYPE_CHECKING:
    import tiktoken

LONGEST_TOKEN_BYTES = 128
# A text without a safe cut is read in growing windows. Where a window ends, up to so many tokens may come out otherwise
# than in the whole text.
_WINDOW = 2 * PIECE
_UNSETTLED_TOKENS = 128
# So many characters for each token are tokenized, then so many, where the start or the end of a text is asked for.
_CHARACTERS_PER_TOKEN = (7, 10)
_BLANK_RUN = 500_000
_BLANK_BLOCK = 256_000
# Characters that the tokenizers take for white space but not for a line break.
_LONG_BLANK_RUN = re.compile(rf"(?<![^\S\r\n\x1c-\x1f])[^\S\r\n\x1c-\x1f]{{{_BLANK_RUN},}}")


class TiktokenCounter:
    """Count tokens exactly as tiktoken does, special tokens in a text being ordinary text.

    The vocabulary is loaded by the first count. Counts are cached per encoding for the whole process. A counter
    pickles by the name of its encoding. Where `toktok-rs` is installed (the extra `fast`) it does the counting that it
    is known to do as tiktoken does.

    Args:
        name: A tiktoken encoding. `o200k_base` and `cl100k_base` need no network.
        cache: Where counts are remembered; by default the cache that all counters of this encoding share.

    Raises:
        ValueError: `name` is not a non-empty text.
    """

    __slots__ = ("_bundled", "_cache", "_encoding", "known", "name")

    exact = True

    def __init__(self, name: str = "o200k_base", *, cache: CountCache | None = None) -> None:
        if not isinstance(name, str) or not name.strip():
            message = f"`name` must be the name of a tiktoken encoding such as 'o200k_base', got {name!r}"
            raise ValueError(message)
        self.name = name.strip()
        self._cache = shared_cache(self.name) if cache is None else cache
        self.known = self._cache.get
        self._encoding: tiktoken.Encoding | None = None
        self._bundled = self.name in BUNDLED_ENCODINGS

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return self.name == other.name if isinstance(other, TiktokenCounter) else NotImplemented

    def __hash__(self) -> int:
        return hash((TiktokenCounter, self.name))

    def __reduce__(self) -> tuple[object, ...]:
        return TiktokenCounter, (self.name,)

    def count(self, text: str) -> int:
        """Return the tokens of `text`; an empty or missing text counts 0."""
        if not text:
            return 0
        known = self.known(text)
        if known is not None:
            return known
        if len(text) > PIECE and self._bundled:
            tokens = sum(self._count_piece(text[start:stop]) for start, stop in pieces(text))
        else:
            tokens = self._count_at_once(text)
        self._cache.store(text, tokens)
        return tokens

    def exceeds(self, text: str, limit: int) -> bool:
        """Tell whether `text` counts more than `limit` tokens, tokenizing no more of it than is needed."""
        if not text or limit < 0:
            return limit < 0
        length = len(text)
        if (length if text.isascii() else length * 4) <= limit:
            return False
        if self._bundled and length > limit * LONGEST_TOKEN_BYTES:
            return True
        known = self.known(text)
        if known is not None:
            return known > limit
        if length <= PIECE or not self._bundled:
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
        """Return how many characters of `text`, from its start, count at most `limit` tokens.

        The cut lies on a token border and never inside a code point.
        """
        if not text or limit <= 0:
            return 0
        within = text[: limit * LONGEST_TOKEN_BYTES] if self._bundled else text
        if has_surrogates(within):
            return index_before_joining(within, self._prefix(joined_surrogates(within), limit))
        return self._prefix(within, limit)

    def suffix_length(self, text: str, limit: int) -> int:
        """Return how many characters of `text`, up to its end, count at most `limit` tokens."""
        if not text or limit <= 0:
            return 0
        within = text[-limit * LONGEST_TOKEN_BYTES :] if self._bundled else text
        if has_surrogates(within):
            joined = joined_surrogates(within)
            return len(within) - index_before_joining(within, len(joined) - self._suffix(joined, limit))
        return self._suffix(within, limit)

    def _prefix(self, text: str, limit: int) -> int:
        left = limit
        for start, stop in pieces(text) if self._bundled else [(0, len(text))]:
            tokens = self._start_of(text[start:stop], left)
            if len(tokens) > left:
                return start + self._decodable(text[start:stop], tokens, left, from_end=False)
            left -= len(tokens)
        return len(text)

    def _suffix(self, text: str, limit: int) -> int:
        left = limit
        for start, stop in pieces_from_end(text) if self._bundled else [(0, len(text))]:
            tokens = self._end_of(text[start:stop], left)
            if len(tokens) > left:
                return len(text) - stop + self._decodable(text[start:stop], tokens, left, from_end=True)
            left -= len(tokens)
        return len(text)

    def _start_of(self, piece: str, limit: int) -> list[int]:
        """Return the tokens of a piece: all, or more than `limit` of the first."""
        for characters in _CHARACTERS_PER_TOKEN if self._bundled else ():
            near = cut_after(piece, characters * limit)
            if near < len(piece) and len(tokens := self._encode(piece[:near])) > limit:
                return tokens
        return self._window(piece, limit, from_end=False)[1]

    def _end_of(self, piece: str, limit: int) -> list[int]:
        """Return the tokens of a piece: all, or more than `limit` of the last."""
        for characters in _CHARACTERS_PER_TOKEN if self._bundled else ():
            near = cut_before(piece, len(piece) - characters * limit)
            if near > 0 and len(tokens := self._encode(piece[near:])) > limit:
                return tokens
        return self._window(piece, limit, from_end=True)[1]

    def _window_exceeds(self, piece: str, limit: int) -> bool:
        known = self.known(piece)
        if known is not None:
            return known > limit
        read, tokens = self._window(piece, limit, from_end=False)
        if len(read) == len(piece):
            self._cache.store(piece, len(tokens))
        return len(tokens) > limit

    def _window(self, piece: str, limit: int, *, from_end: bool) -> tuple[str, list[int]]:
        """Return one end of a piece that clearly counts more than `limit`, or all of it, and the tokens of that."""
        enough = limit + _UNSETTLED_TOKENS
        width = _WINDOW
        while 2 * width < len(piece) and self._bundled:
            read = piece[-width:] if from_end else piece[:width]
            tokens = self._encode(read)
            if len(tokens) > enough:
                return read, tokens
            width = max(2 * width, (enough + enough // 16) * width // len(tokens))
        return piece, self._encode(piece)

    def _decodable(self, text: str, tokens: list[int], limit: int, *, from_end: bool) -> int:
        """Return the characters of the first or the last `limit` tokens, or of fewer where they end inside one."""
        for kept in range(limit, 0, -1):
            length = self._length_within(tokens[-kept:] if from_end else tokens[:kept], limit)
            if length is not None:
                return length
        return self._bisect(text, limit, from_end=from_end)

    def _length_within(self, tokens: list[int], limit: int) -> int | None:
        """Return the characters of a run of tokens; None where they are no text, or one that counts more alone."""
        try:
            text = self._loaded().decode_bytes(tokens).decode("utf-8")
        except UnicodeDecodeError:
            return None
        return len(text) if self._count_at_once(text) <= limit else None

    def _bisect(self, text: str, limit: int, *, from_end: bool) -> int:
        """The slow, certain way, for texts whose first `limit` tokens end on no character."""
        low, high = 0, min(len(text), limit * LONGEST_TOKEN_BYTES)
        while low < high:
            middle = (low + high + 1) // 2
            part = text[len(text) - middle :] if from_end else text[:middle]
            if len(self._encode(part)) <= limit:
                low = middle
            else:
                high = middle - 1
        return low

    def _loaded(self) -> tiktoken.Encoding:
        if self._encoding is None:
            self._encoding = load_encoding(self.name)
        return self._encoding

    def _count_piece(self, piece: str) -> int:
        """Count a piece between safe cuts. Pieces are remembered, so a text that has grown costs what was added."""
        known = self.known(piece)
        if known is None:
            known = self._count_at_once(piece)
            self._cache.store(piece, known)
        return known

    def _count_at_once(self, text: str) -> int:
        fast = fast_count_of(self.name)
        tokens = None if fast is None or len(text) >= _BLANK_RUN else fast(text)
        return len(self._encode(text)) if tokens is None else tokens

    def _encode(self, text: str) -> list[int]:
        encoding = self._encoding or self._loaded()
        if len(text) < _BLANK_RUN:
            return encoding.encode_ordinary(text)
        # Unlike `encode_ordinary`, `encode` never panics.
        return [token for part in _without_long_blanks(text) for token in encoding.encode(part, disallowed_special=())]


def _without_long_blanks(text: str) -> Iterator[str]:
    """Cut runs of blanks, of which tiktoken refuses a million, into blocks; blanks keep their count there."""
    start = 0
    for run in _LONG_BLANK_RUN.finditer(text):
        for cut in range(run.start() + _BLANK_BLOCK, run.end() - 1, _BLANK_BLOCK):
            yield text[start:cut]
            start = cut
    yield text[start:]
