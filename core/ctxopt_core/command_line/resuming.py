"""Files of lines that an interrupted run has left behind."""

from __future__ import annotations

from pathlib import Path

_CHUNK = 1 << 20


def keep_lines(file: Path, most: int | None = None) -> int:
    """Cut a file to its whole lines, since an interrupted run may have left the beginning of one at its end.

    Args:
        file: The file; one that is not there has no lines.
        most: The most lines that are kept.

    Returns:
        How many lines it has now.
    """
    if not file.exists():
        return 0
    lines, end = _whole_lines(file, most)
    if file.stat().st_size > end:
        with file.open("rb+") as stream:
            stream.truncate(end)
    return lines


def _whole_lines(file: Path, most: int | None) -> tuple[int, int]:
    """Return how many whole lines there are, and where the last of them ends."""
    lines = position = end = 0
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            found = chunk.count(b"\n")
            if most is not None and lines + found >= most:
                return most, position + _end_of_line(chunk, most - lines) if most > lines else end
            if found:
                lines, end = lines + found, position + chunk.rindex(b"\n") + 1
            position += len(chunk)
    return lines, end


def _end_of_line(chunk: bytes, number: int) -> int:
    end = 0
    for _ in range(number):
        end = chunk.index(b"\n", end) + 1
    return end
