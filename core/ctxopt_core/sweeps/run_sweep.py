"""What if: one request, or several, fitted with every combination of settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.model_budget import counter_of
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.fitting.measured_request import count_request
from ctxopt_core.fitting.options import FitOptions
from ctxopt_core.fitting.request_renderer import ChatRenderer, RequestRenderer
from ctxopt_core.models.model_window import ModelWindow
from ctxopt_core.models.prices import Prices
from ctxopt_core.request import ContextRequest
from ctxopt_core.sweeps.evidence import Evidence, Measure, evidence_measure
from ctxopt_core.sweeps.progress import Progress, check_progress, with_progress
from ctxopt_core.sweeps.rows import SweepRow, figure_columns, share_columns
from ctxopt_core.sweeps.settings import (
    BudgetSetting,
    DocumentsSetting,
    SharesSetting,
    StrategySetting,
    SweepSettings,
    read_settings,
)
from ctxopt_core.sweeps.table import Sweep
from ctxopt_core.sweeps.trials import Trial, read_whole, trials

_QUARTERS = (0.25, 0.5, 0.75, 1.0)


def sweep(
    request: ContextRequest | Iterable[ContextRequest],
    *,
    budgets: Iterable[BudgetSetting] | BudgetSetting = _QUARTERS,
    shares: Iterable[SharesSetting] | SharesSetting | None = None,
    strategies: Iterable[StrategySetting] | StrategySetting | None = None,
    documents: Iterable[DocumentsSetting] | DocumentsSetting | None = None,
    model: str | ModelWindow | None = None,
    counter: TokenCounter | Callable[[str], int] | None = None,
    renderer: RequestRenderer | None = None,
    evidence: Evidence | None = None,
    prices: Prices | None = None,
    protect: Collection[str] = (),
    ranking_query: str = "",
    progress: Progress | bool | None = None,
) -> Sweep:
    """Fit a request with every combination of settings, and return a table with a row for each.

    Rows are in the order of requests, budgets, shares, strategies and documents, the last one varying fastest. The
    requests are not changed, and nothing is logged, since nothing will be sent. Where there is no fit, the row says
    why in `error` and has no figures.

    A larger budget does not always keep more of the evidence: what a longer excerpt takes, another text may lose. With
    `HistoryPolicy(strategy="turns", keep_first_user_message=False)` alone, and no documents, it never keeps fewer
    messages.

    Args:
        request: The request, or several.
        budgets: Input budgets in tokens, parts of what the request counts uncut (floats above 0, at most 1.0), or
            ContextBudgets. By default a quarter, a half, three quarters and the whole of it.
        shares: Shares, or mappings of them; by default those of the budget.
        strategies: History strategies by name, as functions, as HistoryPolicy or as mappings of its fields.
        documents: Document selections by name, as DocumentPolicy or as mappings of its fields.
        model: The model that budgets in tokens and in parts are for. It decides about tokenizer and price, and none of
            these budgets is larger than what its window leaves for the input.
        counter: Counts tokens in place of the model's tokenizer.
        renderer: How requests are rendered; by default as in `fit`.
        evidence: How good a fitted request is: a function of a FittedContext that returns a number, or texts that must
            survive, of which the share is told that is found letter by letter in what is kept.
        prices: Prices of one's own, by model id; see ContextBudget.
        protect: Components that may not be cut: `query`, `system` or both.
        ranking_query: What is asked, where that is not the query.
        progress: True for a bar of tqdm, with the extra `notebook`; a function of (done, total); None for silence.

    Raises:
        ValueError: A setting is out of its range, or evidence stands in no request.
        TypeError: An argument has a type that it cannot have.
        ImportError: A progress bar is asked for and tqdm is not installed.
    """
    requests = _requests(request)
    settings = read_settings(
        budgets=budgets, shares=shares, strategies=strategies, documents=documents, model=model, prices=prices
    )
    check_progress(progress)
    trial = _Trial(
        settings=settings,
        options=FitOptions(
            protect=frozenset((protect,) if isinstance(protect, str) else protect), ranking_query=ranking_query
        ),
        counter=None if counter is None else counter_for(counter),
        renderer=renderer or ChatRenderer(),
        measure=evidence_measure(evidence, requests),
    )
    rows = (row for index, one in enumerate(requests) for row in trial.rows(index, one))
    return Sweep(rows=tuple(with_progress(rows, len(requests) * len(settings), progress=progress)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """What is the same for every row."""

    settings: SweepSettings
    options: FitOptions
    counter: TokenCounter | None
    renderer: RequestRenderer
    measure: Measure

    def rows(self, index: int, request: ContextRequest) -> Iterator[SweepRow]:
        """Yield the rows of one request."""
        for asked in self.settings.budgets:
            budget = self.settings.budget_for(asked, partial(self._count, request))
            counter = counter_of(budget, self.counter)
            for trial in trials(request, budget, self.settings.cuts, counter, self.renderer, self.options):
                setting = _setting_columns(index, asked, trial)
                if trial.fitted is None:
                    yield SweepRow(**setting, error=trial.error)
                else:
                    evidence = self.measure(index, trial.fitted)
                    yield SweepRow(**setting, **figure_columns(trial.fitted.report), evidence=evidence)

    def _count(self, request: ContextRequest, budget: ContextBudget) -> int:
        return count_request(request, counter_of(budget, self.counter), self.renderer)


def _setting_columns(index: int, asked: BudgetSetting, trial: Trial) -> dict[str, Any]:
    return {
        "request": index,
        "budget": trial.budget.input_budget,
        "fraction": asked if isinstance(asked, float) else None,
        **share_columns(trial.budget.shares),
        "strategy": trial.cut.strategy,
        "selection": trial.cut.selection,
    }


def _requests(given: object) -> tuple[ContextRequest, ...]:
    """Return the requests with their lazy parts read, so that each message is converted once for all settings."""
    requests = tuple(given) if isinstance(given, Iterable) else (given,)
    if not requests:
        message = "`request` must be a ContextRequest or several, got none"
        raise ValueError(message)
    return tuple(map(read_whole, requests))
