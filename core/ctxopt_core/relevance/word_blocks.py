"""Blocks of texts that remember which of the texts hold a term, in a cache whose memory is bounded."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, chain, compress, islice, pairwise, repeat
from typing import NamedTuple, Protocol

from ctxopt_core.relevance.bm25 import fold, is_unspaced, terms_of_word, words
from ctxopt_core.relevance.stems import SHORTEST_STEM, stem_prefix, stems_of_bytes
from ctxopt_core.runtime.text_cache import BoundedCache

# Texts in a block, so that the number of a string in its block is one byte. Larger blocks have fewer look-ups.
BLOCK_TEXTS = 256
# Texts in a block at the end of a conversation that grows: few, since a block is made anew when one is added to it.
TAIL_TEXTS = 32
INDEX_BYTES = 64 * 1024 * 1024  # bytes of all blocks with their texts: eight conversations of 1.5 million characters
_MOST_REMEMBERED = 128  # terms that a block remembers: those of about twenty questions
# Terms that are looked for in a block before all of its terms are listed, which takes about as long as to look for so
# many: 200 ns for each word, against 3 ns for each word and each term that is looked for (docs/why.md, "Behavior").
_SEARCHES_BEFORE_INDEX = 60
_INDEXED_AT_ONCE = 2  # blocks whose terms are listed in one search: 3 to 7 ms
_BLOCK_BYTES = 12 * 1024  # memory of a block beside its words: its tables, and that of the terms that it remembers
_TERM_BYTES = 272  # memory of a term that a block remembers: its string, its place in the table, and four objects
_TEXT_BYTES = 24  # memory of a string's place and length in its block, and of its place in the key
# Capitals become small letters, and ASCII signs that are in no word a blank; bytes of other letters stay.
_ASCII_FOLDED = bytes(
    byte if byte >= 128 else ord(chr(byte).lower()) if chr(byte).isalnum() else ord(" ") for byte in range(256)
)

# Typographic punctuation, arrows and emoji, which are in no word and of which no normal form has a letter or a digit: a
# text that has only these beside ASCII is read as fast as ASCII.
_SIGNS = re.compile(
    "[\u2010-\u2016\u2018-\u2027\u2030-\u203d\u203f-\u205e\u2190-\u23ff"
    "\u2500-\u2775\u2794-\u27bf\ufe0f\U0001f300-\U0001faff]+"
)


class Held(NamedTuple):
    """Which texts of a block have a term.

    `texts` has a byte for each text, the first in the lowest one, which is 1 where the text has the term: so the bytes
    of several terms are put together for all texts at once. `number` is how many texts have it. `repeated` has the
    number of such a string for each time after the first that the term is there, ascending.
    """

    texts: int
    number: int
    repeated: bytes


class Block(Protocol):
    """Up to 256 texts, and which of them hold a term.

    1. `holding` returns the same for the same term at every call.
    2. `lengths` are the characters of each text, `characters` their sum.
    3. The block never takes more than `size_bytes` bytes.
    4. A block may be used from several threads.
    """

    @property
    def lengths(self) -> Sequence[int]:
        """The characters of each text."""
        ...

    @property
    def characters(self) -> int:
        """Their sum."""
        ...

    @property
    def size_bytes(self) -> int:
        """The most memory that the block ever takes, in bytes."""
        ...

    def holding(self, term: str) -> Held:
        """Return which of the texts have a term, and how often."""
        ...


class WordBlock:
    """The words of up to 256 texts, in which a term is looked for when it is first asked for, and then remembered.

    Args:
        texts: The texts.

    Attributes:
        lengths: The characters of each text.
        characters: Their sum.
        searches: How many terms were looked for.
    """

    __slots__ = ("_found", "_starts", "_words", "characters", "lengths", "searches")

    def __init__(self, texts: Sequence[str]) -> None:
        self.lengths = tuple(map(len, texts))
        self.characters = sum(self.lengths)
        self.searches = 0
        parts = [text.encode() if text.isascii() else _as_bytes(text) for text in texts]
        self._starts = tuple(accumulate([len(part) + 1 for part in parts], initial=0))
        self._words = b" %b " % b" ".join(parts).translate(_ASCII_FOLDED)
        self._found: dict[str, Held] = {}

    @property
    def size_bytes(self) -> int:
        """The most memory that the block ever takes, in bytes."""
        # Each word is found for one term only, and has at least a letter and a blank.
        repeated = self._starts[-1] // 2
        # An integer has 30 bits in four bytes.
        terms = _MOST_REMEMBERED * (_TERM_BYTES + len(self.lengths) * 16 // 15)
        return _BLOCK_BYTES + self._starts[-1] + repeated + terms + _TEXT_BYTES * len(self.lengths)

    def holding(self, term: str) -> Held:
        """Return which of the texts have a term, and how often."""
        found = self._found.get(term)
        if found is None:
            if len(self._found) >= _MOST_REMEMBERED:
                # A copy first, since another thread may add a term meanwhile.
                self._found = dict(list(self._found.copy().items())[_MOST_REMEMBERED // 2 :])
            found = self._found[term] = _held(self._sought(term), len(self.lengths))
        return found

    def indexed(self) -> IndexedBlock:
        """Return the block with a list of all of its terms."""
        numbers: dict[str, bytearray] = {}
        for number, (start, stop) in enumerate(pairwise(self._starts)):
            for term in map(stems_of_bytes.__getitem__, self._words[start + 1 : stop].split()):
                found = numbers.get(term)
                if found is None:
                    numbers[term] = bytearray((number,))
                else:
                    found.append(number)
        return IndexedBlock(self.lengths, {term: bytes(found) for term, found in numbers.items()})

    def _sought(self, term: str) -> list[int]:
        """Return the number of the text at each place where a term is, ascending."""
        self.searches += 1
        prefix = (stem_prefix(term) if len(term) >= SHORTEST_STEM else term).encode("utf-8", "surrogatepass")
        sought = b" " + prefix
        parts = self._words.split(sought)
        if len(parts) == 1:
            return []
        skipped = len(sought)
        places = accumulate([len(part) + skipped for part in islice(parts, 1, None)], initial=len(parts[0]))
        # Where the next word has the term, too, the blank between them was cut out.
        endings = [part if (end := part.find(b" ")) < 0 else part[:end] for part in islice(parts, 1, None)]
        meant = {ending for ending in set(endings) if stems_of_bytes[prefix + ending] == term}
        within = compress(places, map(meant.__contains__, endings))
        return [after - 1 for after in map(bisect_right, repeat(self._starts), within)]


class IndexedBlock:
    """Up to 256 texts with the list of all their terms. To make it takes as long as to look for about sixty terms.

    Args:
        lengths: The characters of each text.
        numbers: The numbers of the texts with each term, ascending, each as often as the text has the term.
    """

    __slots__ = ("_numbers", "characters", "lengths", "size_bytes")

    def __init__(self, lengths: tuple[int, ...], numbers: dict[str, bytes]) -> None:
        self.lengths, self._numbers = lengths, numbers
        self.characters = sum(lengths)
        self.size_bytes = _TEXT_BYTES * len(lengths) + sum(
            map(sys.getsizeof, chain((numbers,), numbers, numbers.values()))
        )

    def holding(self, term: str) -> Held:
        """Return which of the texts have a term, and how often."""
        return _held(self._numbers.get(term, b""), len(self.lengths))


def _held(numbers: Sequence[int], length: int) -> Held:
    """Return which of so many texts have a term that is in those with some numbers."""
    if not numbers:
        return _NOWHERE
    held, repeated = bytearray(length), bytearray()
    for number in numbers:
        if held[number]:
            repeated.append(number)
        else:
            held[number] = 1
    return Held(int.from_bytes(held, "little"), len(numbers) - len(repeated), bytes(repeated))


_NOWHERE = Held(0, 0, b"")


def blocks_of(texts: Sequence[str]) -> list[tuple[int, Block]]:
    """Return the blocks of a conversation's texts, each with the number of its first text.

    Blocks begin at multiples of 256, at the end at multiples of 32, so that all but the last are found again when a
    text is added. Of those that were searched often, two get a list of their terms, so that no question waits for all.
    """
    blocks: list[tuple[int, Block]] = []
    start, length, listed = 0, len(texts), 0
    while start < length:
        size = BLOCK_TEXTS if length - start >= BLOCK_TEXTS else TAIL_TEXTS
        part = tuple(texts[start : start + size])
        block = _block(part)
        if isinstance(block, WordBlock) and block.searches >= _SEARCHES_BEFORE_INDEX and listed < _INDEXED_AT_ONCE:
            block = block.indexed()
            word_blocks.replace(part, block, _size(part, block))
            listed += 1
        blocks.append((start, block))
        start += size
    return blocks


def _block(texts: tuple[str, ...]) -> Block:
    found = word_blocks.get(texts)
    if found is None:
        found = WordBlock(texts)
        if len(texts) in (TAIL_TEXTS, BLOCK_TEXTS):
            word_blocks.store(texts, found, _size(texts, found))
    return found


def _size(texts: tuple[str, ...], block: Block) -> int:
    return block.size_bytes + sum(map(sys.getsizeof, texts))


def _as_bytes(text: str) -> bytes:
    """Return the words of a string that is not ASCII, those of scripts without blanks as their terms."""
    plain = _SIGNS.sub(" ", text)
    if plain.isascii():
        return plain.encode()
    found = words(fold(text))
    terms = [term for word in found for term in (terms_of_word(word) if is_unspaced(word) else (word,))]
    return " ".join(terms).encode("utf-8", "surrogatepass")


word_blocks: BoundedCache[tuple[str, ...], Block] = BoundedCache(INDEX_BYTES)
"""Blocks by their texts, which everything in a process shares; no text of one conversation leads to another."""
