"""`bench`: how long fitting takes beside tokenizing, on a file of one's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import click

from ctxopt_core.command_line.errors import (
    EXIT_CODES,
    REQUEST_ERRORS,
    SOME_REJECTED,
    DoesNotFitError,
    one_line,
    plain_messages,
    say,
)
from ctxopt_core.command_line.fitting_options import choices_of, cutting_options, limit_options
from ctxopt_core.command_line.line_outcomes import fitted_line
from ctxopt_core.command_line.output import Format, format_option, show_figures
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.command_line.request_input import Line, decoded, file_argument, lines_of, opened
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.formats.request_files import read_request
from ctxopt_core.providers.tool_schemas import schema_texts
from ctxopt_core.request import ContextRequest
from ctxopt_core.runtime.text_cache import CountCache

_ENCODING = "o200k_base"


@dataclass(slots=True, kw_only=True)
class Times:
    """What was measured so far, in seconds of CPU time.

    Args:
        tokens: Tokens of the texts.
        cut: Requests that were cut.
        rejected: Lines that could not be fitted; they are not among the times.
        tokenizing: Reading and tokenizing each request.
        fitting: Reading, fitting and writing each request.
    """

    tokens: int = 0
    cut: int = 0
    rejected: int = 0
    tokenizing: list[float] = field(default_factory=list)
    fitting: list[float] = field(default_factory=list)


@click.command("bench", short_help="Time fitting beside tokenizing.", epilog=EXIT_CODES)
@file_argument
@limit_options
@cutting_options
@click.option(
    "--most",
    metavar="NUMBER",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="How many lines are read.",
)
@format_option
def bench_command(file: Path, most: int, form: Format, **options: Any) -> None:
    """Time how long fitting the requests of FILE takes, beside tokenizing them once.

    FILE holds a request on each line. Both times are CPU time and include reading the JSON; that of fitting includes
    writing it, too. Nothing is written to a file.
    """
    with plain_messages():
        fitter = RequestFitter(choices_of(**options))
        times = Times()
        with opened(file) as stream:
            measure(islice(lines_of(stream), most), fitter, times)
        if not times.fitting:
            message = "there is no request in the file that could be fitted, so there is nothing to time"
            raise ValueError(message)
        show_figures(_figures(times), form, title="Fitting beside tokenizing")
    if times.rejected:
        raise click.exceptions.Exit(SOME_REJECTED)


def measure(lines: Iterable[Line], fitter: RequestFitter, times: Times) -> None:
    """Fit and tokenize each line, one after the other, so that a slow moment of the machine hits both."""
    counters: dict[str, TiktokenCounter] = {}
    for line in lines:
        try:
            counter = _counter_for(line, fitter, counters)
            start = process_time()
            fitted, _ = fitted_line(line, fitter)
        except (*REQUEST_ERRORS, DoesNotFitError) as error:
            say(f"line {line.number}: {one_line(error)}")
            times.rejected += 1
            continue
        times.fitting.append(process_time() - start)
        times.cut += not fitted.unchanged
        _tokenize(line, counter, times)


def _counter_for(line: Line, fitter: RequestFitter, counters: dict[str, TiktokenCounter]) -> TiktokenCounter:
    """Return what tokenizes a line; vocabularies are read before any time is taken."""
    model_budget = fitter.model_budget(read_request(decoded(line.content)))
    window = model_budget.budget.window
    encoding = _ENCODING if window is None else window.encoding
    if encoding not in counters:
        counters[encoding] = TiktokenCounter(encoding, cache=CountCache(0))
        counters[encoding].count("loaded")
        model_budget.counter.count("loaded")
    return counters[encoding]


def _tokenize(line: Line, counter: TiktokenCounter, times: Times) -> None:
    start = process_time()
    times.tokens += sum(map(counter.count, texts_of(read_request(decoded(line.content)).request)))
    times.tokenizing.append(process_time() - start)


def texts_of(request: ContextRequest) -> list[str]:
    """Return all texts of a request: system prompt, query, documents, messages, calls and schemas."""
    texts = [*request.system_texts, *request.query_texts, *schema_texts(request.tools)]
    texts += [document.text or "" for document in request.documents]
    for index in range(len(request.history)):
        message = request.history[index]
        texts += [*message.texts, *(call.arguments for call in message.tool_calls)]
    return texts


def _figures(times: Times) -> dict[str, Any]:
    tokenizing, fitting = sum(times.tokenizing), sum(times.fitting)
    return {
        "requests": len(times.fitting),
        "cut": times.cut,
        "rejected": times.rejected,
        "tokens": times.tokens,
        "tokenizing, seconds": tokenizing,
        "fitting, seconds": fitting,
        "tokenizing, tokens per second": times.tokens / tokenizing,
        "fitting, tokens per second": times.tokens / fitting,
        "fitting, median milliseconds": median(times.fitting) * 1_000,
        "fitting, slowest milliseconds": max(times.fitting) * 1_000,
        "throughput over tokenizing": tokenizing / fitting,
    }
