"""Build the report of a fit: budgets, documents, sections and the strip of turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Literal

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.conversation.conversation import Conversation
from ctxopt_core.conversation.turns import turn_ranges
from ctxopt_core.documents.document import Document, is_blank
from ctxopt_core.documents.packing import Packing
from ctxopt_core.fitting.cut import Cut
from ctxopt_core.fitting.measured_request import Subject, as_given
from ctxopt_core.fitting.sections import section_tokens
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.reports.fit_report import FitReport
from ctxopt_core.reports.rows import DocumentReport, HistoryReport, SectionReport, State, Stretch

StretchState = Literal["kept", "shortened", "summarised", "dropped"]
_MOST_STRETCHES = 48


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


def turn_stretches(conversation: Conversation, trimming: Trimming) -> tuple[Stretch, ...]:
    """Return what became of the turns, oldest first. The roles of the whole conversation are read for it."""
    kept, summarized = _members(trimming.kept), frozenset(trimming.summarized)
    states: list[StretchState] = []
    for turn in turn_ranges(conversation, len(conversation)):
        indices = [index for index in range(turn.start, turn.stop) if not conversation.is_system(index)]
        left = [index for index in indices if index in kept]
        if not left:
            states.append("summarised" if any(index in summarized for index in indices) else "dropped")
        elif len(left) < len(indices) or any(index in trimming.shortened for index in left):
            states.append("shortened")
        else:
            states.append("kept")
    return stretches(states[::-1])


def message_stretches(trimming: Trimming) -> tuple[Stretch, ...]:
    """Return what became of the messages, oldest first."""
    return stretches(list(_message_states(trimming)))


def _message_states(trimming: Trimming) -> Iterator[StretchState]:
    kept, summarized = _members(trimming.kept), frozenset(trimming.summarized)
    for index in range(trimming.length):
        if index in kept:
            yield "shortened" if index in trimming.shortened else "kept"
        else:
            yield "summarised" if index in summarized else "dropped"


def stretches(states: Sequence[StretchState]) -> tuple[Stretch, ...]:
    """Return neighbours of one state as one stretch; where that makes too many of them, equal parts of the whole."""
    runs = [Stretch(**{state: len(list(run))}) for state, run in groupby(states)]
    if len(runs) <= _MOST_STRETCHES:
        return tuple(runs)
    edges = [len(states) * position // _MOST_STRETCHES for position in range(_MOST_STRETCHES + 1)]
    return tuple(Stretch(**Counter[str](states[start:stop])) for start, stop in pairwise(edges) if start < stop)


def _members(indices: Sequence[int]) -> Collection[int]:
    return indices if isinstance(indices, range) else frozenset(indices)
