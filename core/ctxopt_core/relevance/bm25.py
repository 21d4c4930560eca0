"""Lexical relevance: how well texts match a query, by the words that they share with it (BM25)."""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from ctxopt_core.runtime.text_cache import TextCache

STEM_LETTERS = 6  # letters that two forms of a word share; fewer merge different words, more miss forms of short ones
BYTES_PER_TERM = 64  # memory of a term in a cache, about: a short string and a place in a list
SATURATION = 1.2  # Lucene's k1: how fast further occurrences of a term add less
LENGTH_NORM = 0.75  # Lucene's b: how much long texts are scored down, from 0.0 to 1.0
_MOST_STEMS = 16_384  # stems in the cache, about 2 MB, more than the words of a book
_LONGEST_REMEMBERED = 32  # characters; longer words are hashes and the like, which do not come again
# Marks on a letter belong to its word, though `\w` does not match them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0dff\u0f18-\u0fbc\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff"
)
_HAN_AND_KANA = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANGUL = "\u1100-\u11ff\uac00-\ud7a3"
_SOUTH_EAST_ASIA = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0edf\u1000-\u1049\u1780-\u17d3"
# Capitals become small letters, and what is in no word a blank: splitting so takes half the time of the pattern.
_LOWER_CASE_WORDS = bytes(ord(sign.lower()) if sign.isalnum() else 32 for sign in map(chr, range(128))) + bytes(128)
_ASCII_WORDS = re.compile(r"[a-z0-9]+")
_WORDS = re.compile(
    f"[{_HAN_AND_KANA}{_HANGUL}]+|[{_SOUTH_EAST_ASIA}]+"
    f"|(?:(?![{_HAN_AND_KANA}{_HANGUL}{_SOUTH_EAST_ASIA}])[^\\W_]|[{_MARKS}])+"
)
_NOT_IN_WORDS = bytes(byte if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))
_MOST_SCANNED_TERMS = 256  # terms that are looked for, those of most weight; each reads all texts once
_SHORT_TERM = 4  # letters; shorter terms are looked for at the start of a word only, as they are inside many others
_FIRST_UNSPACED = "\u0e01"
_BY_PAIRS = re.compile(f"[{_HAN_AND_KANA}{_HANGUL}]")
_BY_TRIPLES = re.compile(f"[{_SOUTH_EAST_ASIA}]")


def bm25_scorer(query: str, texts: Sequence[str]) -> list[float]:
    """Score texts by BM25: the words that they share with the query, the rarer among the texts the better.

    No model and no language is needed: words are compared by Unicode's normal form and case, by their first six
    letters, and in scripts without blanks by two or three characters at a time. It is a `Scorer`, with Lucene's inverse
    document frequency, k1 = 1.2 and b = 0.75.

    Args:
        query: The user's question.
        texts: The texts; the rarity of a word is judged among them.

    Returns:
        One score for each text, 0.0 if it shares no word with the query; never negative.

    Example:
        >>> from ctxopt_core import bm25_scorer
        >>> scores = bm25_scorer("cracked kiln", ["The kiln cracked.", "A wall cracked.", "Snow fell."])
        >>> [round(score, 2) for score in scores]
        [1.38, 0.45, 0.0]
    """
    wanted = dict.fromkeys(tokenize(query), 1.0)
    if not wanted:
        return [0.0] * len(texts)
    known = list(map(counted_terms, texts))
    return bm25_of_counts(wanted, [text.counts for text in known], [text.length for text in known])


class CountedTerms(NamedTuple):
    """How often each term occurs in one text, and how many terms it has in all."""

    counts: dict[str, int]
    length: int


def counted_terms(text: str) -> CountedTerms:
    """Return the terms of `text`, counted; cached and shared, so that they must not be changed."""
    known = _remembered.get(text)
    if known is None:
        terms = tokenize(text)
        known = CountedTerms(Counter(terms), len(terms))
        _remembered.store(text, known, sys.getsizeof(text) + BYTES_PER_TERM * len(known.counts))
    return known


def bm25_of_counts(
    weights: Mapping[str, float], counts: Sequence[Mapping[str, int]], lengths: Sequence[int]
) -> list[float]:
    """Return the BM25 score of texts by how often each has its terms; terms without a weight add nothing."""
    rarity = inverse_frequencies(Counter(chain.from_iterable(counts)), len(counts))
    term_scores = {term: weights[term] * rare for term, rare in rarity.items() if term in weights}
    mean_length = sum(lengths) / len(lengths) if term_scores else 1.0
    return [
        _score(found, term_scores, length / mean_length) if found else 0.0
        for found, length in zip(counts, lengths, strict=True)
    ]


def scanned_bm25(weights: Mapping[str, float], texts: Sequence[str]) -> list[float]:
    """Return about the BM25 score of each text, so cheaply that thousands of texts cost little.

    Terms are looked for as pieces of text at the start of words; in texts beyond ASCII the longer ones anywhere. Of
    very many terms those of most weight are looked for.
    """
    terms = sorted(weights, key=lambda term: (-weights[term], -len(term), term))[:_MOST_SCANNED_TERMS]
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
    known = _scanned_words.get(text)
    if known is None:
        known = b" %b " % text.lower().encode("ascii").translate(_NOT_IN_WORDS)
        _scanned_words.store(text, known, 2 * len(text))
    return known


def _ascii_pattern(term: str) -> bytes:
    stem = len(term) >= STEM_LETTERS and term.isalpha()
    return f" {term}{'' if stem else ' '}".encode("ascii")


def _pattern(term: str) -> str:
    return term if len(term) >= _SHORT_TERM or is_unspaced(term) else f" {term}"


def inverse_frequencies(holding: Mapping[str, int], texts: int) -> dict[str, float]:
    """Return how rare each term is by how many texts have it (Lucene's inverse document frequency)."""
    rarity = {number: math.log1p((texts - number + 0.5) / (number + 0.5)) for number in frozenset(holding.values())}
    return {term: rarity[number] for term, number in holding.items()}


def _score(counts: Mapping[str, int], term_scores: Mapping[str, float], relative_length: float) -> float:
    damping = SATURATION * (1.0 - LENGTH_NORM + LENGTH_NORM * relative_length)
    grown = SATURATION + 1.0
    return math.fsum(
        [s * times * grown / (times + damping) for term, times in counts.items() if (s := term_scores.get(term))]
    )


def tokenize(text: str) -> list[str]:
    """Return the terms by which `text` is compared.

    A term is a word in Unicode's NFKC form, case folded; of a word of letters, the first six, so that its forms agree.
    Runs of Chinese, Japanese and Korean characters give every two neighbors, runs of Thai, Lao, Khmer and Burmese
    every three.
    """
    if text.isascii():
        return list(map(_stems.__getitem__, text.encode().translate(_LOWER_CASE_WORDS).decode().split()))
    folded = fold(text)
    found = words(folded)
    if folded.isascii():
        return list(map(_stems.__getitem__, found))
    terms: list[str] = []
    for word in found:
        if word < _FIRST_UNSPACED:
            terms.append(stem(word))
        else:
            terms.extend(terms_of_word(word))
    return terms


def words(folded: str) -> list[str]:
    """Return the words of a folded text; a run of a script without blanks is one word."""
    return (_ASCII_WORDS if folded.isascii() else _WORDS).findall(folded)


def is_unspaced(word: str) -> bool:
    """Return whether a word is a run of characters of a script that puts no blanks between words."""
    return bool(_BY_PAIRS.match(word) or _BY_TRIPLES.match(word))


def fold(text: str) -> str:
    """Return the form in which texts are compared: NFKC, case folded."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def terms_of_word(word: str) -> Iterable[str]:
    """Return the terms of one word that `words` returned."""
    if _BY_PAIRS.match(word):
        return _neighbors(word, 2)
    if _BY_TRIPLES.match(word):
        return _neighbors(word, 3)
    return (stem(word),)


def _neighbors(run: str, size: int) -> Iterator[str]:
    if len(run) <= size:
        yield run
    for start in range(len(run) - size + 1 if len(run) > size else 0):
        yield run[start : start + size]


def stem(word: str) -> str:
    """Return the first six letters of a word; the whole word where it has a digit."""
    if len(word) <= STEM_LETTERS or not (word.isalpha() or not any(map(str.isdigit, word))):
        return word
    return word[:STEM_LETTERS]


class _Stems(dict[str, str]):
    """A cache of stems, since most words come again and again; hashes and the like are left out."""

    def __missing__(self, word: str) -> str:
        found = stem(word)
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_STEMS:
                self.clear()
            self[word] = found
        return found


_remembered: TextCache[CountedTerms] = TextCache()
_stems = _Stems()
_scanned_words: TextCache[bytes] = TextCache()
