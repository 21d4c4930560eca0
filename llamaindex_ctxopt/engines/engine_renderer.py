"""Renders and counts a request as an engine of LlamaIndex sends it, and as LlamaIndex itself counts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate

from ctxopt_core import ContextRequest, Document, TokenCounter
from ctxopt_core.adapters import (
    CountedConversation,
    DocumentRendering,
    Draft,
    ModelBudget,
    attachment_tokens,
    conversation_tokens,
    schema_tokens,
)
from llamaindex_ctxopt.engines.engine_prompts import EMPTY_SLOTS, EnginePrompts, prompt_size, rendered, variants
from llamaindex_ctxopt.engines.engine_request import EngineRequest
from llamaindex_ctxopt.engines.one_call_rule import RepackRule, history_tokens, prompt_tokens, repack_rule
from llamaindex_ctxopt.engines.template_names import texts_with_braces
from llamaindex_ctxopt.messages.media import framework_media_tokens
from llamaindex_ctxopt.messages.message_views import LlamaIndexMessages, PrintedMessages, kept_messages
from llamaindex_ctxopt.models.completion_renderer import printed_tokens, sent_tokens
from llamaindex_ctxopt.models.larger_counter import larger
from llamaindex_ctxopt.models.model_settings import is_chat_model
from llamaindex_ctxopt.nodes.node_reading import NodeReading
from llamaindex_ctxopt.nodes.rendering import NodeRendering, SplitNodes, node_views

# Tokens that may be added where a medium parts a string in two: the white space at both ends of the parts.
_SPLIT = 4
# Tokens by which the blocks of one node may have more one by one, as LlamaIndex counts them, than joined.
_BLOCKS_APART = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRenderer:
    """Renders the prompts of an engine around documents, history and query.

    A request has the larger of two token counts: that of the prompt as it is sent, by the model's tokenizer, and that
    by which LlamaIndex decides into how many calls the documents go. So what fits is within the window and one call.

    Args:
        prompts: The templates that the engine puts around documents, history and query.
        llm: The model that is called, if it is known.
        query: The query, which the engine sends as it is.
        history: The messages of the request's conversation.
        documents: Renders one document.
        counter: Counts the parts of the request. Where LlamaIndex counts them as well, the larger figure.
        limit: The input budget, in tokens.
        rule: How much LlamaIndex puts into one call; None where that is not known.
    """

    is_additive = True  # the engine puts the messages of the history into the request as they are

    prompts: EnginePrompts
    llm: LLM | None
    query: str
    history: Sequence[ChatMessage]
    documents: DocumentRendering
    counter: TokenCounter
    limit: int
    rule: RepackRule | None = None
    _sent: tuple[BasePromptTemplate, ...] = field(init=False, repr=False)
    _repack_overhead: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sent = tuple(variant for prompt in self.prompts.sent for variant in variants(prompt, self.llm))
        object.__setattr__(self, "_sent", sent)
        overhead = 0
        if self.rule is not None:
            # The limit of the rule may differ from that of the request; the difference is part of the count.
            overhead = prompt_tokens(self.prompts.bounding, self.query, self.llm, self.rule.counter)
            overhead += self.limit - (self.rule.limit - self.prompts.padding)
        object.__setattr__(self, "_repack_overhead", overhead)

    def system_overhead(self, counter: TokenCounter) -> int:
        """Return 0: the system prompt is part of the engine's own prompts."""
        return 0

    def overhead_tokens(self, request: ContextRequest, counter: TokenCounter) -> int:
        """Return the tokens of the prompt without documents, history and query."""
        empty = max(self._prompt(request, "", counter), self._repack_overhead)
        return max(0, empty - counter.count(self.query)) + request.fixed_tokens

    def count(
        self, request: ContextRequest, conversation: CountedConversation, draft: Draft, counter: TokenCounter
    ) -> int:
        """Return the tokens of the largest of the prompts, filled with the parts of `draft`."""
        documents = self._joined(dict(draft.documents))
        views = [request.documents[index] for index, _ in draft.documents]
        kept = kept_messages(self.history, draft.trimming)
        history = conversation_tokens(conversation, draft.trimming, counter)
        history = max(history, printed_tokens(kept, self.llm, counter))
        most = self._prompt(request, documents, counter) + history + self._filled_in(kept, documents, counter)
        most += sum(attachment_tokens(view, counter) + _SPLIT * _media_sent(view) for view in views)
        if self.rule is not None:
            repacked = self._repacked(documents, views, self.rule) + history_tokens(kept, self.rule.counter)
            most = max(most, self._repack_overhead + repacked)
        return most + request.fixed_tokens

    def over_one_chunk(self, documents: Sequence[Document]) -> int:
        """Return by how many tokens documents are over the limit for one call that the user has set in LlamaIndex."""
        limit = None if self.rule is None else self.rule.chunk_limit
        if self.rule is None or limit is None or self.prompts.one_by_one:
            return 0
        joined = self._joined({index: document.text or "" for index, document in enumerate(documents)})
        return max(0, self._repacked(joined, documents, self.rule) - limit)

    def _repacked(self, joined: str, views: Sequence[Document], rule: RepackRule) -> int:
        """Return the tokens that LlamaIndex counts for documents when it repacks them."""
        tokens = rule.counter.count(joined)
        if self.prompts.reading is NodeReading.BLOCKS:
            tokens += sum(_BLOCKS_APART + framework_media_tokens(view.attachments) for view in views)
        return tokens

    def _joined(self, texts: Mapping[int, str]) -> str:
        return self.prompts.join([self.documents.render(index, text) for index, text in texts.items()])

    def _prompt(self, request: ContextRequest, documents: str, counter: TokenCounter) -> int:
        values = self._values(documents)
        largest = max(prompt_size(rendered(prompt, self.llm, **values), counter) for prompt in self._sent)
        return largest + schema_tokens(request, counter)

    def _values(self, documents: str) -> dict[str, Any]:
        asked = dict.fromkeys(("query_str", "question"), self.query)
        values: dict[str, Any] = {**EMPTY_SLOTS, **asked, "context_str": documents, "context_msg": documents}
        if self.prompts.reading is NodeReading.BLOCKS:
            # Media are counted apart: rendered they would be loaded.
            values["context_messages"] = [ChatMessage(content=documents)] if documents else []
        return values

    def _filled_in(self, kept: Sequence[ChatMessage], documents: str, counter: TokenCounter) -> int:
        """Return the tokens that names in braces in the history add when the engine fills them in."""
        texts = [text for message in kept for text in texts_with_braces(message)]
        if not texts:
            return 0
        messages, values, most = [ChatMessage(content=text) for text in texts], self._values(documents), 0
        for prompt in self._sent:
            if isinstance(prompt, ChatPromptTemplate):
                filled = prompt.model_copy(update={"message_templates": messages}).format_messages(**values)
                most = max(most, sum(counter.count(message.content or "") for message in filled))
        return max(0, most - sum(map(counter.count, texts)))


def _media_sent(view: Document) -> int:
    """Return how many media of a node the engine sends."""
    return sum(attachment.tokens != 0 for attachment in view.attachments)


def render_request(
    request: EngineRequest, prompts: EnginePrompts, llm: LLM | None, model_budget: ModelBudget
) -> tuple[ContextRequest, EngineRenderer]:
    """Return a request of an engine as the core fits it, and what renders it.

    Args:
        request: The request.
        prompts: The prompts of the engine.
        llm: The model that is called, if it is known.
        model_budget: Budget, token counter of the model, and the schemas that are sent with every request.
    """
    ours = model_budget.counter
    rule = repack_rule(llm, model_budget.budget, prompts.helper) if prompts.bounding else None
    held = sent_tokens(request.settled, llm, ours)
    if rule is not None:
        held = max(held, history_tokens(request.settled, rule.counter))
    history = request.messages if prompts.takes_history else ()
    nodes, reading = request.nodes, prompts.reading
    printed = prompts.only_condenses or (llm is not None and not is_chat_model(llm))
    given = ContextRequest(
        query=request.query,
        documents=node_views(nodes, reading),
        history=PrintedMessages(history) if printed else LlamaIndexMessages(history),
        tools=model_budget.schemas,
        fixed_tokens=request.reserved + held,
    )
    renderer = EngineRenderer(
        prompts=prompts,
        llm=llm,
        query=request.query,
        history=history,
        documents=(
            NodeRendering(nodes=nodes, strips=prompts.strips, reading=reading)
            if prompts.split is None
            else SplitNodes(nodes=nodes, split=prompts.split, reading=reading)
        ),
        counter=ours if rule is None else larger(ours, rule.counter),
        limit=model_budget.budget.input_budget,
        rule=rule,
    )
    return given, renderer
