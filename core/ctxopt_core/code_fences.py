"""Find fenced code blocks, which are never cut into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"`{3,}|~{3,}")


def fenced_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of each fenced block, from the start of its opening line to the end of its closing one.

    A fence that is never closed opens no block: passages of a longer document often begin inside one.
    """
    if "```" not in text and "~~~" not in text:
        return
    opened: tuple[int, str] | None = None
    for start, stop, fence, rest in _fence_lines(text):
        if opened is None:
            if fence[0] == "~" or "`" not in rest:
                opened = start, fence
        elif fence.startswith(opened[1]) and not rest.strip():
            yield opened[0], stop
            opened = None


def _fence_lines(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield (start, stop, fence, rest of the line) of the lines that start with a fence."""
    searched = -1
    for match in _FENCE.finditer(text):
        first_on_its_line = searched < 0
        line_break = text.rfind("\n", max(searched, 0), match.start())
        searched = match.end()
        if line_break < 0 and not first_on_its_line:
            continue
        line_start = line_break + 1
        if text[line_start : match.start()].strip():
            continue
        line_stop = text.find("\n", match.end())
        line_stop = len(text) if line_stop < 0 else line_stop
        yield line_start, line_stop, match.group(), text[match.end() : line_stop]
