"""The settings of the playground: the model, the budget and its shares, and the strategies to compare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.shares import Shares
from ctxopt_core.documents.policy import DocumentPolicy, Selection
from ctxopt_core.fitting.options import as_value
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.models.model_ids import checked_model_name
from ctxopt_core.models.prices import Prices, read_prices
from ctxopt_core.summaries.summarizer import Summarizer
from ctxopt_core.sweeps.settings import Cut
from ctxopt_core.validation import optional_token_amount, token_amount

ComparedStrategy = Literal["auto", "turns", "relevance", "sliding_window", "stable_prefix", "summarize", "hybrid"]
"""A history strategy; `stable_prefix` is `turns` with a cut that moves in steps."""

PLAIN_STRATEGIES: tuple[ComparedStrategy, ...] = ("auto", "turns", "relevance", "sliding_window", "stable_prefix")
"""The strategies that call no model."""

SUMMARIZING_STRATEGIES: tuple[ComparedStrategy, ...] = ("summarize", "hybrid")
"""The strategies that need a summarizer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaygroundSettings:
    """The settings of the playground.

    Args:
        model: The model whose window, tokenizer and price are used; None for a budget of `target_tokens` tokens.
        shares: The guarantees of the components, as Shares or a mapping of them.
        output_reserve: Tokens kept free for the answer; None for what `ContextBudget.for_model` keeps.
        target_tokens: The most tokens that the request may have; None for what the window leaves.
        strategies: The history strategies to compare, in this order; by default all, or without a summarizer all that
            need none.
        summarizer: Writes the summaries of `summarize` and `hybrid`; without one they cannot be compared.
        selection: How documents are chosen.
        prices: Custom prices, by model id; see ContextBudget.

    Raises:
        ValueError: A value is out of its range, neither `model` nor `target_tokens` is given, or a strategy lacks its
            summarizer.
    """

    model: str | None = None
    shares: Shares = field(default_factory=Shares)
    output_reserve: int | None = None
    target_tokens: int | None = None
    strategies: tuple[ComparedStrategy, ...] = ()
    summarizer: Summarizer | None = None
    selection: Selection = "auto"
    prices: Prices = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.model is not None:
            object.__setattr__(self, "model", checked_model_name(self.model, name="model"))
        object.__setattr__(self, "target_tokens", optional_token_amount("target_tokens", self.target_tokens))
        if self.output_reserve is not None:
            object.__setattr__(self, "output_reserve", token_amount("output_reserve", self.output_reserve, minimum=0))
        if self.model is None and self.target_tokens is None:
            message = (
                "`model` or `target_tokens` must be given, got neither; name a model, or the most tokens of a request"
            )
            raise ValueError(message)
        object.__setattr__(self, "shares", as_value(Shares, self.shares, name="shares"))
        object.__setattr__(self, "strategies", _checked_strategies(self.strategies))
        object.__setattr__(self, "prices", read_prices(self.prices))
        _ = self.cuts  # policies check the rest

    @property
    def offered(self) -> tuple[ComparedStrategy, ...]:
        """The strategies that can be compared: without a summarizer those that need none."""
        return (*PLAIN_STRATEGIES, *(SUMMARIZING_STRATEGIES if self.summarizer else ()))

    @property
    def compared(self) -> tuple[ComparedStrategy, ...]:
        """The strategies that are compared."""
        return self.strategies or self.offered

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """The policies of each strategy that is compared."""
        documents = DocumentPolicy(selection=self.selection)
        return tuple(
            Cut(
                shares=None,
                strategy=name,
                history=_policy(name, self.summarizer),
                selection=self.selection,
                documents=documents,
            )
            for name in self.compared
        )

    def budget(self) -> ContextBudget:
        """Return the budget of these settings.

        Raises:
            ContextBudgetError: Nothing is left for the input.
        """
        if self.model is None:
            reserve = self.output_reserve or 0
            return ContextBudget(
                target_tokens=self.target_tokens, output_reserve=reserve, shares=self.shares, prices=self.prices
            )
        return ContextBudget.for_model(
            self.model,
            target_tokens=self.target_tokens,
            output_reserve=self.output_reserve,
            shares=self.shares,
            prices=self.prices,
        )


def _policy(name: ComparedStrategy, summarizer: Summarizer | None) -> HistoryPolicy:
    if name == "stable_prefix":
        return HistoryPolicy(strategy="turns", stable_prefix=True)
    if name in SUMMARIZING_STRATEGIES:
        return HistoryPolicy(strategy=name, summarizer=summarizer)
    return HistoryPolicy(strategy=name)


def _checked_strategies(given: object) -> tuple[ComparedStrategy, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        message = f"`strategies` must be a sequence of strategies, got {given!r}"
        raise ValueError(message)  # noqa: TRY004 - a ValueError, as for every other setting
    names = tuple(given)
    known = get_args(ComparedStrategy)
    if wrong := [name for name in names if name not in known]:
        message = f"`strategies` must be of {', '.join(map(repr, known))}, got {wrong[0]!r}"
        raise ValueError(message)
    if len(set(names)) < len(names):
        message = f"`strategies` must name each strategy once, got {', '.join(map(repr, names))}"
        raise ValueError(message)
    return names
