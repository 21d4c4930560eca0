"""`plan`: the report of a fit, without the fitted request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ctxopt_core.command_line.errors import EXIT_CODES, plain_messages
from ctxopt_core.command_line.fitting_options import choices_of, cutting_options, limit_options
from ctxopt_core.command_line.output import Format, format_option, show
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.command_line.request_input import file_argument, line_option, request_of_file
from ctxopt_core.formats.fitted_files import as_json
from ctxopt_core.reports.fit_report import FitReport


@click.command("plan", short_help="Show the report of a fit, without its result.", epilog=EXIT_CODES)
@file_argument
@limit_options
@cutting_options
@line_option
@format_option
def plan_command(file: Path, line: int | None, form: Format, **options: Any) -> None:
    """Show what `fit` would keep, cut and drop of the request in FILE (- for the standard input), in tokens."""
    with plain_messages():
        fitter = RequestFitter(choices_of(**options))
        stored, _ = request_of_file(file, line)
        show(_shown(fitter.fit(stored).report, form))


def _shown(report: FitReport, form: Format) -> str:
    if form == "html":
        return report.to_html(standalone=True)
    return report.to_text() if form == "table" else as_json(report.to_dict(), indent=2).decode()
