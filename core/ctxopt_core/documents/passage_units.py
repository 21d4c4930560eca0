"""The units that passages are made of: whole sentences, short ones together with the next."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ctxopt_core.relevance.bm25 import BYTES_PER_TERM, is_unspaced, scanned_bm25, tokenize
from ctxopt_core.runtime.text_cache import TextCache
from ctxopt_core.text.boundaries import cluster_end, cluster_start
from ctxopt_core.text.sentences import sentence_spans

_BLOCK = 2_000  # characters of a block of which a long text reads all or nothing, about a page
_LOOK_BACK = 256  # characters in which a grapheme cluster that crosses the end of a block starts
_BORDER = re.compile(r"\n|(?<=[.!?…])\s|(?<=[。！？।॥؟۔])")
Span = tuple[int, int, bool]
Terms = tuple[str, ...]
_SHORT_BYTES = 48  # UTF-8 bytes, about 12 tokens: a shorter sentence says too little alone
_LONGEST_SENTENCE = 1_000  # characters; a longer run without sentence ends is a table or a list
_LONGEST_UNSPACED_SENTENCE = 300  # the same in scripts without blanks, where a character is about as much as three
_FULL_LINE = 60  # characters; a line of so many was broken at a fixed width, as those of 72 or 80
_FRAGMENT = 240  # characters of a fragment of a run, about two sentences
_DENSE_FRAGMENT = 80  # the same beyond ASCII
_BYTES_PER_UNIT = 160  # memory of a `Unit` in the cache, about
_LONGEST_CLUSTER = 64  # characters of one grapheme cluster, which bounds what is looked at for its end
_BLANKS = re.compile(r"\s*")
_LAST_BLANK = re.compile(r"\s(?=\S*\Z)")
_known_units: TextCache[tuple[Unit, ...]] = TextCache()
_known_terms: TextCache[tuple[Terms, ...]] = TextCache()


def stretches(text: str, weights: Mapping[str, float], limit: int) -> Iterator[Span]:
    """Yield (start, stop, whether to read it) of alternating stretches that together are `text`.

    About `limit` characters are read: the beginning, and the blocks with the best BM25.
    """
    blocks = list(_blocks(text))
    read = _blocks_to_read(text, blocks, weights, limit)
    start = 0
    for number, (_, stop) in enumerate(blocks):
        if number + 1 == len(blocks) or (number in read) != (number + 1 in read):
            yield start, stop, number in read
            start = stop


def _blocks_to_read(text: str, blocks: list[tuple[int, int]], weights: Mapping[str, float], limit: int) -> set[int]:
    scores = scanned_bm25(weights, [text[start:stop] for start, stop in blocks])
    read = {0}
    left = limit - blocks[0][1]
    for number in sorted(range(1, len(blocks)), key=lambda number: (-scores[number], number)):
        start, stop = blocks[number]
        left -= stop - start
        if left < 0:
            break
        read.add(number)
    return read


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the borders of blocks of about 2,000 characters, which end with a line or a sentence if possible."""
    start = 0
    while len(text) - start > 2 * _BLOCK:
        border = _BORDER.search(text, start + _BLOCK, start + 2 * _BLOCK)
        cut = border.end() if border else text.rfind(" ", start + _BLOCK, start + 2 * _BLOCK)
        if cut < 0:
            near = start + _BLOCK - _LOOK_BACK
            cut = near + (cluster_start(text[near : start + 2 * _BLOCK], _LOOK_BACK) or _LOOK_BACK)
        yield start, cut
        start = cut
    yield start, len(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One unit of passages.

    Args:
        start: Where it starts, the white space before it included; the first unit starts with its first character.
        stop: Where it ends, without white space after it.
        sentence: Whether it is made of whole sentences; False for a fragment of a run without sentence ends.
    """

    start: int
    stop: int
    sentence: bool


def read_units(text: str, weights: Mapping[str, float], limit: int) -> tuple[tuple[Unit, ...], tuple[Terms, ...]]:
    """Return the units of `text` in order, and the terms of each.

    Together the units are the text without the white space at its two ends. A sentence of less than about 12 tokens
    says too little alone and is joined to the next one; a sentence that goes on in the next line is one. A run of more
    than 1,000 characters without a sentence end, or of 300 in a script without blanks, is cut into fragments at lines
    or words. Units and terms are cached. Without `weights`, the terms that are looked for, no terms are returned. About
    `limit` characters are read; in a longer text each part that is not read is one unit without terms.
    """
    if len(text) <= limit:
        return _units_of(text), _terms_of(text) if weights else ()
    units: list[Unit] = []
    terms: list[Terms] = []
    begin = len(text) - len(text.lstrip())
    for start, stop, read in stretches(text, weights, limit):
        part = text[start:stop]
        found = _units_of(part) if read else (Unit(start=0, stop=len(part.rstrip()), sentence=False),)
        for unit in found:
            if unit.stop:
                units.append(Unit(start=begin, stop=start + unit.stop, sentence=unit.sentence))
                begin = start + unit.stop
        if weights:
            terms.extend(_terms_of(part) if read else [()] * bool(found[0].stop))
    return tuple(units), tuple(terms)


def _units_of(text: str) -> tuple[Unit, ...]:
    known = _known_units.get(text)
    if known is None:
        known = tuple(Unit(start=start, stop=stop, sentence=sentence) for start, stop, sentence in _spans(text))
        _known_units.store(text, known, sys.getsizeof(text) + _BYTES_PER_UNIT * len(known))
    return known


def _terms_of(text: str) -> tuple[Terms, ...]:
    known = _known_terms.get(text)
    if known is None:
        known = tuple(tuple(tokenize(text[unit.start : unit.stop])) for unit in _units_of(text))
        size = sum(BYTES_PER_TERM * (len(terms) + 1) for terms in known)
        _known_terms.store(text, known, sys.getsizeof(text) + size)
    return known


def _spans(text: str) -> list[Span]:
    spans: list[Span] = []
    start: int | None = None
    stop = 0
    for sentence_start, stop in _unwrapped(text):
        start = sentence_start if start is None else start
        if _is_run(text, sentence_start, stop):
            spans.extend(_fragments(text, start, stop))
        elif _is_short(text[start:stop]):
            continue
        else:
            spans.append((start, stop, True))
        start = stop
    if start is not None and start < stop:
        joined = spans.pop()[0] if spans and spans[-1][2] else start
        spans.append((joined, stop, True))
    return spans


def _unwrapped(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences, those that go on in the next line as one."""
    start = stop = -1
    for next_start, next_stop in sentence_spans(text):
        if start >= 0 and not _goes_on(text, start, stop, next_start):
            yield start, stop
            start = next_start
        start, stop = next_start if start < 0 else start, next_stop
    if start >= 0:
        yield start, stop


def _goes_on(text: str, start: int, stop: int, following: int) -> bool:
    """Return whether a sentence that ends with its line goes on in the next one, as in text of a fixed width."""
    if text.count("\n", stop, following) != 1 or following - start > _LONGEST_SENTENCE:
        return False
    last, first = text[stop - 1], text[following]
    if not (last.isalnum() or last in ",;-–—(/") or not first.isalnum():
        return False
    return first.islower() or stop - max(start, text.rfind("\n", start, stop)) >= _FULL_LINE


def _is_run(text: str, start: int, stop: int) -> bool:
    """Return whether a stretch without sentence ends is too long to be one sentence."""
    if stop - start <= _LONGEST_UNSPACED_SENTENCE:
        return False
    words = text[start : start + _LONGEST_UNSPACED_SENTENCE].split()
    return stop - start > _LONGEST_SENTENCE or 2 * sum(map(is_unspaced, words)) >= len(words)


def _is_short(text: str) -> bool:
    text = text.strip()
    return (len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))) < _SHORT_BYTES


def _fragments(text: str, start: int, stop: int) -> Iterator[Span]:
    while stop - start > 2 * (size := _fragment_size(text, start)):
        blanks = _BLANKS.match(text, start, stop)
        cut = min(stop, _fragment_end(text, blanks.end() if blanks else start, size))
        yield start, cut, False
        start = cut
    if start < stop:
        yield start, stop, False


def _fragment_size(text: str, start: int) -> int:
    return _FRAGMENT if text[start : start + _FRAGMENT].isascii() else _DENSE_FRAGMENT


def _fragment_end(text: str, start: int, size: int) -> int:
    """Return the end of a line in the second half of a fragment; without one, of a word, or of a grapheme cluster."""
    middle, stop = start + size // 2, start + size
    line_break = text.rfind("\n", middle, stop)
    blank = _LAST_BLANK.search(text, middle, stop)
    if line_break > 0 or blank:
        cut = line_break if line_break > 0 else blank.start() if blank else stop
        return start + len(text[start:cut].rstrip())
    # A fragment starts on a border, so that the next border is found by looking at the fragment alone.
    around = text[start : stop + _LONGEST_CLUSTER]
    cut = cluster_start(around, size)
    return start + (cut if cut > size // 2 else cluster_end(around, size))
