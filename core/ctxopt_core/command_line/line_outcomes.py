"""The outcome of one line of a batch: the fitted request, or why it is rejected."""

from __future__ import annotations

from dataclasses import dataclass

from ctxopt_core.command_line.errors import REQUEST_ERRORS, DoesNotFitError, one_line
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.command_line.request_input import Line, decoded
from ctxopt_core.formats.json_values import as_json
from ctxopt_core.formats.request_files import fitted_content, read_request


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a line.

    Args:
        fitted: The fitted request as a line; None where nothing was cut, or where the line is rejected.
        report: The report as a line; None where no reports are asked for, or where the line is rejected.
        refusal: Why it is rejected, on one line; None where it is not.
        warnings: The warnings that are still to be shown: category and text of each.
    """

    fitted: bytes | None = None
    report: bytes | None = None
    refusal: str | None = None
    warnings: tuple[tuple[type[Warning], str], ...] = ()


def outcome_of(line: Line, fitter: RequestFitter, *, with_report: bool) -> Outcome:
    """Fit the request on a line."""
    try:
        stored = read_request(decoded(line.content))
        fitted = fitter.fit(stored)
        written = None if fitted.unchanged else as_json(fitted_content(stored, fitted))
    except (*REQUEST_ERRORS, DoesNotFitError) as error:
        return Outcome(refusal=one_line(error))
    report = as_json({"line": line.number, **fitted.report.to_dict()}) if with_report else None
    return Outcome(fitted=written, report=report)
