"""What the results of a batch came of, kept beside them, so that `--resume` goes on with the same or not at all.

The record holds digests alone: one for each option that decides what is kept, and one for each of the first lines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from ctxopt_core.command_line.request_input import Line
from ctxopt_core.command_line.resuming import keep_lines

MOST_LINES = 100
_DIGITS = 16
_REMEDY = "leave out --resume to begin anew, or name another --out"


class RunRecord:
    """The record of one run.

    Args:
        path: Where it is kept; None where the results are not kept in a file, so that nothing is.
        options: What decides what is kept of a request, by the names of the options.
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
        """Go on behind the lines that are done.

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
        """Add the next line, before what becomes of it is written."""
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
            message = f"{path} {what}, which tells what the results so far came of; {_REMEDY}"
            raise ValueError(message) from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _stable(value: object) -> bytes:
    """Return bytes that are equal for equal values of an option; the order of a list of choices does not matter."""
    return repr(sorted(value) if isinstance(value, tuple) else value).encode("utf-8", "backslashreplace")
