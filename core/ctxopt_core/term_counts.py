"""How often texts hold the terms of a query, counted without splitting the texts into words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate

from ctxopt_core.relevance import STEM_LETTERS, bm25_of_counts, fold, is_unspaced
from ctxopt_core.text_memory import TextMemory

_NOT_IN_WORDS = bytes(byte if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))
_MOST_TERMS = 256
_SHORT = 4
_LONG = 2_000


def scanned_bm25(weights: Mapping[str, float], texts: Sequence[str]) -> list[float]:
    """Return about the BM25 score of each text, so cheaply that thousands of texts cost little.

    Args:
        weights: The terms of the query and what each is worth.
        texts: The texts.
    """
    return bm25_of_counts(weights, scanned_counts(weights, texts), list(map(len, texts)))


def scanned_counts(weights: Mapping[str, float], texts: Sequence[str]) -> list[dict[str, int]]:
    """Return about how often each text holds each term.

    Terms are looked for as pieces of text at the start of words; in texts beyond ASCII the longer ones anywhere. Of
    very many terms those of most weight are looked for.

    Args:
        weights: The terms and what each is worth.
        texts: The texts.
    """
    terms = sorted(weights, key=lambda term: (-weights[term], -len(term), term))[:_MOST_TERMS]
    counts: list[dict[str, int]] = [{} for _ in texts]
    if not terms:
        return counts
    narrow = [(term, _ascii_pattern(term)) for term in terms if term.isascii()]
    wide = [(term, _pattern(term)) for term in terms]
    short_ascii: list[tuple[int, bytes]] = []
    short_wide: list[tuple[int, str]] = []
    for n, text in enumerate(texts):
        if len(text) > _LONG:
            counts[n] = _counts(text, narrow, wide)
        elif text.isascii():
            short_ascii.append((n, _plain_words(text)))
        else:
            short_wide.append((n, " " + fold(text)))
    if short_ascii:
        owners = _Owners([(n, len(words)) for n, words in short_ascii])
        joined = b"".join(words for _, words in short_ascii)
        for term, plain in narrow:
            owners.count(term, _places(partial(joined.find, plain)), counts)
    if short_wide:
        owners = _Owners([(n, len(folded)) for n, folded in short_wide])
        all_folded = "".join(folded for _, folded in short_wide)
        for term, pattern in wide:
            owners.count(term, _places(partial(all_folded.find, pattern)), counts)
    return counts


def _places(find: Callable[[int], int]) -> Iterator[int]:
    place = find(0)
    while place >= 0:
        yield place
        place = find(place + 1)


class _Owners:
    """Which text owns a place in texts that were joined, since looking once through all of them is quicker."""

    __slots__ = ("_ends", "_numbers")

    def __init__(self, lengths: Sequence[tuple[int, int]]) -> None:
        self._numbers = [number for number, _ in lengths]
        self._ends = list(accumulate(length for _, length in lengths))

    def count(self, term: str, places: Iterable[int], counts: Sequence[dict[str, int]]) -> None:
        """Add the hits of a term to the counts of the texts that own them."""
        for place in places:
            found = counts[self._numbers[bisect_right(self._ends, place)]]
            found[term] = found.get(term, 0) + 1


def _counts(text: str, narrow: Iterable[tuple[str, bytes]], wide: Iterable[tuple[str, str]]) -> dict[str, int]:
    if text.isascii():
        plain = _plain_words(text)
        return {term: times for term, pattern in narrow if (times := plain.count(pattern))}
    folded = " " + fold(text)
    return {term: times for term, pattern in wide if (times := folded.count(pattern))}


def _plain_words(text: str) -> bytes:
    known = _remembered.get(text)
    if known is None:
        known = b" %b " % text.lower().encode("ascii").translate(_NOT_IN_WORDS)
        _remembered.store(text, known, 2 * len(text))
    return known


def _ascii_pattern(term: str) -> bytes:
    stem = len(term) >= STEM_LETTERS and term.isalpha()
    return f" {term}{'' if stem else ' '}".encode("ascii")


def _pattern(term: str) -> str:
    return term if len(term) >= _SHORT or is_unspaced(term) else f" {term}"


_remembered: TextMemory[bytes] = TextMemory()
