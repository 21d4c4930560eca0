"""The options that say how much fits and how requests are cut, and their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import click

from ctxopt_core.budget.budget_settings import BudgetSettings
from ctxopt_core.budget.shares import COMPONENTS, Shares
from ctxopt_core.command_line.errors import plain_warnings
from ctxopt_core.command_line.tokenizer_option import read_tokenizer
from ctxopt_core.documents.policy import DocumentPolicy, Selection
from ctxopt_core.fitting.options import FitOptions
from ctxopt_core.history.policy import HistoryPolicy

Strategy = Literal["auto", "turns", "sliding_window", "relevance"]
"""The strategies that call no model."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class FittingChoices:
    """What the options of a command say.

    Args:
        model: The model that replaces the one that a request names.
        limits: How much fits.
        fit: How requests are cut.
    """

    model: str | None = None
    limits: BudgetSettings = field(default_factory=BudgetSettings)
    fit: FitOptions = field(default_factory=FitOptions)

    @property
    def sets_limit(self) -> bool:
        """Whether the options alone say how much fits, whatever a request names."""
        return self.model is not None or self.limits.gives_limit


def _read_shares(ctx: click.Context, param: click.Parameter, value: str) -> Shares:
    try:
        percentages = [float(part) for part in value.split(",")]
        if len(percentages) == len(COMPONENTS):
            with plain_warnings():
                return Shares(**dict(zip(COMPONENTS, percentages, strict=True)))
    except ValueError as error:
        message = f"{error}; give four percentages such as 10,15,50,25"
        raise click.BadParameter(message, ctx, param) from error
    message = f"four percentages such as 10,15,50,25 are wanted, got {value!r}"
    raise click.BadParameter(message, ctx, param)


def limit_options(command: F) -> F:
    """Give a command the options that say how much fits."""
    positive = click.IntRange(min=1)
    for option in (
        click.option(
            "--on-unknown-model",
            type=click.Choice(["fallback", "error"]),
            default="fallback",
            show_default=True,
            help="What to do about an unknown model: take the smallest window known, with a warning, or end with 1.",
        ),
        click.option("--target-tokens", metavar="TOKENS", type=positive, help="A custom limit for the whole request."),
        click.option(
            "--safety-margin",
            metavar="TOKENS",
            type=click.IntRange(min=0),
            default=0,
            help="Further tokens of the window kept free.",
        ),
        click.option(
            "--output-reserve",
            metavar="TOKENS",
            type=click.IntRange(min=0),
            help="Tokens kept free for the answer; by default what the request allows for it, else 4,096 or an eighth.",
        ),
        click.option(
            "--max-input-tokens", metavar="TOKENS", type=positive, help="The input limit, where there is one."
        ),
        click.option(
            "--context-window", metavar="TOKENS", type=positive, help="The window, in place of the known one."
        ),
        click.option(
            "--tokenizer",
            metavar="NAME",
            callback=read_tokenizer,
            help="The tokenizer, in place of the model's: an encoding, a model, or the path of a tokenizer.json.",
        ),
        click.option("--model", "-m", metavar="NAME", help="The model, in place of the one that the request names."),
    ):
        command = option(command)
    return command


def cutting_options(command: F) -> F:
    """Give a command the options that say how requests are cut."""
    for option in (
        click.option(
            "--ranking-query",
            metavar="TEXT",
            default="",
            help="What documents and history are ranked by, where that is not the query.",
        ),
        click.option(
            "--protect",
            type=click.Choice(["system", "query"]),
            multiple=True,
            help="What may not be cut; may be given twice.",
        ),
        click.option(
            "--selection",
            type=click.Choice(["auto", "score", "passages", "density", "optimal"]),
            default="auto",
            show_default=True,
            help="How documents are selected.",
        ),
        click.option(
            "--strategy",
            type=click.Choice(["auto", "turns", "sliding_window", "relevance"]),
            default="auto",
            show_default=True,
            help="How the conversation is trimmed.",
        ),
        click.option(
            "--shares",
            metavar="SYSTEM,QUERY,DOCUMENTS,HISTORY",
            callback=_read_shares,
            default="10,15,50,25",
            show_default=True,
            help="The guaranteed part of the budget for each component, in percent.",
        ),
    ):
        command = option(command)
    return command


def choices_of(
    *,
    strategy: Strategy = "auto",
    selection: Selection = "auto",
    protect: tuple[str, ...] = (),
    ranking_query: str = "",
    model: str | None = None,
    tokenizer: str | None = None,
    **limits: Any,
) -> FittingChoices:
    """Return the choices for the options of a command.

    Raises:
        ValueError: An option is out of its range.
    """
    fit = FitOptions(
        documents=DocumentPolicy(selection=selection),
        history=HistoryPolicy(strategy=strategy),
        protect=frozenset(protect),
        ranking_query=ranking_query,
    )
    return FittingChoices(model=model, limits=BudgetSettings(token_counter=tokenizer, **limits), fit=fit)
