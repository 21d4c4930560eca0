"""Fits the requests of a file of lines, in their order, with few of them in memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import click

from ctxopt_core.command_line.batch_files import BatchFiles, BatchPaths
from ctxopt_core.command_line.errors import say
from ctxopt_core.command_line.fitting_options import FittingChoices
from ctxopt_core.command_line.line_outcomes import Outcome, outcome_of
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.command_line.request_input import STANDARD, Line, is_terminal, lines_of, opened
from ctxopt_core.command_line.run_record import RunRecord
from ctxopt_core.command_line.worker_processes import outcomes_by_jobs
from ctxopt_core.runtime.warn_once import warn_once

_BAR_STEP = 1 << 16  # bytes of the file: the bar is drawn again after as many, and not for each line
_CLEAR_LINE = "\r\x1b[K"


@dataclass(slots=True, kw_only=True)
class Tally:
    """The outcomes of the lines so far.

    Args:
        done_before: Requests that an interrupted run had done.
        rejected_before: Lines among them that could not be fitted.
        unchanged: Requests that fitted as they were.
        cut: Requests that were cut.
        rejected: Lines that could not be fitted.
    """

    done_before: int = 0
    rejected_before: int = 0
    unchanged: int = 0
    cut: int = 0
    rejected: int = 0

    def in_words(self) -> str:
        """Return the figures as a sentence."""
        bad = f", {self.rejected_before:,} of them rejected" if self.rejected_before else ""
        before = f"{self.done_before:,} done before{bad}; " if self.done_before else ""
        requests = self.unchanged + self.cut + self.rejected
        return (
            f"{before}{requests:,} requests: {self.unchanged:,} fitted as they were, {self.cut:,} cut, "
            f"{self.rejected:,} rejected"
        )


def fit_file(
    file: Path, choices: FittingChoices, paths: BatchPaths, record: RunRecord, *, resume: bool, jobs: int = 1
) -> Tally:
    """Fit the requests of a file of lines, in their order.

    Args:
        file: The file; `-` for the standard input.
        choices: How they are fitted.
        paths: Where the results go.
        record: The record of the run.
        resume: Whether to continue after the results that are already there, instead of beginning anew.
        jobs: How many processes fit them; with 1 this one does.

    Raises:
        ValueError: The results were made with other options or of another file, or the options contradict each other.
        UnknownModelError: The model is not known, and that is to be an error.
        OSError: A file cannot be read or written.
        click.ClickException: A worker process was ended from outside.
    """
    fitter = RequestFitter(choices)
    done, rejected = _done_before(paths, record) if resume else (0, 0)
    tally = Tally(done_before=done, rejected_before=rejected)
    with opened(file) as stream, _progress(file) as advance, BatchFiles(paths, record, resume=done > 0) as files:
        if not done:
            record.begin()
        lines = lines_of(stream)
        passed = 0
        for line in islice(lines, done):
            record.check(line)
            advance(line)
            passed += 1
        if passed < done:
            message = f"there are {done:,} results already, and only {passed:,} requests: these belong to another file"
            raise ValueError(message)
        if jobs == 1:
            fit_lines(lines, fitter, files, tally, advance)
        else:
            by_jobs = outcomes_by_jobs(lines, choices, jobs=jobs, with_reports=paths.reports is not None)
            with closing(by_jobs) as outcomes:
                write_outcomes(outcomes, files, tally, advance)
    return tally


def _done_before(paths: BatchPaths, record: RunRecord) -> tuple[int, int]:
    """Return how many lines an interrupted run has done, and how many of them it has rejected."""
    if not paths.hold_results:
        return 0, 0
    record.check_options()  # before anything is cut off: a file that was named by mistake stays as it is
    fitted, rejected = paths.keep_what_is_done()
    done = fitted + rejected
    if done:
        record.resume(done)
    return done, rejected


def fit_lines(
    lines: Iterable[Line], fitter: RequestFitter, files: BatchFiles, tally: Tally, advance: Callable[[Line], object]
) -> None:
    """Fit lines in this process, and write and count their outcomes."""
    outcomes = ((line, outcome_of(line, fitter, with_report=files.reports_wanted)) for line in lines)
    write_outcomes(outcomes, files, tally, advance)


def write_outcomes(
    outcomes: Iterable[tuple[Line, Outcome]], files: BatchFiles, tally: Tally, advance: Callable[[Line], object]
) -> None:
    """Write and count each outcome as soon as it is known."""
    for line, outcome in outcomes:
        for category, text in outcome.warnings:
            warn_once(text, category, stacklevel=2)
        if outcome.refusal is not None:
            say(f"{_CLEAR_LINE if is_terminal() else ''}line {line.number}: {outcome.refusal}")
            files.reject(line)
            tally.rejected += 1
        else:
            files.write(line, line.content if outcome.fitted is None else outcome.fitted, outcome.report)
            tally.unchanged += outcome.fitted is None
            tally.cut += outcome.fitted is not None
        advance(line)


@contextmanager
def _progress(file: Path) -> Iterator[Callable[[Line], object]]:
    """Yield a function to call with each line that is done; a bar shows the progress on a terminal."""
    if file == STANDARD or not is_terminal():
        yield lambda line: None  # noqa: ARG005
        return
    with click.progressbar(
        length=file.stat().st_size, label="fitting", file=sys.stderr, update_min_steps=_BAR_STEP
    ) as bar:
        yield lambda line: bar.update(line.size)
