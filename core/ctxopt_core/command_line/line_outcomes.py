"""What becomes of one line of a batch: the line for it, or why it is rejected."""

from __future__ import annotations

from dataclasses import dataclass

from ctxopt_core.command_line.errors import REQUEST_ERRORS, DoesNotFitError, one_line
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.command_line.request_input import Line, decoded
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.formats.fitted_files import as_json, fitted_content
from ctxopt_core.formats.request_files import read_request


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What becomes of a line.

    Args:
        fitted: The line for it where the request was cut; None where it stays as it came, or is rejected.
        report: The line that reports it; None where no reports are asked for, or where it is rejected.
        refusal: Why it is rejected, on one line; None where it is not.
        warnings: What was warned of on the way and was not said yet: category and text.
    """

    fitted: bytes | None = None
    report: bytes | None = None
    refusal: str | None = None
    warnings: tuple[tuple[type[Warning], str], ...] = ()


def outcome_of(line: Line, fitter: RequestFitter, *, with_report: bool) -> Outcome:
    """Fit the request on a line."""
    try:
        fitted, written = fitted_line(line, fitter)
    except (*REQUEST_ERRORS, DoesNotFitError) as error:
        return Outcome(refusal=one_line(error))
    report = as_json({"line": line.number, **fitted.report.to_dict()}) if with_report else None
    return Outcome(fitted=None if fitted.unchanged else written, report=report)


def fitted_line(line: Line, fitter: RequestFitter) -> tuple[FittedContext, bytes]:
    """Return what is left of the request on a line, and the line for it: the same bytes where nothing was cut."""
    stored = read_request(decoded(line.content))
    fitted = fitter.fit(stored)
    return fitted, line.content if fitted.unchanged else as_json(fitted_content(stored, fitted))
