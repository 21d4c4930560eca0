"""What-if analysis: one request, or several, fitted with every combination of settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Protocol, TypeVar

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.model_budget import counter_of
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fitting.fit_request import fitted_with
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.fitting.measured_request import count_request
from ctxopt_core.fitting.options import FitOptions
from ctxopt_core.fitting.request_renderer import ChatRenderer, RequestRenderer
from ctxopt_core.models.model_window import ModelWindow
from ctxopt_core.models.prices import Prices, read_prices
from ctxopt_core.models.resolve_window import resolve_window
from ctxopt_core.request import ContextRequest
from ctxopt_core.runtime.optional_packages import needs
from ctxopt_core.sweeps.evidence import Evidence, evidence_measure
from ctxopt_core.sweeps.rows import SweepRow, figure_columns
from ctxopt_core.sweeps.settings import (
    BudgetSetting,
    Cut,
    DocumentsSetting,
    SharesSetting,
    StrategySetting,
    budget_for,
    read_budgets,
    read_cuts,
)
from ctxopt_core.sweeps.table import Sweep
from ctxopt_core.text.display_text import preview

T = TypeVar("T")
_QUARTERS = (0.25, 0.5, 0.75, 1.0)  # parts of the uncut request
LONGEST_REASON = 1_000  # characters of an error: one that quotes a whole text must not fill the table
_NO_TQDM = "a progress bar needs tqdm; install it with: pip install 'ctxopt-core[notebook]', or give a function"


class Progress(Protocol):
    """A function that is called as the work goes on.

    1. It is called once with `done` 0 before the work begins, and once after each piece of it.
    2. It is called on the thread that works. What it raises ends the work.
    """

    def __call__(self, done: int, total: int, /) -> object:
        """Note that `done` of `total` pieces are done."""


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

    A larger budget does not always keep more of the evidence: the tokens of a longer excerpt are taken from another
    text. With `HistoryPolicy(strategy="turns", keep_first_user_message=False)` alone, and no documents, it never keeps
    fewer messages.

    Example:
        >>> from ctxopt_core import CallableCounter, ContextRequest, Document, sweep
        >>> documents = [Document(text="The sky is blue."), Document(text="Rayleigh scattering is why.")]
        >>> request = ContextRequest(query="Why is the sky blue?", documents=documents)
        >>> table = sweep(request, budgets=[50, 200], evidence="Rayleigh", counter=CallableCounter(len))
        >>> [(row.budget, row.documents_kept, row.evidence) for row in table]
        [(50, 1, 0.0), (200, 2, 1.0)]

    Args:
        request: The request, or several.
        budgets: Input budgets in tokens, parts of the tokens of the uncut request (floats above 0, at most 1.0), or
            ContextBudgets. By default a quarter, a half, three quarters and the whole of it.
        shares: Shares, or mappings of them; by default those of the budget.
        strategies: History strategies by name, as functions, as HistoryPolicy or as mappings of its fields.
        documents: Document selections by name, as DocumentPolicy or as mappings of its fields.
        model: The model of budgets that are given in tokens or parts. It decides the tokenizer and the price, and
            limits each of these budgets to what its window leaves for the input.
        counter: Counts tokens in place of the model's tokenizer.
        renderer: How requests are rendered; by default as in `fit`.
        evidence: How good a fitted request is: a function of a FittedContext that returns a number, or strings that
            must survive, which are looked for letter by letter; the row then has the share of them that is kept.
        prices: Custom prices, by model id; see ContextBudget.
        protect: Components that may not be cut: `query`, `system` or both.
        ranking_query: What documents and history are ranked by, where that is not the query.
        progress: True for a bar of tqdm, with the extra `notebook`; a function of (done, total); None for no progress.

    Raises:
        ValueError: A setting is out of its range, or evidence is in no request.
        TypeError: An argument has a type that it cannot have.
        ImportError: A progress bar is asked for and tqdm is not installed.
    """
    if not (requests := tuple(request) if isinstance(request, Iterable) else (request,)):
        message = "`request` must be a ContextRequest or several, got none"
        raise ValueError(message)
    requests = tuple(map(read_whole, requests))
    window = resolve_window(model) if isinstance(model, str) else model
    if window is not None and not isinstance(window, ModelWindow):
        message = f"`model` must be a model id, a ModelWindow or None, got {type(window).__name__}"
        raise TypeError(message)
    tried = read_budgets(budgets)
    if prices and window is None and not any(isinstance(one, ContextBudget) and one.window for one in tried):
        message = "`prices` are by model, and none is known; give `model`, or budgets of `ContextBudget.for_model`"
        raise ValueError(message)
    cuts, own_prices = read_cuts(shares, strategies, documents), read_prices(prices or {})
    options = FitOptions(
        protect=frozenset((protect,) if isinstance(protect, str) else protect), ranking_query=ranking_query
    )
    given_counter = None if counter is None else counter_for(counter)
    rendered = renderer or ChatRenderer()
    measure = evidence_measure(evidence, requests)

    def uncut_tokens(one: ContextRequest) -> int:
        of_model = budget_for(1, window, own_prices, int)
        return count_request(one, counter_of(of_model, given_counter), rendered)

    def rows() -> Iterator[SweepRow]:
        for (index, one), asked in product(enumerate(requests), tried):
            budget = budget_for(asked, window, own_prices, partial(uncut_tokens, one))
            for trial in trials(one, budget, cuts, counter_of(budget, given_counter), rendered, options):
                yield SweepRow(
                    request=index,
                    budget=trial.budget.input_budget,
                    fraction=asked if isinstance(asked, float) else None,
                    system_share=float(trial.budget.shares.system),
                    query_share=float(trial.budget.shares.query),
                    documents_share=float(trial.budget.shares.documents),
                    history_share=float(trial.budget.shares.history),
                    strategy=trial.cut.strategy,
                    selection=trial.cut.selection,
                    evidence=None if trial.fitted is None else measure(index, trial.fitted),
                    error=trial.error,
                    **({} if trial.fitted is None else figure_columns(trial.fitted.report)),
                )

    total = len(requests) * len(tried) * len(cuts)
    return Sweep(rows=tuple(with_progress(rows(), total, progress=progress)))


def with_progress(rows: Iterator[T], total: int, *, progress: Progress | bool | None) -> Iterator[T]:
    """Return the rows, each of which is made as it is read, and report each one that was read to `progress`."""
    if progress is None or progress is False:
        yield from rows
    elif progress is True:
        with needs("tqdm", _NO_TQDM):
            from tqdm.auto import tqdm
        yield from tqdm(rows, total=total)
    elif callable(progress):
        progress(0, total)
        for done, row in enumerate(rows, start=1):
            yield row
            progress(done, total)
    else:
        message = f"`progress` must be True, None or a function of (done, total), got {type(progress).__name__}"
        raise TypeError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One way to fit a request, and its result.

    Args:
        cut: How the request was cut.
        budget: The budget, with the shares of this cut.
        fitted: The fitted request; None where it cannot be made to fit.
        error: Why it cannot; None where it fits.
    """

    cut: Cut
    budget: ContextBudget
    fitted: FittedContext | None = None
    error: str | None = None


def trials(
    request: ContextRequest,
    budget: ContextBudget,
    cuts: Iterable[Cut],
    counter: TokenCounter,
    renderer: RequestRenderer,
    options: FitOptions,
) -> Iterator[Trial]:
    """Yield the result of each cut of a request that `read_whole` returned. Nothing is sent, so nothing is logged."""
    counts: Mapping[str, int] | None = None  # the whole request is counted once, for the first report
    for cut in cuts:
        shared = budget if cut.shares is None else replace(budget, shares=cut.shares)
        chosen = replace(options, history=cut.history, documents=cut.documents)
        try:
            fitted = fitted_with(request, shared, counter, renderer, chosen)
        except ContextBudgetError as error:
            yield Trial(cut=cut, budget=shared, error=preview(str(error), LONGEST_REASON))
        else:
            counts = fitted.report.count_before() if counts is None else counts
            report = replace(fitted.report, count_before=partial(dict, counts))
            yield Trial(cut=cut, budget=shared, fitted=replace(fitted, report=report))


def read_whole(request: object) -> ContextRequest:
    """Return a request with its lazy parts read, so that each message is converted once for all settings."""
    if not isinstance(request, ContextRequest):
        message = f"`request` must be a ContextRequest or several, got {type(request).__name__}"
        raise TypeError(message)
    history = request.history
    messages = history if isinstance(history, (tuple, list)) else [history[i] for i in range(len(history))]
    return replace(request, history=messages, documents=tuple(request.documents))
