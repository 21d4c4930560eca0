"""`count`: the tokens of plain text or of a request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ctxopt_core.budget.model_budget import ModelBudget
from ctxopt_core.command_line.errors import EXIT_CODES, plain_messages
from ctxopt_core.command_line.fitting_options import FittingChoices, choices_of, limit_options
from ctxopt_core.command_line.output import Format, format_option, show_figures, tokenizer_figures
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.command_line.request_input import file_argument, line_option, opened, request_of_file
from ctxopt_core.fitting.measured_request import count_request
from ctxopt_core.fitting.request_renderer import ChatRenderer
from ctxopt_core.formats.request_files import RequestFile, request_in

_NO_TOKENIZER = "nothing names a tokenizer: give --model or --tokenizer, or put a `model` into the request"
_ANY_LIMIT = 2**62  # tokens: a budget needs a limit, and without one in the options every text fits


@click.command("count", short_help="Count the tokens of a request or of plain text.", epilog=EXIT_CODES)
@file_argument
@limit_options
@line_option
@format_option
def count_command(file: Path, line: int | None, form: Format, **options: Any) -> None:
    """Count the tokens of FILE (- for the standard input), and say whether they fit.

    A request as JSON, in OpenAI's or Anthropic's shape, is counted as it is rendered, with its tools; anything else is
    counted as plain text.
    """
    with plain_messages():
        choices = choices_of(**options)
        stored, text = _request_or_text(file, line)
        show_figures(_figures(choices, stored, text), form, title="Token count")


def _request_or_text(file: Path, line: int | None) -> tuple[RequestFile | None, str]:
    if line is not None:
        return request_of_file(file, line)[0], ""
    with opened(file) as stream:
        text = stream.read().decode("utf-8", "surrogateescape")
    return request_in(text), text


def _figures(choices: FittingChoices, stored: RequestFile | None, text: str) -> dict[str, Any]:
    named = None if stored is None else stored.settings.name
    limited = choices.sets_limit or named is not None
    if not limited and choices.limits.token_counter is None:
        raise click.UsageError(_NO_TOKENIZER)
    if not limited:
        choices = replace(choices, limits=replace(choices.limits, target_tokens=_ANY_LIMIT))
    known = RequestFitter(choices).model_budget(stored)
    if stored is None:
        tokens, kind = known.counter.count(text), "text"
    else:
        request = stored.request
        tokens = count_request(request, known.counter, ChatRenderer())
        kind = f"a request of {len(request.history)} messages"
    figures: dict[str, Any] = {"tokens": tokens, "counted as": kind}
    if limited:
        limit = known.budget.input_budget
        figures |= {"input budget": limit, "fits": tokens <= limit}
    return figures | tokenizer_figures(known.budget) | _own_tokenizer(choices, known)


def _own_tokenizer(choices: FittingChoices, known: ModelBudget) -> dict[str, Any]:
    """Return the figures of the tokenizer that replaces the model's; none where the model's is used."""
    if choices.limits.token_counter is None and known.budget.window is not None:
        return {}
    name = choices.limits.token_counter or known.counter.name
    return {"tokenizer": name, "exact": known.counter.exact, "safety factor": None}
