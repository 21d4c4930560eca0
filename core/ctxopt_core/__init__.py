"""ctxopt: fit one LLM request into its context window.

What leaves `fit`, rendered as it will really be sent, counts at most the input budget, or a typed error says why it
cannot. Nothing here needs a framework, a network or a model.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # `import typing` would be most of what importing this package costs
if TYPE_CHECKING:
    from typing import Any

    from ctxopt_core.budget import Allocation, BudgetWarning, ContextBudget, Shares, allocate
    from ctxopt_core.document_policy import DocumentPolicy
    from ctxopt_core.documents import Packing, pack_documents
    from ctxopt_core.embedding_scorer import embedding_scorer
    from ctxopt_core.errors import ContextBudgetError, CtxoptError, SummaryError, UnknownModelError
    from ctxopt_core.fitted import FittedContext
    from ctxopt_core.fitting import afit, fit, plan
    from ctxopt_core.history import HistoryPolicy, Trimming
    from ctxopt_core.history_view import HistoryStrategy, HistoryView
    from ctxopt_core.model_summarizer import summarizer
    from ctxopt_core.model_window import ModelWindow
    from ctxopt_core.playground.page import Playground
    from ctxopt_core.relevance import Scorer, bm25_scorer
    from ctxopt_core.remote_counter import AnthropicRequestCounter
    from ctxopt_core.rendering import ChatFraming, Framing, PlainDocuments
    from ctxopt_core.report import FitReport
    from ctxopt_core.request import Attachment, ContextRequest, Document, Message, ToolCall, ToolResult
    from ctxopt_core.sections import Section
    from ctxopt_core.summaries import Summarizer
    from ctxopt_core.sweeping import sweep
    from ctxopt_core.tokens import CallableCounter, EstimateCounter, TiktokenCounter, TokenCounter, counter_for
    from ctxopt_core.truncation import truncate
    from ctxopt_core.turn_strategy import trim_history
    from ctxopt_core.windows import UnknownModelWarning, resolve_window

__all__ = [
    "Allocation",
    "AnthropicRequestCounter",
    "Attachment",
    "BudgetWarning",
    "CallableCounter",
    "ChatFraming",
    "ContextBudget",
    "ContextBudgetError",
    "ContextRequest",
    "CtxoptError",
    "Document",
    "DocumentPolicy",
    "EstimateCounter",
    "FitReport",
    "FittedContext",
    "Framing",
    "HistoryPolicy",
    "HistoryStrategy",
    "HistoryView",
    "Message",
    "ModelWindow",
    "Packing",
    "PlainDocuments",
    "Playground",
    "Scorer",
    "Section",
    "Shares",
    "Summarizer",
    "SummaryError",
    "TiktokenCounter",
    "TokenCounter",
    "ToolCall",
    "ToolResult",
    "Trimming",
    "UnknownModelError",
    "UnknownModelWarning",
    "afit",
    "allocate",
    "bm25_scorer",
    "counter_for",
    "embedding_scorer",
    "fit",
    "pack_documents",
    "plan",
    "resolve_window",
    "summarizer",
    "sweep",
    "trim_history",
    "truncate",
]

_HOMES = {
    "Allocation": "budget",
    "AnthropicRequestCounter": "remote_counter",
    "Attachment": "request",
    "BudgetWarning": "budget",
    "CallableCounter": "tokens",
    "ChatFraming": "rendering",
    "ContextBudget": "budget",
    "ContextBudgetError": "errors",
    "ContextRequest": "request",
    "CtxoptError": "errors",
    "Document": "request",
    "DocumentPolicy": "document_policy",
    "EstimateCounter": "tokens",
    "FitReport": "report",
    "FittedContext": "fitted",
    "Framing": "rendering",
    "HistoryPolicy": "history",
    "HistoryStrategy": "history_view",
    "HistoryView": "history_view",
    "Message": "request",
    "ModelWindow": "model_window",
    "Packing": "documents",
    "PlainDocuments": "rendering",
    "Playground": "playground.page",
    "Scorer": "relevance",
    "Section": "sections",
    "Shares": "budget",
    "Summarizer": "summaries",
    "SummaryError": "errors",
    "TiktokenCounter": "tokens",
    "TokenCounter": "tokens",
    "ToolCall": "request",
    "ToolResult": "request",
    "Trimming": "history",
    "UnknownModelError": "errors",
    "UnknownModelWarning": "windows",
    "afit": "fitting",
    "allocate": "budget",
    "bm25_scorer": "relevance",
    "counter_for": "tokens",
    "embedding_scorer": "embedding_scorer",
    "fit": "fitting",
    "pack_documents": "documents",
    "plan": "fitting",
    "resolve_window": "windows",
    "summarizer": "model_summarizer",
    "sweep": "sweeping",
    "trim_history": "turn_strategy",
    "truncate": "truncation",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that importing the package costs next to nothing."""
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
