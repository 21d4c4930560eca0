"""Messages for a model that reads one text: what is counted is the text that they become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llama_index.core.base.llms.generic_utils import messages_to_prompt
from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.llms.structured_llm import StructuredLLM

from ctxopt_core import ChatRenderer, ContextRequest, PlainDocuments, RequestRenderer, TokenCounter
from ctxopt_core.adapters import CountedConversation, DocumentRendering, Draft, schema_tokens
from llamaindex_ctxopt.messages.message_views import kept_messages
from llamaindex_ctxopt.models.model_settings import metadata_of


def reads_text(llm: LLM) -> bool:
    """Tell whether a model is sent one text, even for messages."""
    metadata = metadata_of(llm)
    return isinstance(llm, CustomLLM) or (metadata is not None and not metadata.is_chat_model)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRenderer:
    """Messages as a text.

    Args:
        messages: The messages, as they were given.
        render: Makes the text of messages.
        or_chat: Whether they may be sent as messages all the same, so that the larger of both counts.
    """

    messages: Sequence[ChatMessage]
    render: Callable[[Sequence[ChatMessage]], str]
    or_chat: bool = False

    @property
    def documents(self) -> DocumentRendering:
        """There are none."""
        return PlainDocuments()

    @property
    def is_additive(self) -> bool:
        """Only the whole text tells what it counts."""
        return False

    def system_overhead(self, counter: TokenCounter) -> int:
        """What stands around a system prompt is counted with the text."""
        return 0

    def overhead_tokens(self, request: ContextRequest, counter: TokenCounter) -> int:
        """Return the tokens of what goes with the text."""
        return schema_tokens(request, counter) + request.fixed_tokens

    def count(
        self, request: ContextRequest, conversation: CountedConversation, draft: Draft, counter: TokenCounter
    ) -> int:
        """Return the tokens of the text of what is kept, and of what goes with it."""
        kept = kept_messages(self.messages, draft.trimming)
        text = counter.count(self.render(kept)) if kept else 0
        whole = self.overhead_tokens(request, counter) + text
        return max(whole, ChatRenderer().count(request, conversation, draft, counter)) if self.or_chat else whole


def renderer_of_messages(messages: Sequence[ChatMessage], llm: LLM | None) -> RequestRenderer:
    """Return how messages are rendered for a model: as one text where it reads that, else as a chat request."""
    printer = printer_of(llm)
    return ChatRenderer() if printer is None else CompletionRenderer(messages=messages, render=printer, or_chat=True)


def printed_tokens(messages: Sequence[ChatMessage], llm: LLM | None, counter: TokenCounter) -> int:
    """Return what messages count in the text that a model is sent, in tokens; 0 for a model that is sent messages."""
    printer = printer_of(llm)
    return 0 if printer is None or not messages else counter.count(printer(messages))


def printer_of(llm: LLM | None) -> Callable[[Sequence[ChatMessage]], str] | None:
    """Return what makes one text of messages for a model; None for one that is sent messages, or is not known."""
    llm = llm.llm if isinstance(llm, StructuredLLM) else llm
    return None if llm is None or not reads_text(llm) else llm.messages_to_prompt or messages_to_prompt
