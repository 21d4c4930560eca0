"""Requests whose reports are shown, and the values that show themselves."""

from __future__ import annotations

from typing import Any

from ctxopt_core import (
    ContextBudget,
    ContextRequest,
    Document,
    FittedContext,
    Message,
    Section,
    Shares,
    allocate,
    counter_for,
    fit,
    pack_documents,
    trim_history,
)

WORDS = counter_for(lambda text: len(text.split()))
SECRET = "hunter2"
BUDGET = ContextBudget(context_window=400, output_reserve=50, safety_margin=10)


def shown_request(turns: int = 20, documents: int = 10) -> ContextRequest:
    """Return a request in which every text holds a secret."""
    return ContextRequest(
        system=f"Keep {SECRET} to yourself.",
        query=f"Where is {SECRET}?",
        documents=[
            Document(id=f"d{i}", text=f"{SECRET} {i} " * (3 * i + 5), score=1 - i / documents) for i in range(documents)
        ],
        history=[Message(role=r, content=f"{SECRET} {i} " * 5) for i in range(turns) for r in ("user", "assistant")],
    )


def shown_fit(turns: int = 20, documents: int = 10) -> FittedContext:
    """Return a request cut to 340 words."""
    return fit(shown_request(turns, documents), BUDGET, counter=WORDS)


def shown_values() -> dict[str, Any]:
    """Return one of each value that shows itself."""
    request = shown_request()
    sections = ContextRequest(
        query=SECRET, sections=[Section(name="memories", entries=[SECRET] * 5, max_tokens=20)], history=request.history
    )
    cut = shown_fit()
    return {
        "fitted": cut,
        "report": cut.report,
        "unchanged": fit(shown_request(1, 1), BUDGET, counter=WORDS).report,
        "empty": fit(ContextRequest(), BUDGET, counter=WORDS).report,
        "sections": fit(sections, BUDGET, counter=WORDS).report,
        "model": fit(request, ContextBudget.for_model("gpt-4o", target_tokens=300)).report,
        "allocation": allocate(100, {"system": 20, "documents": 200}, Shares()),
        "no_allocation": allocate(0, {}, Shares()),
        "packing": pack_documents(request.documents, 60, WORDS),
        "no_packing": pack_documents([], 60, WORDS),
        "trimming": trim_history(request.history, 60, WORDS),
        "no_trimming": trim_history([], 60, WORDS),
    }
