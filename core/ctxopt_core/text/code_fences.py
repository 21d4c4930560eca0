"""Find fenced code blocks, which are never cut into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"`{3,}|~{3,}")


def has_fence_mark(text: str, start: int, stop: int) -> bool:
    """Return whether anything that may open or close a fence is between the two offsets."""
    return text.find("```", start, stop) >= 0 or text.find("~~~", start, stop) >= 0


def fenced_blocks(text: str, begin: int = 0) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of each fenced block, from the start of its opening line to the end of its closing one.

    A fence that is never closed opens no block: passages of a longer document often begin inside one. `begin` is the
    start of a line outside fenced code.
    """
    opened: tuple[int, str] | None = None
    for start, stop, fence, rest in _fence_lines(text, begin):
        if opened is None:
            if fence[0] == "~" or "`" not in rest:
                opened = start, fence
        elif fence.startswith(opened[1]) and not rest.strip():
            yield opened[0], stop
            opened = None


def _fence_lines(text: str, begin: int) -> Iterator[tuple[int, int, str, str]]:
    """Yield (start, stop, fence, rest of the line) of the lines that start with a fence."""
    searched = begin
    for match in _FENCE.finditer(text, begin):
        line_start = text.rfind("\n", searched, match.start()) + 1
        if not line_start and searched > begin:
            continue
        line_start = line_start or begin
        searched = match.end()
        if text[line_start : match.start()].strip():
            continue
        line_stop = text.find("\n", match.end())
        line_stop = len(text) if line_stop < 0 else line_stop
        yield line_start, line_stop, match.group(), text[match.end() : line_stop]
