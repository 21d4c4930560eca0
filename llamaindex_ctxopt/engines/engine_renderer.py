"""A request as an engine of LlamaIndex renders it, and as LlamaIndex itself counts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate

from ctxopt_core import ContextRequest, Document, TokenCounter
from ctxopt_core.adapters import CountedConversation, DocumentRendering, Draft, conversation_tokens, schema_tokens
from llamaindex_ctxopt.engines.engine_prompts import EMPTY_SLOTS, EnginePrompts, prompt_size, rendered, variants
from llamaindex_ctxopt.engines.one_call_rule import RepackRule, history_tokens, prompt_tokens
from llamaindex_ctxopt.engines.template_names import texts_with_braces
from llamaindex_ctxopt.messages.message_views import kept_messages
from llamaindex_ctxopt.models.completion_renderer import printed_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRenderer:
    """Renders the prompts of an engine around documents, history and query.

    A request counts the most of two figures: the prompt as it is sent, counted by the model's tokenizer, and what
    LlamaIndex counts when it decides into how many calls the documents go. So what fits is within the window and one
    call.

    Args:
        prompts: What the engine puts around the parts.
        llm: The model that is called, if it is known.
        query: What is asked. The engine sends it as it is.
        history: The messages of the request's conversation.
        documents: How one document stands in the prompt.
        limit: The input budget, in tokens.
        rule: How much LlamaIndex puts into one call; None where there is no telling.
        textless: Nodes of media without text, which stay whatever becomes of the others.
    """

    prompts: EnginePrompts
    llm: LLM | None
    query: str
    history: Sequence[ChatMessage]
    documents: DocumentRendering
    limit: int
    rule: RepackRule | None = None
    textless: tuple[int, ...] = ()
    _sent: tuple[BasePromptTemplate, ...] = field(init=False, repr=False)
    _bound: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sent = tuple(variant for prompt in self.prompts.sent for variant in variants(prompt, self.llm))
        object.__setattr__(self, "_sent", sent)
        bound = 0
        if self.rule is not None:
            # The rule's limit may be another one than that of the request; the difference is part of the count.
            bound = prompt_tokens(self.prompts.bounding, self.query, self.llm, self.rule.counter)
            bound += self.limit - self.rule.limit(self.prompts.padding)
        object.__setattr__(self, "_bound", bound)

    @property
    def is_additive(self) -> bool:
        """The engine puts the messages of the history into the request as they are."""
        return True

    def system_overhead(self, counter: TokenCounter) -> int:
        """The system prompt is the engine's."""
        return 0

    def overhead_tokens(self, request: ContextRequest, counter: TokenCounter) -> int:
        """Return the tokens of the prompt with neither documents nor history, the query taken off again."""
        asked = counter.count(self.query)
        sent = self._prompt(request, "", counter)
        return max(0, max(sent, self._bound) - asked) + request.fixed_tokens

    def count(
        self, request: ContextRequest, conversation: CountedConversation, draft: Draft, counter: TokenCounter
    ) -> int:
        """Return the most that any of the prompts counts with the parts of `draft`, in tokens."""
        documents = self._context(draft)
        kept = kept_messages(self.history, draft.trimming)
        history = conversation_tokens(conversation, draft.trimming, counter)
        history = max(history, printed_tokens(kept, self.llm, counter))
        most = self._prompt(request, documents, counter) + history + self._filled_in(kept, documents, counter)
        if self.rule is not None:
            repacked = self.rule.counter.count(documents) + history_tokens(kept, self.rule.counter)
            most = max(most, self._bound + repacked)
        return most + request.fixed_tokens

    def in_one_chunk(self, documents: Sequence[Document]) -> bool:
        """Tell whether documents are within the limit that the user has set to what LlamaIndex puts into one call."""
        if self.rule is None or self.rule.chunk_limit is None:
            return True
        texts = {index: document.text or "" for index, document in enumerate(documents)}
        return not self.rule.counter.exceeds(self._joined(texts), self.rule.chunk_limit)

    def _context(self, draft: Draft) -> str:
        return self._joined({**dict.fromkeys(self.textless, ""), **dict(draft.documents)})

    def _joined(self, texts: Mapping[int, str]) -> str:
        return self.prompts.join([self.documents.render(index, text) for index, text in texts.items()])

    def _prompt(self, request: ContextRequest, documents: str, counter: TokenCounter) -> int:
        values = self._values(documents)
        largest = max(prompt_size(rendered(prompt, self.llm, **values), counter) for prompt in self._sent)
        return largest + schema_tokens(request, counter)

    def _values(self, documents: str) -> dict[str, Any]:
        asked = dict.fromkeys(("query_str", "question"), self.query)
        return {**EMPTY_SLOTS, **asked, "context_str": documents, "context_msg": documents}

    def _filled_in(self, kept: Sequence[ChatMessage], documents: str, counter: TokenCounter) -> int:
        """What names in braces add that were left in the history: to the engine it is a part of its template."""
        texts = [text for message in kept for text in texts_with_braces(message)]
        messages, values, most = [ChatMessage(content=text) for text in texts], self._values(documents), 0
        for prompt in self._sent if texts else ():
            if isinstance(prompt, ChatPromptTemplate):
                filled = prompt.model_copy(update={"message_templates": messages}).format_messages(**values)
                most = max(most, sum(counter.count(message.content or "") for message in filled))
        return max(0, most - sum(map(counter.count, texts)))
