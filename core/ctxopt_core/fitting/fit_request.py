"""Fitting one request into its context window."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.model_budget import counter_of
from ctxopt_core.budget.shares import BudgetWarning
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.policy import DocumentPolicy
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fitting.cut import Cut, cut, cut_to_query
from ctxopt_core.fitting.fit_log import log_fit
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.fitting.measured_request import MeasuredRequest, as_given, everything_packed, fits
from ctxopt_core.fitting.options import FitOptions, Overflow, as_value
from ctxopt_core.fitting.report_builder import report_of_cut, report_of_unchanged
from ctxopt_core.fitting.request_renderer import ChatRenderer, RequestRenderer, schema_reserve
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.reports.fit_report import FitReport
from ctxopt_core.request import ContextRequest
from ctxopt_core.runtime.warn_once import warn_once


def fit(
    request: ContextRequest,
    budget: ContextBudget,
    *,
    counter: TokenCounter | Callable[[str], int] | None = None,
    renderer: RequestRenderer | None = None,
    documents: DocumentPolicy | Mapping[str, Any] | None = None,
    history: HistoryPolicy | Mapping[str, Any] | None = None,
    protect: Collection[str] = (),
    ranking_query: str = "",
    overflow: Overflow = "error",
) -> FittedContext:
    """Fit a request into its input budget; a request that fits comes back as it is.

    Args:
        request: The request. It is read and never changed.
        budget: Window, reserve and shares.
        counter: Counts tokens, or a function that does; by default the tokenizer of the budget's model, else
            `o200k_base`.
        renderer: How the request is rendered; by default as a chat request with one user message for documents and
            query.
        documents: How documents are chosen, as `DocumentPolicy` or a mapping of its fields.
        history: How the conversation is trimmed, as `HistoryPolicy` or a mapping of its fields.
        protect: Components that may not be cut: `query`, `system` or both.
        ranking_query: What is asked, where that is not the query: what documents and history are ranked by.
        overflow: `error` raises when the untouchable parts are too big; `empty` empties everything but the query and
            warns once.

    Each fit is logged to the logger `ctxopt_core` with two records of figures; see `ctxopt_core.fit_log`.

    Returns:
        The parts that fit. Rendered, they count at most `budget.input_budget`.

    Raises:
        ContextBudgetError: The parts that may not be cut are larger than the input budget.
        ValueError: An option is out of its range.
    """
    chosen = counter_of(budget, counter)
    options = _options(documents, history, protect, ranking_query, overflow)
    return fit_with(request, budget, chosen, renderer or ChatRenderer(), options)


async def afit(
    request: ContextRequest,
    budget: ContextBudget,
    *,
    counter: TokenCounter | Callable[[str], int] | None = None,
    renderer: RequestRenderer | None = None,
    documents: DocumentPolicy | Mapping[str, Any] | None = None,
    history: HistoryPolicy | Mapping[str, Any] | None = None,
    protect: Collection[str] = (),
    ranking_query: str = "",
    overflow: Overflow = "error",
) -> FittedContext:
    """Fit a request as `fit` does, in a worker thread, so that the event loop stays free. The result is identical.

    A scorer that can be awaited is awaited on the event loop.
    """
    from ctxopt_core.runtime.event_loop import in_worker

    return await in_worker(
        fit,
        request,
        budget,
        counter=counter,
        renderer=renderer,
        documents=documents,
        history=history,
        protect=protect,
        ranking_query=ranking_query,
        overflow=overflow,
    )


def plan(
    request: ContextRequest,
    budget: ContextBudget,
    *,
    counter: TokenCounter | Callable[[str], int] | None = None,
    renderer: RequestRenderer | None = None,
    documents: DocumentPolicy | Mapping[str, Any] | None = None,
    history: HistoryPolicy | Mapping[str, Any] | None = None,
    protect: Collection[str] = (),
    ranking_query: str = "",
    overflow: Overflow = "error",
) -> FitReport:
    """Return the report that `fit` would give. Nothing is changed, and nothing is logged: nothing will be sent."""
    chosen = counter_of(budget, counter)
    options = _options(documents, history, protect, ranking_query, overflow)
    return fitted_with(request, budget, chosen, renderer or ChatRenderer(), options).report


def _options(
    documents: DocumentPolicy | Mapping[str, Any] | None,
    history: HistoryPolicy | Mapping[str, Any] | None,
    protect: Collection[str],
    ranking_query: str,
    overflow: Overflow,
) -> FitOptions:
    return FitOptions(
        documents=DocumentPolicy() if documents is None else as_value(DocumentPolicy, documents, name="documents"),
        history=HistoryPolicy() if history is None else as_value(HistoryPolicy, history, name="history"),
        protect=frozenset((protect,) if isinstance(protect, str) else protect),
        ranking_query=ranking_query,
        overflow=overflow,
    )


def fit_with(
    request: ContextRequest,
    budget: ContextBudget,
    counter: TokenCounter,
    renderer: RequestRenderer,
    options: FitOptions,
) -> FittedContext:
    """Fit a request with options that were validated before, and log it. The working form of `fit`, for adapters."""
    fitted = fitted_with(request, budget, counter, renderer, options)
    log_fit(fitted.report)
    return fitted


def fitted_with(
    request: ContextRequest,
    budget: ContextBudget,
    counter: TokenCounter,
    renderer: RequestRenderer,
    options: FitOptions,
) -> FittedContext:
    """Fit a request as `fit_with` does, without a word in the log. The working form of `plan`, for adapters."""
    limit = budget.effective_target - schema_reserve(request, counter)
    measured = MeasuredRequest(request=request, limit=limit, counter=counter, renderer=renderer)
    if fits(measured):
        return _unchanged(measured, budget)
    try:
        outcome = cut(measured, budget.shares, options)
    except ContextBudgetError:
        if budget.effective_target < budget.input_budget:
            return fitted_with(request, replace(budget, trigger=1.0), counter, renderer, options)
        if options.overflow != "empty":
            raise
        return _emptied(measured, budget, options)
    return _cut_context(measured, budget, outcome)


def _emptied(measured: MeasuredRequest, budget: ContextBudget, options: FitOptions) -> FittedContext:
    outcome = cut_to_query(measured, budget.shares, options)
    warn_once(
        f"a request could not be cut to its input budget of {measured.limit:,} tokens, so everything but the query was "
        "emptied; `overflow='error'` raises instead",
        BudgetWarning,
        stacklevel=5,
    )
    return _cut_context(measured, budget, outcome, fallback="empty")


def _cut_context(
    measured: MeasuredRequest, budget: ContextBudget, outcome: Cut, fallback: str | None = None
) -> FittedContext:
    return FittedContext(
        request=measured.request,
        system=outcome.draft.system,
        query=outcome.draft.query,
        documents=outcome.packing,
        history=outcome.draft.trimming,
        sections=tuple(tuple(section.entries) for section in outcome.measured.request.sections),
        report=report_of_cut(measured, budget, outcome, fallback),
        unchanged=False,
    )


def _unchanged(measured: MeasuredRequest, budget: ContextBudget) -> FittedContext:
    draft = as_given(measured)
    return FittedContext(
        request=measured.request,
        system=draft.system,
        query=draft.query,
        documents=everything_packed(measured),
        history=draft.trimming,
        sections=tuple(tuple(section.entries) for section in measured.request.sections),
        report=report_of_unchanged(measured, budget),
        unchanged=True,
    )
