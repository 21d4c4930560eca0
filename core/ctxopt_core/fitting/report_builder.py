"""Build the report of a fit: budgets, documents, sections and the strip of turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Literal

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.model_budget import ModelBudget
from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import newest_turns
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import Packing
from ctxopt_core.documents.rendering import DocumentCosts
from ctxopt_core.fitting.components import Cut
from ctxopt_core.fitting.measured_request import MeasuredRequest, as_given
from ctxopt_core.fitting.request_renderer import Draft, opening_system_text, schema_tokens
from ctxopt_core.fitting.sections import section_tokens
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.reports.fit_report import FitReport
from ctxopt_core.reports.rows import DocumentReport, HistoryReport, SectionReport, State, Stretch

StretchState = Literal["kept", "shortened", "summarized", "dropped"]
_MOST_STRETCHES = 48  # segments of the history bar: more cannot be told apart in a notebook's width


def report_of_unchanged(measured: MeasuredRequest, budget: ContextBudget) -> FitReport:
    """Return the report of a request that fitted as it was. Its figures are counted when they are asked for."""
    length = len(measured.conversation)
    return FitReport(
        unchanged=True,
        history=HistoryReport(messages=length, kept=length),
        count_history=_strip(measured, as_given(measured).trimming),
        documents=tuple(
            DocumentReport(id=_document_id(document, i), score=document.score, state="kept")
            for i, document in enumerate(measured.request.documents)
        ),
        fixed=measured.overhead,
        **_sections(measured, measured),
        **_tools(measured, as_given(measured)),
        **_common(measured, budget),
    )


def report_of_cut(
    measured: MeasuredRequest, budget: ContextBudget, cut: Cut, fallback: str | None, notes: tuple[str, ...] = ()
) -> FitReport:
    """Return the report of a request that was cut."""
    trimming = cut.draft.trimming
    if measured.conversation.system_scan_bounded:
        notes += ("so long a conversation was searched for system messages at its two ends only",)
    if _question_is_shorter(measured, cut):
        notes += ("the question was shortened: it needs more than what may not be cut leaves it",)
    return FitReport(
        unchanged=False,
        counted_after=cut.whole,
        documents=document_rows(measured.request.documents, cut.packing),
        selection=cut.packing.selection,
        score_order_share=cut.packing.score_order_share,
        history=_history(measured, trimming),
        count_history=_strip(measured, trimming),
        strategy=trimming.strategy,
        fallback=fallback or trimming.fallback,
        notes=(*notes, *cut.packing.notes, *trimming.notes),
        reused_prefix_tokens=trimming.reused_prefix_tokens,
        budgets=cut.allocation.as_dict(),
        after=dict(cut.used.items()),
        cumulative_score=cut.packing.cumulative_score,
        fixed=cut.measured.overhead,
        **_sections(measured, cut.measured),
        **_tools(cut.measured, cut.draft),
        **_common(measured, budget),
    )


def _question_is_shorter(measured: MeasuredRequest, cut: Cut) -> bool:
    if measured.query is None:
        return tuple(cut.draft.query) != tuple(measured.request.query_texts)
    left = cut.draft.shortened.get(measured.query)
    # The results beside it may go by themselves.
    return left is not None and (cut.used["query"] < cut.measured.conversation.cost(measured.query))


def _common(measured: MeasuredRequest, budget: ContextBudget) -> dict[str, Any]:
    return {
        "input_budget": budget.input_budget,
        "reserve": budget.output_reserve + budget.safety_margin,
        "safety_margin": budget.safety_margin,
        "context_window": budget.window.context_window if budget.window else budget.context_window,
        **_model_figures(budget, measured.counter),
        "count_before": _before(measured),
        "count_documents": lambda: _document_tokens(measured),
    }


def _model_figures(budget: ContextBudget, counter: TokenCounter) -> dict[str, Any]:
    window = budget.window
    return {
        "model": window.model if window else None,
        "window_source": window.source if window else "explicit",
        "encoding": counter.name,
        "exact": counter.exact,
        "prices": budget.prices,
    }


def _sections(given: MeasuredRequest, left: MeasuredRequest) -> dict[str, Any]:
    if not given.request.sections:
        return {}
    pairs = zip(given.request.sections, left.request.sections, strict=True)
    return {
        "sections": tuple(
            SectionReport(name=before.name, entries=len(before.entries), kept=len(after.entries))
            for before, after in pairs
        ),
        "count_sections": lambda: section_tokens(left.request, left.renderer, left.counter),
    }


def _tools(measured: MeasuredRequest, draft: Draft) -> dict[str, Any]:
    request, counter = measured.request, measured.counter
    if not request.tools:
        return {}

    def count() -> int:
        opening = opening_system_text(request, draft.system, draft.trimming)
        return schema_tokens(request, counter, system=opening)

    return {"count_tools": count}


def _before(measured: MeasuredRequest) -> Callable[[], Mapping[str, int]]:
    """A function that counts the whole input, for figures that are asked for later."""

    def count() -> Mapping[str, int]:
        request, counter = measured.request, measured.counter
        conversation = CountedConversation(request.history, counter)
        overhead = measured.renderer.system_overhead(counter)
        systems = sum(map(conversation.cost, conversation.systems))
        asked = 0 if measured.query is None else conversation.cost(measured.query)
        everything = sum(conversation.cost(i) for i in range(len(conversation)))
        return {
            "whole": measured.renderer.count(request, conversation, as_given(measured), counter),
            "system": systems + sum(counter.count(text) + overhead for text in request.system_texts),
            "query": asked + sum(map(counter.count, request.query_texts)),
            "documents": sum(_document_tokens(measured)),
            "history": everything - systems - asked,
        }

    return count


def _strip(measured: MeasuredRequest, trimming: Trimming) -> Callable[[], Sequence[Stretch]]:
    return lambda: turn_stretches(CountedConversation(measured.request.history, measured.counter), trimming)


def _document_tokens(measured: MeasuredRequest) -> list[int]:
    costs = DocumentCosts(measured.request.documents, measured.renderer.documents, measured.counter)
    return [costs.get(index, 0) for index in range(len(costs.documents))]


def packed_report(
    documents: Sequence[Document],
    packing: Packing,
    max_tokens: int,
    model_budget: ModelBudget,
    *,
    count_before: Callable[[], int],
    notes: Sequence[str] = (),
) -> FitReport:
    """Return the report of documents that are packed by themselves, without a request around them.

    Args:
        documents: All documents.
        packing: What is kept of them.
        max_tokens: The budget that they were packed into, in tokens.
        model_budget: The window and the counter that they were packed by.
        count_before: Counts all documents as they came, rendered and joined, when it is asked for.
        notes: Choices that the caller should know of.
    """
    window = model_budget.budget.window

    def before() -> dict[str, int]:
        tokens = count_before()
        return {"whole": tokens, "documents": tokens}

    return FitReport(
        input_budget=max_tokens,
        fixed=0,
        reserve=0,
        unchanged=packing.whole == tuple(range(len(documents))),
        counted_after=packing.tokens,
        context_window=window.context_window if window else None,
        **_model_figures(model_budget.budget, model_budget.counter),
        documents=document_rows(documents, packing),
        selection=packing.selection,
        score_order_share=packing.score_order_share,
        notes=(*packing.notes, *notes),
        budgets={"system": 0, "query": 0, "documents": max_tokens, "history": 0},
        after={"documents": packing.tokens},
        cumulative_score=packing.cumulative_score,
        count_before=before,
        count_documents=lambda: [packing.costs.get(index, 0) for index in range(len(documents))],
    )


def document_rows(documents: Sequence[Document], packing: Packing) -> tuple[DocumentReport, ...]:
    """Return one row for each document: kept, partial or dropped, and why."""
    outranked = frozenset(packing.notable_drops)
    states: dict[int, State] = {**dict.fromkeys(packing.whole, "kept"), **dict.fromkeys(packing.partial, "partial")}
    return tuple(
        DocumentReport(
            id=_document_id(document, index),
            score=document.score,
            state=states.get(index, "dropped"),
            reason=None if index in states else packing.dropped.get(index, "budget"),
            outranked=index in outranked,
        )
        for index, document in enumerate(documents)
    )


def _document_id(document: Document, index: int) -> str:
    return str(index) if document.id is None else document.id


def _history(measured: MeasuredRequest, trimming: Trimming) -> HistoryReport:
    length = len(measured.conversation)
    missing = length - len(trimming.kept)
    reasons: Counter[str] = Counter(reason for index, reason in trimming.reasons.items() if index not in trimming.kept)
    reasons.pop("summarized", None)
    missing -= len(trimming.summarized)
    if over_budget := missing - sum(reasons.values()):
        reasons["budget"] = over_budget
    return HistoryReport(
        messages=length,
        kept=len(trimming.kept),
        shortened=len(trimming.shortened),
        summarized=len(trimming.summarized),
        turns=trimming.turns,
        placeholder=trimming.placeholder is not None,
        recalled=len(trimming.recalled),
        reasons=dict(reasons),
        system_scan_bounded=measured.conversation.system_scan_bounded,
    )


def turn_stretches(conversation: CountedConversation, trimming: Trimming) -> tuple[Stretch, ...]:
    """Return which turns were kept, shortened, summarized or dropped, oldest first; every role is read for it."""
    kept, summarized = _members(trimming.kept), frozenset(trimming.summarized)
    states: list[StretchState] = []
    for turn in newest_turns(conversation, len(conversation), counted=False):
        indices = [index for index in range(turn.start, turn.stop) if not conversation.is_system(index)]
        left = [index for index in indices if index in kept]
        if not left:
            states.append("summarized" if any(index in summarized for index in indices) else "dropped")
        elif len(left) < len(indices) or any(index in trimming.shortened for index in left):
            states.append("shortened")
        else:
            states.append("kept")
    return stretches(states[::-1])


def message_stretches(trimming: Trimming) -> tuple[Stretch, ...]:
    """Return which messages were kept, shortened, summarized or dropped, oldest first."""
    return stretches(list(_message_states(trimming)))


def _message_states(trimming: Trimming) -> Iterator[StretchState]:
    kept, summarized = _members(trimming.kept), frozenset(trimming.summarized)
    for index in range(trimming.length):
        if index in kept:
            yield "shortened" if index in trimming.shortened else "kept"
        else:
            yield "summarized" if index in summarized else "dropped"


def stretches(states: Sequence[StretchState]) -> tuple[Stretch, ...]:
    """Return neighbors of one state as one stretch; where that makes too many of them, equal parts of the whole."""
    runs = [Stretch(**{state: len(list(run))}) for state, run in groupby(states)]
    if len(runs) <= _MOST_STRETCHES:
        return tuple(runs)
    edges = [len(states) * position // _MOST_STRETCHES for position in range(_MOST_STRETCHES + 1)]
    return tuple(Stretch(**Counter[str](states[start:stop])) for start, stop in pairwise(edges) if start < stop)


def _members(indices: Sequence[int]) -> Collection[int]:
    return indices if isinstance(indices, range) else frozenset(indices)
