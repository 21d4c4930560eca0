"""Building the report of a fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ctxopt_core.budget import ContextBudget
from ctxopt_core.conversation import Conversation
from ctxopt_core.cutting import Cut
from ctxopt_core.document_costs import is_blank
from ctxopt_core.documents import Packing
from ctxopt_core.history import Trimming
from ctxopt_core.history_strip import turn_stretches
from ctxopt_core.report import DocumentReport, FitReport, HistoryReport, SectionReport, State, Stretch
from ctxopt_core.request import Document
from ctxopt_core.section_cuts import section_tokens
from ctxopt_core.subject import Subject, as_given


def report_of_untouched(subject: Subject, budget: ContextBudget) -> FitReport:
    """Return the report of a request that fitted as it was. Its figures are counted when they are asked for."""
    length = len(subject.conversation)
    return FitReport(
        untouched=True,
        history=HistoryReport(messages=length, kept=length),
        count_history=_strip(subject, as_given(subject).trimming),
        documents=tuple(
            DocumentReport(id=_document_id(document, i), score=document.score, state="kept")
            for i, document in enumerate(subject.request.documents)
        ),
        fixed=subject.fixed,
        **_sections(subject, subject),
        **_common(subject, budget),
    )


def report_of_cut(subject: Subject, budget: ContextBudget, cut: Cut, fell_back_to: str | None) -> FitReport:
    """Return the report of a request that was cut."""
    trimming, notes = cut.draft.trimming, tuple[str, ...]()
    if subject.conversation.system_scan_bounded:
        notes = ("so long a conversation was searched for system messages at its two ends only",)
    return FitReport(
        untouched=False,
        counted_output=cut.whole,
        documents=document_rows(subject.request.documents, cut.packing),
        selection=cut.packing.selection,
        score_order_share=cut.packing.score_order_share,
        history=_history(subject, trimming),
        count_history=_strip(subject, trimming),
        strategy=trimming.strategy,
        fell_back_to=fell_back_to or trimming.fell_back_to,
        notes=(*notes, *trimming.notes),
        repeated_tokens=trimming.repeated_tokens,
        budgets=cut.allocation.as_dict(),
        after=dict(cut.used.items()),
        cumulative_score=cut.packing.cumulative_score,
        fixed=cut.subject.fixed,
        **_sections(subject, cut.subject),
        **_common(subject, budget),
    )


def _common(subject: Subject, budget: ContextBudget) -> dict[str, Any]:
    window = budget.window
    return {
        "input_budget": budget.input_tokens,
        "reserve": budget.output_reserve + budget.safety_margin,
        "model": window.model if window else None,
        "context_window": window.context_window if window else budget.context_window,
        "window_source": window.source if window else "explicit",
        "encoding": subject.counter.name,
        "exact": subject.counter.exact,
        "prices": budget.prices,
        "count_before": _before(subject),
        "count_documents": lambda: _document_tokens(subject),
    }


def _sections(given: Subject, left: Subject) -> dict[str, Any]:
    if not given.request.sections:
        return {}
    pairs = zip(given.request.sections, left.request.sections, strict=True)
    return {
        "sections": tuple(
            SectionReport(name=before.name, entries=len(before.entries), kept=len(after.entries))
            for before, after in pairs
        ),
        "count_sections": lambda: section_tokens(left.request, left.framing, left.counter),
    }


def _before(subject: Subject) -> Callable[[], Mapping[str, int]]:
    """A function that counts the whole input, for figures that are asked for later."""

    def count() -> Mapping[str, int]:
        request, counter = subject.request, subject.counter
        conversation = Conversation(request.history, counter)
        overhead = subject.framing.system_overhead(counter)
        systems = sum(map(conversation.cost, conversation.systems))
        asked = 0 if subject.query is None else conversation.cost(subject.query)
        everything = sum(conversation.cost(i) for i in range(len(conversation)))
        return {
            "whole": subject.framing.whole(request, conversation, as_given(subject), counter),
            "system": systems + sum(counter.count(text) + overhead for text in request.system_texts),
            "query": asked + sum(map(counter.count, request.query_texts)),
            "documents": sum(_document_tokens(subject)),
            "history": everything - systems - asked,
        }

    return count


def _strip(subject: Subject, trimming: Trimming) -> Callable[[], Sequence[Stretch]]:
    return lambda: turn_stretches(Conversation(subject.request.history, subject.counter), trimming)


def _document_tokens(subject: Subject) -> list[int]:
    rendering, count = subject.framing.documents, subject.counter.count
    return [
        0 if is_blank(document) else count(rendering.render(i, document.text or "") + rendering.separator)
        for i, document in enumerate(subject.request.documents)
    ]


def document_rows(documents: Sequence[Document], packing: Packing) -> tuple[DocumentReport, ...]:
    """Return what became of each document."""
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


def _history(subject: Subject, trimming: Trimming) -> HistoryReport:
    length = len(subject.conversation)
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
        summarised=len(trimming.summarized),
        turns=trimming.turns,
        placeholder=trimming.placeholder is not None,
        reasons=dict(reasons),
        system_scan_bounded=subject.conversation.system_scan_bounded,
    )
