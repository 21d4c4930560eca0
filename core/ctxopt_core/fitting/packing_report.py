"""The report of documents that are packed by themselves, without a request around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctxopt_core.budget.model_budget import ModelBudget
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import Packing
from ctxopt_core.fitting.report_builder import document_rows
from ctxopt_core.reports.fit_report import FitReport


def packed_report(
    documents: Sequence[Document],
    packing: Packing,
    max_tokens: int,
    model_budget: ModelBudget,
    *,
    count_before: Callable[[], int],
    notes: Sequence[str] = (),
) -> FitReport:
    """Return the report of a packing.

    Args:
        documents: All documents.
        packing: What is kept of them.
        max_tokens: The budget that they were packed into, in tokens.
        model_budget: The window and the counter that they were packed by.
        count_before: Counts all documents as they came, rendered and joined, when it is asked for.
        notes: Choices that the caller should know of.
    """
    window, counter = model_budget.budget.window, model_budget.counter

    def before() -> dict[str, int]:
        tokens = count_before()
        return {"whole": tokens, "documents": tokens}

    return FitReport(
        input_budget=max_tokens,
        fixed=0,
        reserve=0,
        unchanged=packing.whole == tuple(range(len(documents))),
        counted_after=packing.tokens,
        model=window.model if window else None,
        context_window=window.context_window if window else None,
        window_source=window.source if window else "explicit",
        encoding=counter.name,
        exact=counter.exact,
        prices=model_budget.budget.prices,
        documents=document_rows(documents, packing),
        selection=packing.selection,
        score_order_share=packing.score_order_share,
        notes=tuple(notes),
        budgets={"system": 0, "query": 0, "documents": max_tokens, "history": 0},
        after={"documents": packing.tokens},
        cumulative_score=packing.cumulative_score,
        count_before=before,
        count_documents=lambda: [packing.costs.get(index, 0) for index in range(len(documents))],
    )
