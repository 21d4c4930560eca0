"""Where the sentences of a string start and stop, whatever its language.

The `sentencex` package knows the abbreviations and quotation marks of about 300 languages. What it proposes for one
line is corrected by a few rules that are valid in any of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from ctxopt_core.text.code_fences import fenced_blocks, has_fence_mark
from ctxopt_core.text.language_detection import guess_language

_BLOCK = 32_000  # characters that are split into lines at once; bounds what is read beyond the need
_LONGEST_CALL = 4_000  # characters of one call of `sentencex`, which bounds how far a long line is read beyond `stop`
_OVERLAP = 64  # characters that are read again where a window of so many has no sentence start
_LONGEST_MARKER = 12  # characters of a list marker with its punctuation, such as "(viii) ", which is no sentence
_REMEMBERED_LINES = 64  # lines in the cache

_SURROGATE = re.compile("[\ud800-\udfff]")
_ASCII_END = re.compile(r"[.!?)]\S{0,12}\s")
_BLANKS = re.compile(r"\s*")
_CLOSERS = re.compile(r"""[\ufe0e\ufe0f]?(?:[])}"'’”»*_`]+(?=\s)|[」』）】〉》”’]+)?\s*""")
_NO_SENTENCE = re.compile(r"\W*(?:\d{1,3}|[A-Za-zÀ-ɏͰ-ӿ]|[ivxIVX]{2,4})?\W*")
_UNSPACED = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uff9d\U00020000-\U0003ffff]")
_MARKS = re.compile("""[(\\[（「『【《〈“]|[.!?。！？…]{0,8}["'’]{0,2}[)\\]）」』】》〉”]|[。！？｡।॥۔؟]+|…+["'’»]*""")
_DIGIT_AFTER_END = re.compile("[。！？｡।॥۔؟][0-9０-９]")
_OPENERS = frozenset("([（「『【《〈“")
_BRACKETS = frozenset("([（【")
_CLOSING = frozenset(")]）」』】》〉”")


def sentence_spans(
    text: str, *, start: int = 0, stop: int | None = None, language: str | None = None
) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of every sentence, without the white space around it; the arguments of `sentence_starts`."""
    begin: int | None = None
    for following in sentence_starts(text, start=start, stop=stop, language=language):
        if begin is not None:
            yield begin, begin + len(text[begin:following].rstrip())
        begin = following
    if begin is not None:
        yield begin, begin + len(text[begin:].rstrip())


def line_start_before(text: str, position: int) -> int:
    """Return the last start of a line, at or before `position`, that is not inside fenced code."""
    line_start = text.rfind("\n", 0, max(0, position)) + 1
    sides = sorted([(0, line_start), (line_start, len(text))], key=lambda side: side[1] - side[0])
    if not all(has_fence_mark(text, *side) for side in sides):
        return line_start
    for fence_start, fence_stop in fenced_blocks(text):
        if line_start <= fence_start:
            break
        if line_start < fence_stop:
            return fence_start
    return line_start


def sentence_starts(
    text: str, *, start: int = 0, stop: int | None = None, language: str | None = None
) -> Iterator[int]:
    """Yield the offset of the first character of every sentence, reading no further than necessary.

    A sentence is also a line without a sentence end, and a whole fenced code block.

    Args:
        text: The whole text, of any language or none.
        start: Where to begin: the start of a line outside fenced code, or 0.
        stop: Where to end the search; what starts soon after it may still come.
        language: A language code such as `"de"`; by default it is guessed from the text.
    """
    chosen = guess_language(text) if language is None else language
    fences = fenced_blocks(text, start)
    fence: tuple[int, int] | None = None
    position = start
    last = len(text) if stop is None else min(stop, len(text))
    while position < last:
        block_stop = _block_stop(text, position)
        if fence is None and has_fence_mark(text, position, block_stop):
            fence = next(fences, (len(text), len(text)))
        prose_stop = block_stop if fence is None else min(block_stop, fence[0])
        yield from _starts_in_prose(text, position, prose_stop, last, chosen)
        position = prose_stop
        if fence is not None and fence[0] == position < last:
            position = fence[1]
            yield position - len(text[fence[0] : position].lstrip())
            fence = None


def _starts_in_prose(text: str, start: int, stop: int, last: int, language: str) -> Iterator[int]:
    for line in text[start:stop].splitlines(keepends=True):
        if start >= last:
            return
        content = line.strip()
        if content:
            first = start + len(line) - len(line.lstrip())
            if first > start and _joins_previous(content[0]):
                first, content = first - 1, " " + content
            yield first
            if _may_hold_several(content):
                yield from _starts_in_line(content, language, first, last)
        start += len(line)


def _block_stop(text: str, start: int) -> int:
    """Return the end of a block of whole lines."""
    if len(text) - start <= _BLOCK:
        return len(text)
    line_break = text.rfind("\n", start, start + _BLOCK)
    if line_break < 0:
        line_break = text.find("\n", start + _BLOCK)
    return len(text) if line_break < 0 else line_break + 1


def _may_hold_several(line: str) -> bool:
    """Return whether a line may have more than one sentence, by a quick check."""
    return ". " in line or not line.isascii() or _ASCII_END.search(line) is not None


def _starts_in_line(line: str, language: str, offset: int, stop: int) -> Iterator[int]:
    """Yield the offsets at which the second and later sentences of the line at `offset` start, as far as `stop`."""
    position, last = 0, min(len(line), stop - offset)
    while position < last:
        window = line if len(line) <= _LONGEST_CALL else line[position : position + _LONGEST_CALL]
        starts = [offset + position + start for start in _starts(window, language)]
        yield from starts
        if position + _LONGEST_CALL >= len(line):
            return
        # The last sentence of the window is cut off: it is looked at again, with what follows it.
        position = starts[-1] - offset if starts else position + _LONGEST_CALL - _OVERLAP


def _joins_previous(character: str) -> bool:
    """Return whether a character is combined with the one before it: an accent, a variation selector, a joiner."""
    if character.isascii():
        return False
    return character == "\u200d" or unicodedata.category(character)[0] == "M"


# The head and the tail of a string are looked for one after the other, so the same lines come again at once.
@lru_cache(maxsize=_REMEMBERED_LINES)
def _starts(line: str, language: str) -> Sequence[int]:
    if not _may_hold_several(line):
        return ()
    starts: list[int] = []
    previous = 0
    for proposed in _proposals(line, language):
        start = proposed
        # Most proposals are between a blank and a letter, far from the one before, and need no closer look.
        if line[start - 1] != " " or not line[start].isalnum() or start - previous <= _LONGEST_MARKER:
            start = _after_closers(line, proposed)
            if start <= previous or not _is_boundary(line, previous, start):
                continue
        starts.append(start)
        previous = start
    return _with_missed(line, starts)


def _proposals(line: str, language: str) -> list[int]:
    from sentencex import segment  # pyright: ignore[reportAttributeAccessIssue]  # it is compiled

    try:
        sentences = segment(language, line)
    except UnicodeEncodeError:
        line = _SURROGATE.sub("\ufffd", line)
        sentences = segment(language, line)
    offsets = list(accumulate(map(len, sentences)))
    if offsets and offsets[-1] == len(line):
        return offsets[:-1]
    return _found_offsets(line, sentences)


def _found_offsets(line: str, sentences: list[str]) -> list[int]:
    """Search for each sentence, for the case that together they are not the line."""
    offsets: list[int] = []
    position = 0
    for sentence in sentences:
        found = line.find(sentence, position)
        if found > 0:
            offsets.append(found)
        position = max(found, position) + len(sentence)
    return offsets


def _after_closers(line: str, offset: int) -> int:
    """Move a boundary after the closing marks and the white space that belong to the sentence before it."""
    closers = _BLANKS if line[offset - 1].isspace() else _CLOSERS
    match = closers.match(line, offset)
    return match.end() if match else offset


def _is_boundary(line: str, previous: int, start: int) -> bool:
    if start >= len(line):
        return False
    following, before = line[start], line[start - 1]
    if _joins_previous(following):
        return False
    if not before.isspace() and before.isascii() and not _UNSPACED.match(following):
        return False
    if before == "」" and following in "とっ、":
        return False
    return start - previous > _LONGEST_MARKER or not _NO_SENTENCE.fullmatch(line, previous, start)


def _with_missed(line: str, starts: list[int]) -> list[int]:
    everywhere = not line.isascii() and ("…" in line or _DIGIT_AFTER_END.search(line) is not None)
    if not everywhere and _BRACKETS.isdisjoint([line[0], *map(line.__getitem__, starts)]):
        return starts
    complete: list[int] = []
    begin = 0
    for stop in (*starts, len(line)):
        if everywhere or line[begin] in _BRACKETS:
            complete.extend(_missed(line, begin, stop))
        complete.append(stop)
        begin = stop
    return complete[:-1]


def _missed(line: str, begin: int, stop: int) -> Iterator[int]:
    """Yield the starts that `sentencex` misses: after `…`, after `(Whole sentence.)`, before a digit."""
    depth = 0
    bracketed = line[begin] in _BRACKETS
    for mark in _MARKS.finditer(line, begin, stop):
        text = mark.group()
        if text in _OPENERS:
            depth += 1
            continue
        closes = text[-1] in _CLOSING
        if closes:
            depth = max(0, depth - 1)
        blanks = _BLANKS.match(line, mark.end())
        start = blanks.end() if blanks else mark.end()
        if depth or start >= stop or line[start].islower() or _joins_previous(line[start]):
            continue
        if (bracketed and len(text) > 1) if closes else _ends_sentence(line, text, mark.end(), start):
            yield start
            bracketed = line[start] in _BRACKETS


def _ends_sentence(line: str, mark: str, end: int, start: int) -> bool:
    if mark[0] == "…":
        return not line[start].isdigit() and (start > end or _UNSPACED.match(line, start) is not None)
    return line[start].isdigit()
