"""The kinds of input that a model step may be given, and the same kind given back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import ChatPromptValue, PromptValue, StringPromptValue

from ctxopt_core import ContextBudgetError, ContextRequest, FitReport
from ctxopt_core.adapters import Draft
from langchain_ctxopt.message_views import LangChainMessages
from langchain_ctxopt.prompt_renderer import kept_messages


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizedInput:
    """What a fit gives back.

    Args:
        value: The input, in the kind in which it was given, now within the budget; the identical object if it fitted.
        report: What was kept, cut and dropped, and why.
    """

    value: Any
    report: FitReport


def messages_of(given: Any) -> Sequence[Any]:
    """Return the messages of an input that is not a dict.

    Raises:
        TypeError: It is nothing that a chat model takes.
    """
    if isinstance(given, (str, StringPromptValue)):
        return [given if isinstance(given, str) else given.text]
    if isinstance(given, ChatPromptValue):
        return given.messages
    if isinstance(given, PromptValue):
        return given.to_messages()
    if isinstance(given, BaseMessage):
        return [given]
    if isinstance(given, Sequence) and not isinstance(given, bytes):
        return given
    kind = type(given).__name__
    message = f"the input must be a dict for the prompt, a PromptValue, a list of messages or a text, got {kind}"
    raise TypeError(message)


def request_of_messages(messages: Sequence[Any], tools: Sequence[Any]) -> ContextRequest:
    """Return the request that a list of messages is."""
    return ContextRequest(history=LangChainMessages(messages), tools=tuple(tools))


def in_kind(given: Any, messages: Sequence[Any], draft: Draft) -> Any:
    """Return the kept messages in the kind of the input.

    Raises:
        ContextBudgetError: Nothing was kept, and an input without messages is no input for a model.
    """
    kept = kept_messages(messages, draft)
    if not kept:
        message = "nothing of the input fits: not one message has room; use a larger context window or a shorter input"
        raise ContextBudgetError(message)
    if isinstance(given, str):
        return kept[0]
    if isinstance(given, StringPromptValue):
        return StringPromptValue(text=kept[0])
    if isinstance(given, ChatPromptValue):
        return given.model_copy(update={"messages": kept})
    if isinstance(given, PromptValue):
        return ChatPromptValue(messages=kept)
    if isinstance(given, BaseMessage):
        return kept[0]
    return tuple(kept) if isinstance(given, tuple) else kept
