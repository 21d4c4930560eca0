"""BM25 of texts in which the terms of a query are counted without splitting the texts into words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ctxopt_core.relevance.bm25 import STEM_LETTERS, bm25_of_counts, fold, is_unspaced
from ctxopt_core.runtime.text_cache import TextCache

_NOT_IN_WORDS = bytes(byte if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))
_MOST_TERMS = 256  # terms that are looked for, those of most weight; each reads all texts once
_SHORT = 4  # letters; shorter terms are looked for at the start of a word only, as they are inside many others


def scanned_bm25(weights: Mapping[str, float], texts: Sequence[str]) -> list[float]:
    """Return about the BM25 score of each text, so cheaply that thousands of texts cost little.

    Terms are looked for as pieces of text at the start of words; in texts beyond ASCII the longer ones anywhere. Of
    very many terms those of most weight are looked for.

    Args:
        weights: The weight of each term of the query.
        texts: The texts.
    """
    terms = sorted(weights, key=lambda term: (-weights[term], -len(term), term))[:_MOST_TERMS]
    if not terms:
        return [0.0] * len(texts)
    narrow = [(term, _ascii_pattern(term)) for term in terms if term.isascii()]
    wide = [(term, _pattern(term)) for term in terms]
    counts = [_counts(text, narrow, wide) for text in texts]
    return bm25_of_counts(weights, counts, list(map(len, texts)))


def _counts(text: str, narrow: Iterable[tuple[str, bytes]], wide: Iterable[tuple[str, str]]) -> dict[str, int]:
    # One way for each kind of text, since `count` of bytes and of text are not the same call to a type checker.
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


_remembered: TextCache[bytes] = TextCache()
