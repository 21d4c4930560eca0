"""The record of a batch run, kept beside its results, so that `--resume` continues the same run or refuses.

The record holds digests and no content: one for each option that decides what is kept, and one for each of the first
lines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from ctxopt_core.command_line.request_input import Line

_CHUNK = 1 << 20  # bytes that are read at a time: a large file of results must not be in memory as a whole
MOST_LINES = 100  # lines with a digest: enough to notice another file, and the record stays small
_DIGITS = 16  # hexadecimal digits of a digest, 64 bits: two lines by chance alike are as good as impossible
_REMEDY = "leave out --resume to begin anew, or name another --out"


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


class RunRecord:
    """The record of one run.

    A new run calls `begin`. A resumed one calls `check_options`, `resume`, and `check` for each line that is done. Both
    then call `note` for each further line.

    Args:
        path: The file of the record; None where the results are not kept in a file, and no record is.
        options: The options that decide what is kept of a request, by name.
    """

    def __init__(self, path: Path | None, options: Mapping[str, object]) -> None:
        self._path = path
        self._options = {name: _digest(_stable(value)) for name, value in sorted(options.items())}
        self._lines: list[str] = []
        self._position = 0

    def begin(self) -> None:
        """Begin the record anew.

        Raises:
            OSError: It cannot be written.
        """
        self._lines, self._position = [], 0
        if self._path is not None:
            self._path.write_text(json.dumps({"options": self._options}) + "\n", encoding="utf-8")

    def check_options(self) -> None:
        """Check that the options are those of the run before. Nothing is written.

        Raises:
            ValueError: There is no record of them, or they were others.
            OSError: It cannot be read.
        """
        if self._path is None:
            return
        header, *_ = self._read(self._path)
        changed = [name for name in {**self._options, **header} if self._options.get(name) != header.get(name)]
        if changed:
            named = " and ".join(f"--{name.replace('_', '-')}" for name in changed)
            verb = "is" if len(changed) == 1 else "are"
            message = f"--resume needs the options of the run before, but {named} {verb} not as then; {_REMEDY}"
            raise ValueError(message)

    def resume(self, done: int) -> None:
        """Continue after the lines that are done.

        Raises:
            ValueError: There is no record of them.
            OSError: It cannot be read or written.
        """
        if self._path is None:
            return
        keep_lines(self._path, 1 + min(done, MOST_LINES))
        _, *self._lines = self._read(self._path)
        self._position = 0

    def check(self, line: Line) -> None:
        """Check that the next line is the one that was done.

        Raises:
            ValueError: It is another one.
        """
        if self._position < len(self._lines) and self._lines[self._position] != _digest(line.content):
            message = (
                f"--resume needs the FILE of the run before, but line {line.number} is not the one that was fitted "
                f"then; {_REMEDY}"
            )
            raise ValueError(message)
        self._position += 1

    def note(self, line: Line) -> None:
        """Add the next line, before its outcome is written."""
        if self._path is not None and self._position == len(self._lines) < MOST_LINES:
            self._lines.append(_digest(line.content))
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(f"{self._lines[-1]}\n")
        self._position += 1

    def _read(self, path: Path) -> tuple[Mapping[str, str], *tuple[str, ...]]:
        try:
            first, *digests = path.read_text(encoding="utf-8").splitlines()
            options = json.loads(first)["options"]
            return ({str(name): str(value) for name, value in options.items()}, *digests)
        except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError) as error:
            what = "is not there" if isinstance(error, FileNotFoundError) else "cannot be read"
            message = f"{path} {what}, which is the record of the results so far; {_REMEDY}"
            raise ValueError(message) from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _stable(value: object) -> bytes:
    """Return bytes that are equal for equal values of an option; the order of a list of choices does not matter."""
    return repr(sorted(value) if isinstance(value, tuple) else value).encode("utf-8", "backslashreplace")
