"""Run OpenAI-shaped rows through the core and give rows back."""

from __future__ import annotations

from typing import Any

from ctxopt_core import ContextBudget, ContextRequest, FittedContext, HistoryPolicy, fit
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.formats.openai_messages import OpenAIMessages, fitted_openai
from ctxopt_core.messages.placeholder import is_placeholder

Row = dict[str, Any]


def fit_rows(
    rows: list[Row],
    budget: int,
    *,
    tools: list[Row] | None = None,
    counter: TokenCounter | None = None,
    history: HistoryPolicy | None = None,
    **options: Any,
) -> tuple[list[Row], FittedContext]:
    """Fit rows into `budget` tokens and return what is left of them, the very list when it was unchanged."""
    request = ContextRequest(history=OpenAIMessages(rows), tools=tuple(tools or ()))
    fitted = fit(
        request,
        ContextBudget(max_input_tokens=budget),
        counter=counter or counter_for("o200k_base"),
        history=history,
        **options,
    )
    return (rows if fitted.unchanged else fitted_openai(rows, fitted.history)), fitted


def is_note(row: Row) -> bool:
    """Tell whether a row is the placeholder."""
    return isinstance(row.get("content"), str) and is_placeholder(row["content"])
