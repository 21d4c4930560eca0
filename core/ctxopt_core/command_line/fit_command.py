"""`fit`: requests in, fitted requests of the same shape out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ctxopt_core.command_line.batch import fit_file
from ctxopt_core.command_line.batch_files import BatchPaths
from ctxopt_core.command_line.errors import EXIT_CODES, SOME_REJECTED, plain_messages, say
from ctxopt_core.command_line.fitting_options import FittingChoices, choices_of, cutting_options, limit_options
from ctxopt_core.command_line.output import write_bytes
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.command_line.request_input import STANDARD, file_argument, holds_lines, line_option, request_of_file
from ctxopt_core.command_line.run_record import RunRecord
from ctxopt_core.formats.json_values import as_json
from ctxopt_core.formats.request_files import fitted_content
from ctxopt_core.reports.fit_report import FitReport

_written_file = click.Path(dir_okay=False, path_type=Path)


@click.command("fit", short_help="Fit a request, or each line of a file.", epilog=EXIT_CODES)
@file_argument
@limit_options
@cutting_options
@line_option
@click.option("--jsonl", is_flag=True, help="Each line of FILE is a request, whatever FILE is called.")
@click.option("--out", "-o", type=_written_file, help="Where the result goes, in place of the standard output.")
@click.option(
    "--report",
    type=_written_file,
    help="Where the report goes, in place of the standard error stream: JSON, a page for .html, text for .txt. With "
    "lines, one JSON object for each.",
)
@click.option(
    "--rejected",
    type=_written_file,
    help="Where lines that cannot be fitted go, as they came; by default beside the result, as OUT.rejected.",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many processes fit the lines of FILE. The result is the same.",
)
@click.option("--resume", is_flag=True, help="Continue after what an interrupted run has written to OUT.")
@click.option("--quiet", "-q", is_flag=True, help="No report on the standard error stream.")
def fit_command(
    *,
    file: Path,
    line: int | None,
    jsonl: bool,
    out: Path | None,
    report: Path | None,
    rejected: Path | None,
    jobs: int,
    resume: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Fit the request in FILE (- for the standard input) into its context window.

    FILE holds OpenAI- or Anthropic-shaped JSON: a list of messages, or an object with `messages` and whatever goes with
    them, with `input` as OpenAI's Responses API takes it, or with `documents` and a `query`. The same shape comes out;
    what fits comes out byte for byte.

    With a request on each line (.jsonl, .ndjson, or --jsonl) the results come in the same order. A line that cannot be
    fitted is named on the standard error stream and kept in a file; the others go on.
    """
    with plain_messages():
        choices = choices_of(**options)
        if line is None and (jsonl or holds_lines(file)):
            paths = _batch_paths(file, out, report, rejected, resume=resume)
            places = {"report": _place_beside(out, report), "rejected": _place_beside(out, rejected)}
            record = RunRecord(paths.record, {**options, **places})
            _fit_lines(file, choices, paths, record, resume=resume, jobs=jobs, quiet=quiet)
        else:
            _refuse_line_options(rejected, resume=resume, jobs=jobs)
            _refuse_one_file_for_two(file, out, report)
            _fit_one(file, line, choices, out, report, quiet=quiet)


def _fit_one(
    file: Path, line: int | None, choices: FittingChoices, out: Path | None, report: Path | None, *, quiet: bool
) -> None:
    fitter = RequestFitter(choices)
    stored, content = request_of_file(file, line)
    fitted = fitter.fit(stored)
    given = content if content.endswith(b"\n") else content + b"\n"
    written = given if fitted.unchanged else as_json(fitted_content(stored, fitted), indent=2) + b"\n"
    if out is None:
        write_bytes(written)
    else:
        out.write_bytes(written)
    if report is not None:
        report.write_bytes(_report_file(fitted.report, report))
    elif not quiet:
        say(fitted.report.to_text())


def _fit_lines(
    file: Path,
    choices: FittingChoices,
    paths: BatchPaths,
    record: RunRecord,
    *,
    resume: bool,
    jobs: int,
    quiet: bool,
) -> None:
    tally = fit_file(file, choices, paths, record, resume=resume, jobs=jobs)
    rejected = tally.rejected + tally.rejected_before
    kept = f"; they are in {paths.rejected}" if rejected and paths.rejected else ""
    if not quiet:
        say(tally.in_words() + kept)
    if rejected:
        raise click.exceptions.Exit(SOME_REJECTED)


def _batch_paths(
    file: Path, out: Path | None, report: Path | None, rejected: Path | None, *, resume: bool
) -> BatchPaths:
    if rejected is None and out is not None:
        rejected = out.with_name(f"{out.name}.rejected")
    if resume and out is None:
        message = "--resume needs --out: it continues after the lines that are there"
        raise click.UsageError(message)
    paths = BatchPaths(out=out, rejected=rejected, reports=report)
    places = [path.resolve() for path in (*paths.all, *(() if file == STANDARD else (file,)))]
    if len(set(places)) < len(places):
        message = "FILE, --out, --rejected and --report must be different files when lines are read"
        raise click.UsageError(message)
    return paths


def _place_beside(out: Path | None, path: Path | None) -> str | None:
    """Return the path of a file, relative to the results if it is beside or below them, since a folder may move."""
    if out is None or path is None:
        return None
    place, folder = path.resolve(), out.resolve().parent
    return (place.relative_to(folder) if place.is_relative_to(folder) else place).as_posix()


def _refuse_line_options(rejected: Path | None, *, resume: bool, jobs: int) -> None:
    if rejected is not None or resume or jobs > 1:
        message = "--rejected, --resume and --jobs go with a request on each line; add --jsonl if FILE is such a file"
        raise click.UsageError(message)


def _refuse_one_file_for_two(file: Path, out: Path | None, report: Path | None) -> None:
    if report is not None and report.resolve() in {path.resolve() for path in (file, out) if path is not None}:
        message = "--report must be another file than FILE and --out"
        raise click.UsageError(message)


def _report_file(report: FitReport, path: Path) -> bytes:
    if path.suffix.lower() in {".html", ".htm"}:
        return report.to_html(standalone=True).encode("utf-8", "backslashreplace")
    if path.suffix.lower() == ".txt":
        return f"{report.to_text()}\n".encode("utf-8", "backslashreplace")
    return as_json(report.to_dict(), indent=2) + b"\n"
