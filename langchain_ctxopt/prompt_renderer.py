"""A request as the prompt template of a chain renders it: what it renders is what is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.prompts import BasePromptTemplate

from ctxopt_core import ContextRequest, TokenCounter
from ctxopt_core.adapters import (
    TOKENS_PER_REQUEST,
    CountedConversation,
    DocumentRendering,
    Draft,
    message_tokens,
    schema_tokens,
)
from langchain_ctxopt.component_keys import stand_alone
from langchain_ctxopt.dict_input import DictInput
from langchain_ctxopt.documents import TemplatedDocuments
from langchain_ctxopt.message_views import view_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRenderer:
    """Renders a request with the prompt that follows in the chain.

    Args:
        prompt: The prompt.
        given: Its input dict.
        is_additive: Whether the prompt renders each message of the history as that very message. A template may do
            anything else with them, so that only its rendering shows what they cost.
    """

    prompt: BasePromptTemplate[Any]
    given: DictInput
    is_additive: bool

    @classmethod
    def of(cls, prompt: BasePromptTemplate[Any], given: DictInput) -> PromptRenderer:
        """Return the renderer of one input."""
        are_messages = all(issubclass(kind, BaseMessage) for kind in set(map(type, given.history)))
        return cls(prompt=prompt, given=given, is_additive=are_messages and stand_alone(prompt, given.keys.history))

    @property
    def documents(self) -> DocumentRendering:
        """How one document is rendered."""
        return self.given.rendering

    def system_overhead(self, counter: TokenCounter) -> int:
        """Return 0: the message around the system text belongs to the template."""
        return 0

    def overhead_tokens(self, request: ContextRequest, counter: TokenCounter) -> int:
        """Return the tokens of the prompt rendered with its sections and empty components, and of tool schemas.

        The query, which is never empty, is rendered and subtracted: a template may render other words without it.
        """
        query_tokens = sum(map(counter.count, request.query_texts))
        rendered = self._rendered(Draft(query=request.query_texts), request, counter)
        return max(0, rendered - query_tokens) + self._beside(request, counter)

    def count(
        self, request: ContextRequest, conversation: CountedConversation, draft: Draft, counter: TokenCounter
    ) -> int:
        """Return the tokens of the prompt rendered with the parts of `draft`."""
        return self._rendered(draft, request, counter) + self._beside(request, counter)

    def _rendered(self, draft: Draft, request: ContextRequest, counter: TokenCounter) -> int:
        sections = {section.name: section.entries for section in request.sections}
        # Documents that leave as objects are joined by a later step, where the caller said how it formats them.
        joined = isinstance(self.given.rendering, TemplatedDocuments)
        values = self.given.with_parts(draft, sections, joined=joined)
        messages = self.prompt.format_prompt(**values).to_messages()
        return TOKENS_PER_REQUEST + sum(message_tokens(view_of(message), counter) for message in messages)

    @staticmethod
    def _beside(request: ContextRequest, counter: TokenCounter) -> int:
        return request.fixed_tokens + schema_tokens(request, counter)
