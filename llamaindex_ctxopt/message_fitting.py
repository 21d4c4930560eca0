"""Messages of one request, fitted into a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.llms import ChatMessage

from ctxopt_core.budgeting import Budgeting
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fitting import fit_with
from ctxopt_core.options import FitOptions
from ctxopt_core.rendering import ChatFraming, Framing
from ctxopt_core.report import FitReport
from ctxopt_core.request import ContextRequest
from llamaindex_ctxopt.message_views import MessageViews, kept_messages


def fit_messages(
    messages: Sequence[ChatMessage],
    schemas: Sequence[Mapping[str, Any] | str],
    budgeting: Budgeting,
    options: FitOptions,
    framing: Framing | None = None,
) -> tuple[list[ChatMessage], FitReport]:
    """Fit messages and the schemas that go with them into the input budget.

    Args:
        messages: The messages, system prompt and query among them. They are read and never changed.
        schemas: Tool schemas and the like, beside those of `budgeting`.
        budgeting: Budget and token counter.
        options: How the messages are cut.
        framing: How they are rendered; by default as a chat request.

    Returns:
        The messages that fit, and the report. A list that fits comes back as the identical list; otherwise what is kept
        whole is the identical message, and what is shortened is a copy.

    Raises:
        ContextBudgetError: What may not be cut is larger than the input budget, or no message has room.
    """
    request = _request(messages, schemas, budgeting)
    fitted = fit_with(request, budgeting.budget, budgeting.counter, framing or ChatFraming(), options)
    if fitted.untouched:
        return messages if isinstance(messages, list) else list(messages), fitted.report
    kept = kept_messages(messages, fitted.history)
    if not kept:
        message = "not one of the messages has room; use a larger context window or a shorter input"
        raise ContextBudgetError(message, available=budgeting.budget.input_tokens)
    return kept, fitted.report


def count_messages(
    messages: Sequence[ChatMessage],
    schemas: Sequence[Mapping[str, Any] | str],
    budgeting: Budgeting,
    framing: Framing | None = None,
) -> int:
    """Return what messages and the schemas that go with them count as they are, in tokens."""
    return budgeting.count(_request(messages, schemas, budgeting), framing or ChatFraming())


def _request(
    messages: Sequence[ChatMessage], schemas: Sequence[Mapping[str, Any] | str], budgeting: Budgeting
) -> ContextRequest:
    return ContextRequest(history=MessageViews(messages), tools=(*budgeting.schemas, *schemas))
