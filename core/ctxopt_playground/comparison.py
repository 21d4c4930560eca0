"""One request fitted with every strategy side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.model_budget import counter_of
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.fitting.options import FitOptions
from ctxopt_core.fitting.request_renderer import ChatRenderer
from ctxopt_core.request import ContextRequest
from ctxopt_core.sweeps.run_sweep import Trial, read_whole, trials
from ctxopt_playground.settings import ComparedStrategy, PlaygroundSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one strategy. Without a fit there are no figures, but an `error`.

    Args:
        strategy: The strategy.
        fitted: The fitted request.
        error: Why there is no fit: counts, no content.
        tokens_before: Tokens of the rendered request as it came.
        tokens_after: Tokens of the rendered request that was fitted.
        tokens_saved: Tokens that were saved.
        saved_usd: The input cost that was saved, in USD; None where the price is not known.
        cost_usd: The input cost of the fitted request, in USD; None where the price is not known.
        documents_kept, documents_partial, documents_dropped: Documents that are kept whole, kept in part and dropped.
        turns_kept: Turns that are kept whole, the current one among them.
        turns_shortened: Turns that are kept in part.
        turns_summarized, turns_dropped: Turns that a summary replaces, and turns that are gone without one.
        within_budget: Whether the fitted request has at most as many tokens as the input budget.
    """

    strategy: ComparedStrategy
    fitted: FittedContext | None = None
    error: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    tokens_saved: int | None = None
    saved_usd: float | None = None
    cost_usd: float | None = None
    documents_kept: int | None = None
    documents_partial: int | None = None
    documents_dropped: int | None = None
    turns_kept: int | None = None
    turns_shortened: int | None = None
    turns_summarized: int | None = None
    turns_dropped: int | None = None
    within_budget: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The results of every strategy for one request.

    Args:
        outcomes: One for each strategy, in the order of the settings.
        budget: The budget of the fits; None where nothing is left for the input, as the error of each outcome says.
    """

    outcomes: tuple[Outcome, ...]
    budget: ContextBudget | None


def compare(request: ContextRequest, settings: PlaygroundSettings) -> Comparison:
    """Fit a request with every strategy.

    The request is not changed, and nothing is logged, since nothing will be sent. Each text is counted once for all
    strategies, and not again at the next comparison of the same request.

    Args:
        request: The request.
        settings: The budget and the strategies.

    Raises:
        TypeError: `request` is not a ContextRequest.
    """
    whole = read_whole(request)
    try:
        budget = settings.budget()
    except ContextBudgetError as error:
        outcomes = tuple(Outcome(strategy=name, error=str(error)) for name in settings.compared)
        return Comparison(outcomes=outcomes, budget=None)
    tried = trials(whole, budget, settings.cuts, counter_of(budget), ChatRenderer(), FitOptions())
    named = zip(settings.compared, tried, strict=True)
    return Comparison(outcomes=tuple(_outcome(name, trial) for name, trial in named), budget=budget)


def _outcome(strategy: ComparedStrategy, trial: Trial) -> Outcome:
    if trial.fitted is None:
        return Outcome(strategy=strategy, error=trial.error)
    report = trial.fitted.report
    turns: Counter[str] = Counter()
    for stretch in report.history_strip:
        turns.update(stretch.counts)
    documents = Counter(row.state for row in report.documents)
    return Outcome(
        strategy=strategy,
        fitted=trial.fitted,
        tokens_before=report.tokens_before,
        tokens_after=report.tokens_after,
        tokens_saved=report.tokens_saved,
        saved_usd=None if report.cost is None else report.cost.saved,
        cost_usd=None if report.cost is None else report.cost.input,
        documents_kept=documents["kept"],
        documents_partial=documents["partial"],
        documents_dropped=documents["dropped"],
        turns_kept=turns["kept"],
        turns_shortened=turns["shortened"],
        turns_summarized=turns["summarized"],
        turns_dropped=turns["dropped"],
        within_budget=report.within_budget,
    )
