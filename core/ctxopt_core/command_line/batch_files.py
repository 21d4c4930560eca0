"""The files that a batch writes line by line: fitted requests, rejected lines, and reports."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from ctxopt_core.command_line.request_input import Line
from ctxopt_core.command_line.run_record import RunRecord, keep_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPaths:
    """Where a batch writes to.

    Args:
        out: The fitted requests; None for the standard output.
        rejected: The lines that could not be fitted, as they came; None for nowhere.
        reports: A report for each fitted request, as JSON; None for nowhere.
    """

    out: Path | None = None
    rejected: Path | None = None
    reports: Path | None = None

    @property
    def record(self) -> Path | None:
        """The file of the run's record; None where the results are not kept in a file."""
        if self.out is None or (self.out.exists() and not self.out.is_file()):
            return None
        return self.out.with_name(f"{self.out.name}.run")

    @property
    def all(self) -> tuple[Path, ...]:
        """The files."""
        return tuple(path for path in (self.out, self.rejected, self.reports, self.record) if path is not None)

    @property
    def hold_results(self) -> bool:
        """Whether a run has left results, even if it is only half a line."""
        files = (path for path in (self.out, self.rejected) if path is not None and path.is_file())
        return any(path.stat().st_size for path in files)

    def keep_what_is_done(self) -> tuple[int, int]:
        """Cut the files to the whole lines that an interrupted run has left.

        Returns:
            How many requests were fitted, and how many rejected. Each is a line of `out` or of `rejected`, so that the
            sum says where the run stopped.
        """
        fitted = 0 if self.out is None else keep_lines(self.out)
        if self.reports is not None:
            keep_lines(self.reports, fitted)
        return fitted, 0 if self.rejected is None else keep_lines(self.rejected)


class BatchFiles:
    """Writes the outcome of each line at once, so that an interrupted run loses nothing.

    It is a context manager: entering it opens the files. Then `write` or `reject` is called for each line, in order.

    Args:
        paths: Where to write. The file of rejected lines is created with the first of them.
        record: Notes each line before its outcome is written; None for no record.
        resume: Whether to append to what is already there.
    """

    def __init__(self, paths: BatchPaths, record: RunRecord | None = None, *, resume: bool = False) -> None:
        self._paths = paths
        self._record = record or RunRecord(None, {})
        self._mode = "ab" if resume else "wb"
        self._stack = ExitStack()
        self._out: IO[bytes] = sys.stdout.buffer
        self._rejected: IO[bytes] | None = None
        self._reports: IO[bytes] | None = None

    def __enter__(self) -> Self:
        rejected = self._paths.rejected
        with self._stack:  # closes what is open where the next cannot be opened
            if self._paths.out is not None:
                self._out = self._opened(self._paths.out)
            if self._paths.reports is not None:
                self._reports = self._opened(self._paths.reports)
            if rejected is not None and not rejected.parent.is_dir():  # said now, and not with the first of its lines
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(rejected))
            self._stack = self._stack.pop_all()
        if self._mode == "wb" and rejected is not None and rejected.is_file():
            rejected.write_bytes(b"")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def reports_wanted(self) -> bool:
        """Whether there is a file for reports."""
        return self._paths.reports is not None

    def write(self, line: Line, fitted: bytes, report: bytes | None) -> None:
        """Write a fitted request, its report first: a report without its request is cut off when a run is resumed."""
        self._record.note(line)
        if self._reports is not None and report is not None:
            _write(self._reports, report)
        _write(self._out, fitted)

    def reject(self, line: Line) -> None:
        """Write a line that could not be fitted."""
        self._record.note(line)
        if self._paths.rejected is None:
            return
        if self._rejected is None:
            self._rejected = self._opened(self._paths.rejected)
        _write(self._rejected, line.content)

    def _opened(self, path: Path) -> IO[bytes]:
        return self._stack.enter_context(cast("IO[bytes]", path.open(self._mode)))


def _write(stream: IO[bytes], line: bytes) -> None:
    stream.write(line + b"\n")
    stream.flush()
