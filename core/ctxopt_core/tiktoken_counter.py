"""Exact counting with a tiktoken encoding, reading no more of a text than the question needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxopt_core.count_cache import CountCache, shared_cache
from ctxopt_core.errors import CtxoptError
from ctxopt_core.safe_cuts import PIECE, pieces, pieces_from_end
from ctxopt_core.vocabulary import BUNDLED_ENCODINGS, load_encoding

if TYPE_CHECKING:
    import tiktoken

LONGEST_TOKEN_BYTES = 128
_WHITE_SPACE_CHUNK = 500_000
_SURROGATE = re.compile("[\ud800-\udfff]")


class TiktokenCounter:
    """Count tokens exactly as tiktoken does, special tokens in a text being ordinary text.

    The vocabulary is loaded by the first count. Counts are cached per encoding for the whole process. A counter
    pickles by the name of its encoding.

    Args:
        name: A tiktoken encoding. `o200k_base` and `cl100k_base` need no network.
        cache: Where counts are remembered; by default the cache that all counters of this encoding share.

    Raises:
        ValueError: `name` is not a non-empty text.
    """

    __slots__ = ("_cache", "_encoding", "_safe_cuts_hold", "known", "name")

    exact = True

    def __init__(self, name: str = "o200k_base", *, cache: CountCache | None = None) -> None:
        if not isinstance(name, str) or not name.strip():
            message = f"`name` must be the name of a tiktoken encoding such as 'o200k_base', got {name!r}"
            raise ValueError(message)
        self.name = name.strip()
        self._cache = shared_cache(self.name) if cache is None else cache
        self.known = self._cache.get
        self._encoding: tiktoken.Encoding | None = None
        self._safe_cuts_hold = self.name in BUNDLED_ENCODINGS

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
        tokens = len(self._encode(text))
        self._cache.store(text, tokens)
        return tokens

    def exceeds(self, text: str, limit: int) -> bool:
        """Tell whether `text` counts more than `limit` tokens, tokenising no more of it than is needed."""
        if not text or limit < 0:
            return limit < 0
        length = len(text)
        if length > limit * LONGEST_TOKEN_BYTES:
            return True
        if (length if text.isascii() else length * 4) <= limit:
            return False
        known = self.known(text)
        if known is not None:
            return known > limit
        if length <= PIECE or not self._safe_cuts_hold:
            return self.count(text) > limit
        total = 0
        for start, stop in pieces(text):
            total += len(self._encode(text[start:stop]))
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
        if _SURROGATE.search(text):
            return self._bisect(text, limit, from_end=False)
        done, left = 0, limit
        for start, stop in self._windows(text, limit):
            tokens = self._encode(text[start:stop])
            if len(tokens) > left:
                return done + self._decodable_prefix(text[start:stop], tokens, left)
            done, left = stop, left - len(tokens)
        return done

    def suffix_length(self, text: str, limit: int) -> int:
        """Return how many characters of `text`, up to its end, count at most `limit` tokens."""
        if not text or limit <= 0:
            return 0
        if _SURROGATE.search(text):
            return self._bisect(text, limit, from_end=True)
        done, left = 0, limit
        for start, stop in self._windows(text, limit, from_end=True):
            tokens = self._encode(text[start:stop])
            if len(tokens) > left:
                return done + self._decodable_suffix(text[start:stop], tokens, left)
            done, left = len(text) - start, left - len(tokens)
        return done

    def _windows(self, text: str, limit: int, *, from_end: bool = False) -> list[tuple[int, int]]:
        """Borders of the pieces to walk; a text without safe cuts is cut down to what can possibly be asked for."""
        if self._safe_cuts_hold:
            walk = pieces_from_end(text) if from_end else pieces(text)
            found: list[tuple[int, int]] = []
            for start, stop in walk:
                found.append((start, stop))
                if sum(b - a for a, b in found) > limit * LONGEST_TOKEN_BYTES:
                    break
        else:
            found = [(0, len(text))]
        start, stop = found[-1]
        widest = max(PIECE, limit * LONGEST_TOKEN_BYTES)
        found[-1] = (max(start, stop - widest), stop) if from_end else (start, min(stop, start + widest))
        return found

    def _decodable_prefix(self, text: str, tokens: list[int], limit: int) -> int:
        parts = self._bytes_of(tokens[:limit])
        while parts:
            try:
                prefix = b"".join(parts).decode("utf-8")
            except UnicodeDecodeError:
                parts.pop()
                continue
            if len(self._encode(prefix)) <= limit:
                return len(prefix)
            parts.pop()
        return self._bisect(text[: limit * LONGEST_TOKEN_BYTES], limit, from_end=False)

    def _decodable_suffix(self, text: str, tokens: list[int], limit: int) -> int:
        parts = self._bytes_of(tokens[len(tokens) - limit :])
        while parts:
            try:
                suffix = b"".join(parts).decode("utf-8")
            except UnicodeDecodeError:
                parts.pop(0)
                continue
            if len(self._encode(suffix)) <= limit:
                return len(suffix)
            parts.pop(0)
        return self._bisect(text[-limit * LONGEST_TOKEN_BYTES :], limit, from_end=True)

    def _bytes_of(self, tokens: list[int]) -> list[bytes]:
        return self._loaded().decode_tokens_bytes(tokens)

    def _bisect(self, text: str, limit: int, *, from_end: bool) -> int:
        """The slow, certain way, for texts whose characters do not map to their bytes."""
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

    def _encode(self, text: str) -> list[int]:
        encoding = self._encoding or self._loaded()
        if len(text) < _WHITE_SPACE_CHUNK:
            return encoding.encode_ordinary(text)
        try:
            return encoding.encode(text, disallowed_special=())
        except ValueError:
            # tiktoken refuses runs of about a million blanks; counted in chunks they never count less.
            return [
                token
                for start in range(0, len(text), _WHITE_SPACE_CHUNK)
                for token in self._encode_chunk(text[start : start + _WHITE_SPACE_CHUNK])
            ]

    def _encode_chunk(self, chunk: str) -> list[int]:
        try:
            return self._loaded().encode(chunk, disallowed_special=())
        except ValueError as error:
            message = f"tiktoken could not encode a text of {len(chunk):,} characters with {self.name}"
            raise CtxoptError(message) from error
