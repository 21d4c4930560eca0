"""Blocks of texts that remember which of the texts hold a term, in a cache whose memory is bounded."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise, repeat

from ctxopt_core.relevance.bm25 import STEM_LETTERS, tokenize
from ctxopt_core.runtime.text_cache import BoundedCache

# Texts in a block, so that the number of a text in its block is one byte. Larger blocks have fewer look-ups.
BLOCK_TEXTS = 256
# Texts in a block at the end of a conversation that grows: few, since a block is made anew when a text is added to it.
TAIL_TEXTS = 32
INDEX_BYTES = 32 * 1024 * 1024  # bytes of all blocks with their texts: five conversations of a million characters
# Terms that are sought in a block before all its words are listed, which takes the time of about so many.
_SOUGHT_TERMS = 64
_BLOCK_BYTES = 12 * 1024  # memory of a block of no words: its tables, and the terms that were sought in it
# Memory of a block for each byte of its words: the words, or the list of them with the texts that hold each (measured
# on chats of short and of long messages).
_BYTES_PER_BYTE = 3
_TEXT_BYTES = 24  # memory of a text's place and length in its block, and of its place in the key
# Capitals become small letters, and ASCII signs that are in no word a blank; bytes of other letters stay.
_ASCII_FOLDED = bytes(
    byte if byte >= 128 else ord(chr(byte).lower()) if chr(byte).isalnum() else ord(" ") for byte in range(256)
)


class WordBlock:
    """The words of up to 256 texts, and the texts that hold each term.

    A term is sought in the words when it is first asked for. After 64 terms all words of the block are listed once, and
    what was found by then is the same as what is found in the list.

    Args:
        texts: The texts.

    Attributes:
        lengths: The characters of each text.
        characters: Their sum.
    """

    __slots__ = ("_found", "_starts", "_words", "characters", "lengths")

    def __init__(self, texts: Sequence[str]) -> None:
        self.lengths = tuple(map(len, texts))
        self.characters = sum(self.lengths)
        parts = [text.encode() if text.isascii() else _terms_as_bytes(text) for text in texts]
        self._starts = tuple(accumulate([len(part) + 1 for part in parts], initial=0))
        self._words: bytes | None = b" %b " % b" ".join(parts).translate(_ASCII_FOLDED)
        self._found: dict[str, bytes] = {}

    @property
    def is_listed(self) -> bool:
        """Whether all words of the block were listed."""
        return self._words is None

    @property
    def size_bytes(self) -> int:
        """The most memory that the block ever takes, in bytes."""
        return _BLOCK_BYTES + _BYTES_PER_BYTE * self._starts[-1] + _TEXT_BYTES * len(self.lengths)

    def holding(self, term: str) -> bytes:
        """Return the numbers of the texts with a term, ascending, each as often as the text has the term."""
        found = self._found.get(term)
        if found is not None:
            return found
        words = self._words  # another thread may list the words meanwhile
        if words is None:
            return b""
        found = self._found[term] = bytes(self._sought(words, term))
        return found

    def list_words(self) -> bool:
        """List all words if enough terms were sought one by one; return whether it was done."""
        words = self._words
        if words is None or len(self._found) < _SOUGHT_TERMS:
            return False
        self._found = _listed([words[start:stop].split() for start, stop in pairwise(self._starts)])
        self._words = None
        return True

    def _sought(self, words: bytes, term: str) -> Iterator[int]:
        pattern = f" {term}{'' if _is_stem(term) else ' '}".encode("utf-8", "surrogatepass")
        starts, find = self._starts, words.find
        step = len(pattern) - 1  # the blank after a word is the blank before the next
        number, stop = 0, 0
        place = find(pattern)
        while place >= 0:
            if place >= stop:
                number = bisect_right(starts, place, number) - 1
                stop = starts[number + 1]
            yield number
            place = find(pattern, place + step)


class _Buffers(dict[bytes, bytearray]):
    """The numbers of the texts that have a word, by the word, to which they are appended."""

    def __init__(self) -> None:
        super().__init__()
        self.by_term: dict[str, bytearray] = {}
        self.with_digits: list[tuple[str, str]] = []

    def __missing__(self, word: bytes) -> bytearray:
        text = word.decode("utf-8", "surrogatepass")
        term = text[:STEM_LETTERS] if _is_stem(text) else text
        if term is text and _is_stem(text[:STEM_LETTERS]):
            self.with_digits.append((text, text[:STEM_LETTERS]))
        found = self[word] = self.by_term.setdefault(sys.intern(term), bytearray())
        return found


def _listed(texts: Sequence[Sequence[bytes]]) -> dict[str, bytes]:
    """Return for each term what `WordBlock.holding` returns."""
    buffers = _Buffers()
    for number, words in enumerate(texts):
        deque(map(bytearray.append, map(buffers.__getitem__, words), repeat(number)), maxlen=0)
    found = {term: bytes(numbers) for term, numbers in buffers.by_term.items()}
    # A word such as `kilnroom7` is found by its stem, too.
    for term, stem in buffers.with_digits:
        found[stem] = bytes(sorted(found.get(stem, b"") + found[term]))
    return found


def _is_stem(term: str) -> bool:
    return len(term) >= STEM_LETTERS and term.isalpha()


def blocks_of(texts: Sequence[str]) -> list[tuple[int, WordBlock]]:
    """Return the blocks of a conversation's texts, each with the number of its first text.

    Blocks begin at multiples of 256, at the end at multiples of 32, so that all but the last are found again when a
    text is added.
    """
    blocks: list[tuple[int, WordBlock]] = []
    start, length = 0, len(texts)
    while start < length:
        size = BLOCK_TEXTS if length - start >= BLOCK_TEXTS else TAIL_TEXTS
        blocks.append((start, _block(tuple(texts[start : start + size]))))
        start += size
    return blocks


def _block(texts: tuple[str, ...]) -> WordBlock:
    found = word_blocks.get(texts)
    if found is None:
        found = WordBlock(texts)
        if len(texts) in (TAIL_TEXTS, BLOCK_TEXTS):
            word_blocks.store(texts, found, found.size_bytes + sum(map(sys.getsizeof, texts)))
    return found


def _terms_as_bytes(text: str) -> bytes:
    return " ".join(tokenize(text)).encode("utf-8", "surrogatepass")


word_blocks: BoundedCache[tuple[str, ...], WordBlock] = BoundedCache(INDEX_BYTES)
"""Blocks by their texts, which everything in a process shares; no text of one conversation leads to another."""
