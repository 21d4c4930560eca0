"""Fitting one request into its context window."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from ctxopt_core.accounts import report_of_cut, report_of_untouched
from ctxopt_core.budget import BudgetWarning, ContextBudget
from ctxopt_core.cutting import Cut, cut, cut_to_query
from ctxopt_core.document_policy import DocumentPolicy
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fit_log import log_fit
from ctxopt_core.fitted import FittedContext
from ctxopt_core.history import HistoryPolicy
from ctxopt_core.model_counter import ModelCounter
from ctxopt_core.options import FitOptions, Overflow
from ctxopt_core.provider_rules import NO_MODEL, rules_for
from ctxopt_core.rendering import ChatFraming, Framing, schema_reserve
from ctxopt_core.report import FitReport
from ctxopt_core.request import ContextRequest
from ctxopt_core.setting_values import as_value
from ctxopt_core.subject import Subject, as_given, everything_packed, fits
from ctxopt_core.tokens import TokenCounter, counter_for, counter_of_encoding
from ctxopt_core.warn_once import warn_once

_DEFAULT_ENCODING = "o200k_base"


def fit(
    request: ContextRequest,
    budget: ContextBudget,
    *,
    counter: TokenCounter | Callable[[str], int] | None = None,
    framing: Framing | None = None,
    documents: DocumentPolicy | Mapping[str, Any] | None = None,
    history: HistoryPolicy | Mapping[str, Any] | None = None,
    protect: Collection[str] = (),
    task: str = "",
    overflow: Overflow = "error",
) -> FittedContext:
    """Fit a request into its input budget; a request that fits comes back as it is.

    Args:
        request: The request. It is read and never changed.
        budget: Window, reserve and shares.
        counter: Counts tokens, or a function that does; by default the tokenizer of the budget's model, else
            `o200k_base`.
        framing: How the request is rendered; by default as a chat request with one user message for documents and
            query.
        documents: How documents are chosen, as `DocumentPolicy` or a mapping of its fields.
        history: How the conversation is trimmed, as `HistoryPolicy` or a mapping of its fields.
        protect: Components that may not be cut: `query`, `system` or both.
        task: What is asked, where that is not the query: what documents and history are ranked by.
        overflow: `error` raises when the untouchable parts are too big; `empty` empties everything but the query and
            warns once.

    Each fit is logged to the logger `ctxopt_core` with two records of figures; see `ctxopt_core.fit_log`.

    Returns:
        The parts that fit. Rendered, they count at most `budget.input_tokens`.

    Raises:
        ContextBudgetError: The parts that may not be cut are larger than the input budget.
        ValueError: An option is out of its range.
    """
    chosen = counter_of(budget, counter)
    options = _options(documents, history, protect, task, overflow)
    return fit_with(request, budget, chosen, framing or ChatFraming(), options)


async def afit(
    request: ContextRequest,
    budget: ContextBudget,
    *,
    counter: TokenCounter | Callable[[str], int] | None = None,
    framing: Framing | None = None,
    documents: DocumentPolicy | Mapping[str, Any] | None = None,
    history: HistoryPolicy | Mapping[str, Any] | None = None,
    protect: Collection[str] = (),
    task: str = "",
    overflow: Overflow = "error",
) -> FittedContext:
    """Fit a request as `fit` does, in a worker thread, so that the event loop stays free. The result is identical.

    A scorer that can be awaited is awaited on the event loop.
    """
    from ctxopt_core.awaiting import in_worker

    return await in_worker(
        fit,
        request,
        budget,
        counter=counter,
        framing=framing,
        documents=documents,
        history=history,
        protect=protect,
        task=task,
        overflow=overflow,
    )


def plan(
    request: ContextRequest,
    budget: ContextBudget,
    *,
    counter: TokenCounter | Callable[[str], int] | None = None,
    framing: Framing | None = None,
    documents: DocumentPolicy | Mapping[str, Any] | None = None,
    history: HistoryPolicy | Mapping[str, Any] | None = None,
    protect: Collection[str] = (),
    task: str = "",
    overflow: Overflow = "error",
) -> FitReport:
    """Return the report that `fit` would give. Nothing is changed, and nothing is logged: nothing will be sent."""
    chosen = counter_of(budget, counter)
    options = _options(documents, history, protect, task, overflow)
    return fitted_with(request, budget, chosen, framing or ChatFraming(), options).report


def _options(
    documents: DocumentPolicy | Mapping[str, Any] | None,
    history: HistoryPolicy | Mapping[str, Any] | None,
    protect: Collection[str],
    task: str,
    overflow: Overflow,
) -> FitOptions:
    return FitOptions(
        documents=DocumentPolicy() if documents is None else as_value(DocumentPolicy, documents, name="documents"),
        history=HistoryPolicy() if history is None else as_value(HistoryPolicy, history, name="history"),
        protect=frozenset((protect,) if isinstance(protect, str) else protect),
        task=task,
        overflow=overflow,
    )


def counter_of(budget: ContextBudget, counter: object = None) -> TokenCounter:
    """Return the token counter of the budget's model; `o200k_base` when no model is named.

    Args:
        budget: Its model decides how texts, attachments and tool schemas are counted.
        counter: Counts texts in place of the model's tokenizer: what `counter_for` takes; None for that one.
    """
    window = budget.window
    if counter is not None:
        texts = counter_for(counter)
    elif window is None:
        texts = counter_for(_DEFAULT_ENCODING)
    else:
        texts = counter_of_encoding(window.encoding, exact=window.exact, safety_factor=window.safety_factor)
    rules = rules_for(window.model if window else None, budget.attachment_tokens)
    return texts if rules == NO_MODEL else ModelCounter(texts, rules)


def fit_with(
    request: ContextRequest, budget: ContextBudget, counter: TokenCounter, framing: Framing, options: FitOptions
) -> FittedContext:
    """Fit a request with options that were validated before, and log it. The working form of `fit`, for adapters."""
    fitted = fitted_with(request, budget, counter, framing, options)
    log_fit(fitted.report)
    return fitted


def fitted_with(
    request: ContextRequest, budget: ContextBudget, counter: TokenCounter, framing: Framing, options: FitOptions
) -> FittedContext:
    """Fit a request as `fit_with` does, without a word in the log. The working form of `plan`, for adapters."""
    limit = budget.goal_tokens - schema_reserve(request, counter)
    subject = Subject(request=request, limit=limit, counter=counter, framing=framing)
    if fits(subject):
        return _untouched(subject, budget)
    try:
        outcome = cut(subject, budget.shares, options)
    except ContextBudgetError:
        if budget.goal_tokens < budget.input_tokens:
            return fitted_with(request, replace(budget, trigger=1.0), counter, framing, options)
        if options.overflow != "empty":
            raise
        return _emptied(subject, budget, options)
    return _cut_context(subject, budget, outcome)


def _emptied(subject: Subject, budget: ContextBudget, options: FitOptions) -> FittedContext:
    outcome = cut_to_query(subject, budget.shares, options)
    warn_once(
        f"a request could not be cut to its input budget of {subject.limit:,} tokens, so everything but the query was "
        "emptied; `overflow='error'` raises instead",
        BudgetWarning,
        stacklevel=5,
    )
    return _cut_context(subject, budget, outcome, fell_back_to="empty")


def _cut_context(
    subject: Subject, budget: ContextBudget, outcome: Cut, fell_back_to: str | None = None
) -> FittedContext:
    return FittedContext(
        request=subject.request,
        system=outcome.draft.system,
        query=outcome.draft.query,
        documents=outcome.packing,
        history=outcome.draft.trimming,
        sections=tuple(tuple(section.entries) for section in outcome.subject.request.sections),
        report=report_of_cut(subject, budget, outcome, fell_back_to),
        untouched=False,
    )


def _untouched(subject: Subject, budget: ContextBudget) -> FittedContext:
    draft = as_given(subject)
    return FittedContext(
        request=subject.request,
        system=draft.system,
        query=draft.query,
        documents=everything_packed(subject),
        history=draft.trimming,
        sections=tuple(tuple(section.entries) for section in subject.request.sections),
        report=report_of_untouched(subject, budget),
        untouched=True,
    )
