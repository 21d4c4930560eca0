"""Renders messages for a model that reads one string: the tokens of that string are counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llama_index.core.base.llms.generic_utils import messages_to_prompt
from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.llms.structured_llm import StructuredLLM

from ctxopt_core import ChatRenderer, ContextRequest, PlainDocuments, RequestRenderer, TokenCounter
from ctxopt_core.adapters import CountedConversation, Draft, message_tokens, schema_tokens
from llamaindex_ctxopt.messages.message_views import kept_messages, view_of
from llamaindex_ctxopt.models.model_settings import is_chat_model


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRenderer:
    """Renders messages as one string.

    Args:
        messages: The messages, as they were given.
        render: Joins messages into a string.
        or_chat: Whether they may be sent as messages after all, so that the larger of both counts decides.
    """

    documents = PlainDocuments()  # there are none
    is_additive = False  # the tokens of messages do not add up to those of the string

    messages: Sequence[ChatMessage]
    render: Callable[[Sequence[ChatMessage]], str]
    or_chat: bool = False

    def system_overhead(self, counter: TokenCounter) -> int:
        """Return 0: what surrounds a system prompt is a part of the string."""
        return 0

    def overhead_tokens(self, request: ContextRequest, counter: TokenCounter) -> int:
        """Return the tokens that are sent beside the string."""
        return schema_tokens(request, counter) + request.fixed_tokens

    def count(
        self, request: ContextRequest, conversation: CountedConversation, draft: Draft, counter: TokenCounter
    ) -> int:
        """Return the tokens of the kept messages as one string, and of what is sent beside it."""
        kept = kept_messages(self.messages, draft.trimming)
        text = counter.count(self.render(kept)) if kept else 0
        whole = self.overhead_tokens(request, counter) + text
        return max(whole, ChatRenderer().count(request, conversation, draft, counter)) if self.or_chat else whole


def renderer_of_messages(messages: Sequence[ChatMessage], llm: LLM | None) -> RequestRenderer:
    """Return the renderer of messages for a model: as one string where it reads that, else as a chat request."""
    printer = printer_of(llm)
    return ChatRenderer() if printer is None else CompletionRenderer(messages=messages, render=printer, or_chat=True)


def printed_tokens(messages: Sequence[ChatMessage], llm: LLM | None, counter: TokenCounter) -> int:
    """Return the tokens of messages as the string that a model is sent; 0 for a model that is sent messages."""
    printer = printer_of(llm)
    return 0 if printer is None or not messages else counter.count(printer(messages))


def sent_tokens(messages: Sequence[ChatMessage], llm: LLM | None, counter: TokenCounter) -> int:
    """Return the tokens of messages beside others in a request, the larger count where a model is sent one string."""
    as_messages = sum(message_tokens(view_of(message), counter) for message in messages)
    return max(as_messages, printed_tokens(messages, llm, counter))


def printer_of(llm: LLM | None) -> Callable[[Sequence[ChatMessage]], str] | None:
    """Return what joins messages into one string for a model; None for one that is sent messages, or is not known."""
    llm = llm.llm if isinstance(llm, StructuredLLM) else llm
    return None if llm is None or is_chat_model(llm) else llm.messages_to_prompt or messages_to_prompt
