"""Fitting one request into its context window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias, Unpack

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.model_budget import counter_of
from ctxopt_core.budget.shares import BudgetWarning, Shares
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.fitting.components import Cut
from ctxopt_core.fitting.cut import cut, cut_to_query
from ctxopt_core.fitting.division import UnfittableError
from ctxopt_core.fitting.fit_log import log_fit
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.fitting.measured_request import MeasuredRequest, as_given, everything_packed, fits
from ctxopt_core.fitting.options import FitArguments, FitOptions, options_of
from ctxopt_core.fitting.refusal import refusal
from ctxopt_core.fitting.report_builder import report_of_cut, report_of_unchanged
from ctxopt_core.fitting.request_renderer import ChatRenderer, RequestRenderer, schema_reserve
from ctxopt_core.reports.fit_report import FitReport
from ctxopt_core.request import ContextRequest
from ctxopt_core.runtime.warn_once import warn_once

Way: TypeAlias = Callable[[MeasuredRequest, Shares, FitOptions], Cut]
_NO_RESERVE = "nothing is kept free for tool schemas beyond their count"
_EMPTIED = (
    "a request could not be cut to its input budget of {:,} tokens, so everything but the query was emptied; "
    "`overflow='error'` raises instead"
)


def fit(request: ContextRequest, budget: ContextBudget, **arguments: Unpack[FitArguments]) -> FittedContext:
    """Fit a request into its input budget; a request that fits comes back as it is.

    Each fit is logged to the logger `ctxopt_core` with two records of figures; see `ctxopt_core.fitting.fit_log`.

    Args:
        request: The request. It is read and never changed.
        budget: Window, reserve and shares.
        arguments: Any of these, by name.
            `counter`: counts tokens, or a function that does; by default the tokenizer of the budget's model, else
            `o200k_base`.
            `renderer`: how the request is rendered; by default as a chat request with one user message for documents
            and query.
            `documents`: how documents are chosen, as `DocumentPolicy` or a mapping of its fields.
            `history`: how the conversation is trimmed, as `HistoryPolicy`, a mapping or a strategy's name.
            `protect`: components that may not be cut: `query`, `system` or both.
            `ranking_query`: what documents and history are ranked by, where that is not the query.
            `overflow`: `error` raises when the parts that may not be cut are too big; `empty` empties everything but
            the query and warns once.

    Returns:
        The parts that fit. Rendered, they have at most `budget.input_budget` tokens.

    Raises:
        ContextBudgetError: The parts that may not be cut are larger than the input budget.
        TypeError: There is no such argument, or one has a type that it cannot have.
        ValueError: An option is out of its range.

    Example:
        >>> from ctxopt_core import CallableCounter, ContextBudget, ContextRequest, Document, fit
        >>> request = ContextRequest(
        ...     query="How long does the lamp burn?",
        ...     documents=[
        ...         Document(id="shop", text="The shop sells rope and tar.", score=0.2),
        ...         Document(id="pier", text="The lamp on the pier burns for nine hours.", score=0.9),
        ...     ],
        ... )
        >>> fitted = fit(request, ContextBudget(max_input_tokens=90), counter=CallableCounter(len))
        >>> fitted.document_texts()
        ('The lamp on the pier burns for nine hours.',)
        >>> fitted.report.within_budget
        True
    """
    return fit_with(request, budget, *_read(request, budget, arguments))


async def afit(request: ContextRequest, budget: ContextBudget, **arguments: Unpack[FitArguments]) -> FittedContext:
    """Fit a request as `fit` does, in a worker thread, so that the event loop stays free. The result is identical.

    A scorer that can be awaited is awaited on the event loop.

    Example:
        >>> import asyncio
        >>> from ctxopt_core import CallableCounter, ContextBudget, ContextRequest, afit
        >>> request, budget = ContextRequest(query="Why?"), ContextBudget(max_input_tokens=90)
        >>> asyncio.run(afit(request, budget, counter=CallableCounter(len))).unchanged
        True
    """
    from ctxopt_core.runtime.event_loop import in_worker

    return await in_worker(fit, request, budget, **arguments)


def plan(request: ContextRequest, budget: ContextBudget, **arguments: Unpack[FitArguments]) -> FitReport:
    """Return the report that `fit` would give. Nothing is changed, and nothing is logged: nothing will be sent.

    Example:
        >>> from ctxopt_core import CallableCounter, ContextBudget, ContextRequest, Message, plan
        >>> chat = [Message(role="user", content="word " * 20), Message(role="assistant", content="Yes.")] * 3
        >>> request = ContextRequest(history=[*chat, Message(role="user", content="And now?")])
        >>> report = plan(request, ContextBudget(max_input_tokens=200), counter=CallableCounter(len))
        >>> report.tokens_before, report.tokens_after <= 200
        (387, True)
    """
    return fitted_with(request, budget, *_read(request, budget, arguments)).report


def _read(
    request: ContextRequest, budget: ContextBudget, arguments: FitArguments
) -> tuple[TokenCounter, RequestRenderer, FitOptions]:
    _check_kinds(request, budget)
    options = options_of(arguments)
    return counter_of(budget, arguments.get("counter")), arguments.get("renderer") or ChatRenderer(), options


def _check_kinds(request: object, budget: object) -> None:
    """Refuse what is no request or no budget, and say what to call with it."""
    if not isinstance(request, ContextRequest):
        if isinstance(request, (list, tuple)):
            remedy = "call `fit_messages(messages, model=...)` for a list of messages"
        elif isinstance(request, Mapping):
            remedy = "call `fit_messages(request['messages'], model=...)` for a request to a provider"
        elif isinstance(request, str):
            remedy = "write `ContextRequest(query=...)`, or call `truncate` to shorten one string"
        else:
            remedy = "write `ContextRequest(history=...)`"
        message = f"`request` must be a ContextRequest, got {type(request).__name__}; {remedy}"
        raise TypeError(message)
    if not isinstance(budget, ContextBudget):
        remedy = "write `ContextBudget.for_model(...)` for a model"
        if isinstance(budget, str):
            remedy = f"write `ContextBudget.for_model({budget!r:.80})` for the name of a model"
        elif isinstance(budget, int):
            remedy = f"write `ContextBudget(max_input_tokens={budget})` for a number of tokens"
        elif isinstance(budget, Mapping):
            remedy = "write `ContextBudget.from_mapping(...)` for a mapping of settings"
        message = f"`budget` must be a ContextBudget, got {type(budget).__name__}; {remedy}"
        raise TypeError(message)


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
    measured = MeasuredRequest(request=request, limit=budget.effective_target, counter=counter, renderer=renderer)
    reserve = schema_reserve(request, counter)
    reserved = measured.with_limit(measured.limit - reserve) if reserve else measured
    if fits(reserved):
        return _unchanged(measured, budget)
    outcome = _cut_to(reserved, budget, options)
    if reserve and not (outcome and outcome.texts_are_whole) and fits(measured):
        # What is kept free for schemas beyond their count may cost turns and documents, and not the question.
        return _unchanged(measured, budget)
    if outcome is not None:
        return _cut_context(measured, budget, outcome)
    if reserve:
        outcome = _cut_to(measured, budget, options)
        if outcome is not None:
            return _cut_context(measured, budget, outcome, notes=(_NO_RESERVE,))
    if budget.effective_target < budget.input_budget:
        return fitted_with(request, replace(budget, trigger=1.0), counter, renderer, options)
    if options.overflow == "empty":
        outcome = _cut_to(measured, budget, options, cut_to_query)
        if outcome is not None:
            warn_once(_EMPTIED.format(budget.input_budget), BudgetWarning, stacklevel=4)
            return _cut_context(measured, budget, outcome, fallback="empty")

    def fits_into(limit: int) -> bool:
        larger = replace(measured, limit=limit)
        ways = (cut, cut_to_query) if options.overflow == "empty" else (cut,)
        return fits(larger) or any(_cut_to(larger, budget, without_calls, way) is not None for way in ways)

    without_calls = _without_calls(options)
    raise refusal(measured, budget, options, fits_into)


def _cut_to(measured: MeasuredRequest, budget: ContextBudget, options: FitOptions, way: Way = cut) -> Cut | None:
    """Return what a request is cut to; None where it cannot be made to fit."""
    try:
        return way(measured, budget.shares, options)
    except UnfittableError:
        return None


def _without_calls(options: FitOptions) -> FitOptions:
    """Return options that call nothing of the user's, for cuts of which only the size is looked at."""
    documents, history = replace(options.documents, scorer=None), replace(options.history, scorer=None)
    if callable(history.strategy) or history.summarizes:
        history = replace(history, strategy="turns", max_messages=None)
    return replace(options, documents=documents, history=history)


def _cut_context(
    measured: MeasuredRequest,
    budget: ContextBudget,
    outcome: Cut,
    *,
    fallback: str | None = None,
    notes: tuple[str, ...] = (),
) -> FittedContext:
    return FittedContext(
        request=measured.request,
        system=outcome.draft.system,
        query=outcome.draft.query,
        documents=outcome.packing,
        history=outcome.draft.trimming,
        sections=tuple(tuple(section.entries) for section in outcome.measured.request.sections),
        report=report_of_cut(measured, budget, outcome, fallback, notes),
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
