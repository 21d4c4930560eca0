"""`count`: the tokens of a text or of a request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ctxopt_core.budget import ContextBudget
from ctxopt_core.budgeting import Budgeting
from ctxopt_core.command_line.endings import plain_messages
from ctxopt_core.command_line.figures import Format, format_option, show_figures, tokenizer_figures
from ctxopt_core.command_line.request_input import file_argument, line_option, opened, request_of_file
from ctxopt_core.fitting import counter_of
from ctxopt_core.rendering import ChatFraming
from ctxopt_core.request import ContextRequest
from ctxopt_core.request_files import request_in


@click.command("count")
@file_argument
@click.option("--model", "-m", required=True, help="The model whose tokenizer counts.")
@line_option
@format_option()
def count_command(file: Path, model: str, line: int | None, form: Format) -> None:
    """Count the tokens of FILE (- for the standard input) for a model.

    A chat request as JSON, in OpenAI's or Anthropic's shape, is counted as it is rendered, with its tools; anything
    else as the bare text that it is.
    """
    with plain_messages():
        budget = ContextBudget.for_model(model)
        budgeting = Budgeting(budget=budget, counter=counter_of(budget))
        show_figures(_figures(budgeting, _request_or_text(file, line)), form)


def _request_or_text(file: Path, line: int | None) -> ContextRequest | str:
    if line is not None:
        return request_of_file(file, line)[0].request
    with opened(file) as stream:
        text = stream.read().decode("utf-8", "surrogateescape")
    stored = request_in(text)
    return text if stored is None else stored.request


def _figures(budgeting: Budgeting, counted: ContextRequest | str) -> dict[str, Any]:
    budget = budgeting.budget
    if isinstance(counted, str):
        tokens, kind = budgeting.counter.count(counted), "a text"
    else:
        tokens, kind = budgeting.count(counted, ChatFraming()), f"a request of {len(counted.history)} messages"
    return {
        "tokens": tokens,
        "counted as": kind,
        "input budget": budget.input_tokens,
        "fits": tokens <= budget.input_tokens,
        **tokenizer_figures(budget),
    }
