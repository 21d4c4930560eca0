"""ctxopt: fit one LLM request into its context window.

What leaves `fit`, rendered as it will really be sent, counts at most the input budget, or a typed error says why it
cannot. Nothing here needs a framework, a network or a model.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # `import typing` would be most of what importing this package costs
if TYPE_CHECKING:
    from typing import Any

    from ctxopt_core.budget.context_budget import ContextBudget
    from ctxopt_core.budget.shares import Allocation, BudgetWarning, Shares, allocate
    from ctxopt_core.counting.anthropic_counter import AnthropicRequestCounter
    from ctxopt_core.counting.callable_counter import CallableCounter
    from ctxopt_core.counting.counters import counter_for
    from ctxopt_core.counting.estimate_counter import EstimateCounter
    from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
    from ctxopt_core.counting.token_counter import TokenCounter
    from ctxopt_core.documents.document import Document
    from ctxopt_core.documents.packing import Packing, pack_documents
    from ctxopt_core.documents.policy import DocumentPolicy
    from ctxopt_core.documents.rendering import PlainDocuments
    from ctxopt_core.errors import ContextBudgetError, CtxoptError, ServerStateError, SummaryError, UnknownModelError
    from ctxopt_core.fitting.fit_request import afit, fit, plan
    from ctxopt_core.fitting.fitted_context import FittedContext
    from ctxopt_core.fitting.request_renderer import ChatRenderer, RequestRenderer
    from ctxopt_core.formats.plain_messages import FittedMessages, fit_messages
    from ctxopt_core.history.policy import HistoryPolicy
    from ctxopt_core.history.strategies.custom import HistoryStrategy, HistoryView
    from ctxopt_core.history.trim import trim_history
    from ctxopt_core.history.trimming import Trimming
    from ctxopt_core.messages.message import Attachment, Message, TextSource, ToolCall, ToolResult
    from ctxopt_core.models.model_window import ModelWindow
    from ctxopt_core.models.resolve_window import UnknownModelWarning, resolve_window
    from ctxopt_core.relevance.bm25 import bm25_scorer
    from ctxopt_core.relevance.embedding_scorer import embedding_scorer
    from ctxopt_core.relevance.scorer import Scorer
    from ctxopt_core.reports.fit_report import FitReport
    from ctxopt_core.request import ContextRequest, Section
    from ctxopt_core.shortening.truncate import truncate
    from ctxopt_core.summaries.model_summarizer import summarizer
    from ctxopt_core.summaries.summarizer import Summarizer
    from ctxopt_core.sweeps.replay_table import Replay
    from ctxopt_core.sweeps.run_replay import ReplayArguments, replay
    from ctxopt_core.sweeps.run_sweep import sweep

__all__ = [
    "Allocation",
    "AnthropicRequestCounter",
    "Attachment",
    "BudgetWarning",
    "CallableCounter",
    "ChatRenderer",
    "ContextBudget",
    "ContextBudgetError",
    "ContextRequest",
    "CtxoptError",
    "Document",
    "DocumentPolicy",
    "EstimateCounter",
    "FitReport",
    "FittedContext",
    "FittedMessages",
    "HistoryPolicy",
    "HistoryStrategy",
    "HistoryView",
    "Message",
    "ModelWindow",
    "Packing",
    "PlainDocuments",
    "Replay",
    "ReplayArguments",
    "RequestRenderer",
    "Scorer",
    "Section",
    "ServerStateError",
    "Shares",
    "Summarizer",
    "SummaryError",
    "TextSource",
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
    "fit_messages",
    "pack_documents",
    "plan",
    "replay",
    "resolve_window",
    "summarizer",
    "sweep",
    "trim_history",
    "truncate",
]

_HOMES = {
    "Allocation": "budget.shares",
    "AnthropicRequestCounter": "counting.anthropic_counter",
    "Attachment": "messages.message",
    "BudgetWarning": "budget.shares",
    "CallableCounter": "counting.callable_counter",
    "ChatRenderer": "fitting.request_renderer",
    "ContextBudget": "budget.context_budget",
    "ContextBudgetError": "errors",
    "ContextRequest": "request",
    "CtxoptError": "errors",
    "Document": "documents.document",
    "DocumentPolicy": "documents.policy",
    "EstimateCounter": "counting.estimate_counter",
    "FitReport": "reports.fit_report",
    "FittedContext": "fitting.fitted_context",
    "FittedMessages": "formats.plain_messages",
    "Replay": "sweeps.replay_table",
    "ReplayArguments": "sweeps.run_replay",
    "RequestRenderer": "fitting.request_renderer",
    "HistoryPolicy": "history.policy",
    "HistoryStrategy": "history.strategies.custom",
    "HistoryView": "history.strategies.custom",
    "Message": "messages.message",
    "ModelWindow": "models.model_window",
    "Packing": "documents.packing",
    "PlainDocuments": "documents.rendering",
    "Scorer": "relevance.scorer",
    "Section": "request",
    "ServerStateError": "errors",
    "Shares": "budget.shares",
    "Summarizer": "summaries.summarizer",
    "SummaryError": "errors",
    "TextSource": "messages.message",
    "TiktokenCounter": "counting.tiktoken_counter",
    "TokenCounter": "counting.token_counter",
    "ToolCall": "messages.message",
    "ToolResult": "messages.message",
    "Trimming": "history.trimming",
    "UnknownModelError": "errors",
    "UnknownModelWarning": "models.resolve_window",
    "afit": "fitting.fit_request",
    "allocate": "budget.shares",
    "bm25_scorer": "relevance.bm25",
    "counter_for": "counting.counters",
    "embedding_scorer": "relevance.embedding_scorer",
    "fit": "fitting.fit_request",
    "fit_messages": "formats.plain_messages",
    "pack_documents": "documents.packing",
    "plan": "fitting.fit_request",
    "replay": "sweeps.run_replay",
    "resolve_window": "models.resolve_window",
    "summarizer": "summaries.model_summarizer",
    "sweep": "sweeps.run_sweep",
    "trim_history": "history.trim",
    "truncate": "shortening.truncate",
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
    return sorted(__all__)
