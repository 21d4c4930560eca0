"""Where the sentences of a string start and stop, whatever its language."""

from __future__ import annotations

from collections.abc import Iterator

from ctxopt_core.text.code_fences import fenced_blocks, has_fence_mark
from ctxopt_core.text.language_detection import guess_language
from ctxopt_core.text.sentence_rules import joins_previous, may_hold_several, sentence_starts_in_line

_BLOCK = 32_000  # characters that are split into lines at once; bounds what is read beyond the need


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
            if first > start and joins_previous(content[0]):
                first, content = first - 1, " " + content
            yield first
            if may_hold_several(content):
                yield from sentence_starts_in_line(content, language, offset=first, stop=last)
        start += len(line)


def _block_stop(text: str, start: int) -> int:
    """Return the end of a block of whole lines."""
    if len(text) - start <= _BLOCK:
        return len(text)
    line_break = text.rfind("\n", start, start + _BLOCK)
    if line_break < 0:
        line_break = text.find("\n", start + _BLOCK)
    return len(text) if line_break < 0 else line_break + 1
