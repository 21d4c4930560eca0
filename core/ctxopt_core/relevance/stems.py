"""The stems by which the words of a conversation are compared: an English word loses its ending."""

from __future__ import annotations

from ctxopt_core.relevance.bm25 import STEM_LETTERS, is_unspaced, stem, terms_of_word

SHORTEST_STEM = 3  # letters: with fewer, unrelated words would be the same
_MOST_WORDS = 16_384  # words in the cache, about 2 MB, more than those of a book
_LONGEST_REMEMBERED = 32  # bytes; longer words are hashes and the like, which do not come again


def light_stem(word: str) -> str:
    """Return the stem of a folded word: without the endings s, es, ed, ing and a silent e, at most six letters.

    A word with a digit stays as it is. Of other words than ASCII ones there are the first six letters. A stem of one or
    two letters is the whole word; all words of a stem begin with `stem_prefix` of it.

    Example:
        >>> [light_stem(word) for word in ("hiking", "hikes", "stories", "story", "running", "bus", "glass")]
        ['hik', 'hik', 'stori', 'stori', 'run', 'bus', 'glass']
    """
    if len(word) <= SHORTEST_STEM or not word.isascii() or not word.isalpha():
        return stem(word)
    if word.endswith("sses") or (word.endswith("ies") and len(word) > SHORTEST_STEM + 1):
        word = word[:-2]
    elif word[-1] == "s" and word[-2] not in "su":
        word = word[:-1]
    for ending in ("ing", "ed"):
        start = word[: -len(ending)]
        if word.endswith(ending) and len(start) >= SHORTEST_STEM and not _VOWELS.isdisjoint(start):
            doubled = len(start) > SHORTEST_STEM and start[-1] == start[-2] and start[-1] not in "lsz"
            word = start[:-1] if doubled else start
            break
    if len(word) > SHORTEST_STEM and word[-1] == "y":
        word = word[:-1] + "i"
    elif len(word) > SHORTEST_STEM and word[-1] == "e":
        word = word[:-1]
    return word[:STEM_LETTERS]


def stem_prefix(term: str) -> str:
    """Return what all words of a stem begin with."""
    return term[:-1] if term[-1] == "i" and len(term) > SHORTEST_STEM else term


def light_terms(word: str) -> tuple[str, ...]:
    """Return the terms of one word that `words` returned: its stem, or pairs or triples of characters."""
    return tuple(terms_of_word(word)) if is_unspaced(word) else (light_stem(word),)


class _Terms(dict[bytes, str]):
    """A cache of stems by the bytes of their words."""

    def __missing__(self, word: bytes) -> str:
        found = light_stem(word.decode("utf-8", "surrogatepass"))
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = found
        return found


_VOWELS = frozenset("aeiouy")
stems_of_bytes = _Terms()
"""The stem of a word, which is given in UTF-8."""
