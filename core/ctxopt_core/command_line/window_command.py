"""`window`: the context window, the limits and the tokenizer of a model."""

from __future__ import annotations

from typing import Any

import click

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.command_line.errors import EXIT_CODES, plain_messages
from ctxopt_core.command_line.output import Format, format_option, show_figures, tokenizer_figures
from ctxopt_core.models.resolve_window import OnUnknownModel


@click.command("window", short_help="Show what is known of a model's window.", epilog=EXIT_CODES)
@click.argument("model")
@click.option(
    "--context-window", metavar="TOKENS", type=click.IntRange(min=1), help="The window, in place of the known one."
)
@click.option("--output-reserve", metavar="TOKENS", type=click.IntRange(min=0), help="Tokens kept free for the answer.")
@click.option(
    "--on-unknown-model",
    type=click.Choice(["fallback", "error"]),
    default="fallback",
    show_default=True,
    help="What to do about an unknown model: show the smallest window known, with a warning, or end with 1.",
)
@format_option
def window_command(
    model: str, context_window: int | None, output_reserve: int | None, on_unknown_model: OnUnknownModel, form: Format
) -> None:
    """Show the window of MODEL, what it leaves for the input, its tokenizer, and where the figures come from."""
    with plain_messages():
        budget = ContextBudget.for_model(
            model, context_window=context_window, output_reserve=output_reserve, on_unknown_model=on_unknown_model
        )
        show_figures(_window_figures(budget), form, title=f"The window of {model}")


def _window_figures(budget: ContextBudget) -> dict[str, Any]:
    known = budget.window
    return {
        "model": known.model if known else None,
        "context window": budget.context_window,
        "input limit": budget.max_input_tokens,
        "longest answer": known.max_output_tokens if known else None,
        "kept for the answer": budget.output_reserve,
        "input budget": budget.input_budget,
        **tokenizer_figures(budget),
    }
