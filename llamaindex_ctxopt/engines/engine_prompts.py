"""The prompt templates that engines of LlamaIndex put around documents, history and query, and their rendering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import condense_plus_context, context
from llama_index.core.chat_engine.utils import get_prefix_messages_with_context
from llama_index.core.indices.prompt_helper import ChatPromptHelper, PromptHelper
from llama_index.core.llms import LLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate, PromptTemplate, SelectorPromptTemplate
from llama_index.core.prompts.default_prompt_selectors import (
    DEFAULT_REFINE_PROMPT_SEL,
    DEFAULT_TEXT_QA_PROMPT_SEL,
    DEFAULT_TREE_SUMMARIZE_PROMPT_SEL,
)
from llama_index.core.response_synthesizers.refine import DEFAULT_RESPONSE_PADDING_SIZE
from llama_index.core.schema import NodeWithScore

from ctxopt_core import TokenCounter
from ctxopt_core.adapters import TOKENS_PER_REQUEST, message_tokens
from llamaindex_ctxopt.messages.message_views import view_of
from llamaindex_ctxopt.models.model_settings import is_chat_model, metadata_of
from llamaindex_ctxopt.nodes.node_reading import BLOCK_SEPARATOR, NodeReading

SYNTHESIZER_PADDING = DEFAULT_RESPONSE_PADDING_SIZE
"""Tokens (500) that the synthesizer of each chat engine keeps free beside the answer; engines cannot set it."""

EMPTY_SLOTS = dict.fromkeys(
    ("context_str", "context_msg", "existing_answer", "query_str", "chat_history", "question"), ""
)
"""The names that the default templates of engines fill in, with empty values."""


def joined_as_repacked(texts: Sequence[str]) -> str:
    """Join documents as LlamaIndex repacks them: a blank line between two, blank documents left out."""
    return "\n\n".join(stripped for text in texts if (stripped := text.strip()))


def joined_as_merged(texts: Sequence[str]) -> str:
    """Join documents as LlamaIndex merges the text blocks of messages."""
    return BLOCK_SEPARATOR.join(filter(None, texts))


def joined_as_given(texts: Sequence[str]) -> str:
    """Join documents with a blank line between two, as they are."""
    return "\n\n".join(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnginePrompts:
    """The prompts of one engine.

    Args:
        sent: The prompts that may be sent with documents in them; a request has at most the tokens of the largest.
        bounding: The prompts by the largest of which LlamaIndex decides into how many calls it splits the documents.
        padding: Tokens that LlamaIndex keeps free beside the answer.
        takes_history: Whether the history is sent in the same request.
        condense: The prompt that condenses the history in a request before; None where there is none.
        join: Joins the rendered documents.
        strips: Whether white space at the ends of each document is left out.
        reading: What the engine sends of a node.
        split: Splits the postprocessed nodes into sources; None where the engine leaves them as they are.
        one_by_one: Whether each document is sent in a request of its own.
        asks_again: Whether the engine asks its memory again after it has the nodes, whatever it asked before.
        helper: The prompt helper that the engine keeps; None for one that is made for each request.
    """

    sent: tuple[BasePromptTemplate, ...]
    bounding: tuple[BasePromptTemplate, ...]
    padding: int = SYNTHESIZER_PADDING
    takes_history: bool = False
    condense: BasePromptTemplate | None = None
    join: Callable[[Sequence[str]], str] = joined_as_repacked
    strips: bool = True
    reading: NodeReading = NodeReading.ANY
    split: Callable[[list[NodeWithScore]], list[NodeWithScore]] | None = None
    one_by_one: bool = False
    asks_again: bool = False
    helper: PromptHelper | ChatPromptHelper | None = None

    @property
    def only_condenses(self) -> bool:
        """Whether the history is condensed and the documents are in another engine, so that no other prompt is sent."""
        return self.condense is not None and all(prompt is self.condense for prompt in self.sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preamble:
    """The messages that a chat engine puts before the history.

    Args:
        system_prompt: Its system prompt.
        messages: Its prefix messages beside that.
    """

    system_prompt: str = ""
    messages: tuple[ChatMessage, ...] = ()

    @property
    def all_messages(self) -> tuple[ChatMessage, ...]:
        """The system prompt as a message, and the other messages."""
        if not self.system_prompt:
            return self.messages
        return (ChatMessage(role=MessageRole.SYSTEM, content=self.system_prompt), *self.messages)


def context_prompts(
    templates: Sequence[PromptTemplate],
    preamble: Preamble,
    llm: LLM | None,
    condense: BasePromptTemplate | None = None,
    reading: NodeReading = NodeReading.ANY,
) -> EnginePrompts:
    """Return the prompts of a chat engine with a context template and a refine template, built as it builds them."""
    metadata = None if llm is None else metadata_of(llm)
    role = MessageRole.SYSTEM if metadata is None else metadata.system_role
    prompts = tuple(
        ChatPromptTemplate.from_messages(
            get_prefix_messages_with_context(template, preamble.system_prompt, list(preamble.messages), [], role),
            function_mappings=template.function_mappings,
        )
        for template in templates
    )
    return EnginePrompts(sent=prompts[:1], bounding=prompts, takes_history=True, condense=condense, reading=reading)


def default_prompts(preamble: Preamble, llm: LLM | None) -> tuple[EnginePrompts, ...]:
    """Return the default prompts of all engines that answer from all documents in one request."""
    plain = (PromptTemplate(context.DEFAULT_CONTEXT_TEMPLATE), PromptTemplate(context.DEFAULT_REFINE_TEMPLATE))
    condensing = (
        PromptTemplate(condense_plus_context.DEFAULT_CONTEXT_PROMPT_TEMPLATE),
        PromptTemplate(condense_plus_context.DEFAULT_CONTEXT_REFINE_PROMPT_TEMPLATE),
    )
    condense = PromptTemplate(condense_plus_context.DEFAULT_CONDENSE_PROMPT_TEMPLATE)
    answering = (DEFAULT_TEXT_QA_PROMPT_SEL, DEFAULT_REFINE_PROMPT_SEL)
    summarizing = (DEFAULT_TREE_SUMMARIZE_PROMPT_SEL,)
    return (
        context_prompts(plain, preamble, llm),
        context_prompts(condensing, preamble, llm, condense),
        EnginePrompts(sent=answering, bounding=answering),
        EnginePrompts(sent=summarizing, bounding=summarizing),
    )


def variants(prompt: BasePromptTemplate, llm: LLM | None) -> tuple[BasePromptTemplate, ...]:
    """Return the template that a prompt selects for a model; all of its templates where there is no model."""
    if not isinstance(prompt, SelectorPromptTemplate):
        return (prompt,)
    if llm is not None:
        return (prompt.select(llm=llm),)
    return (prompt.default_template, *(template for _, template in prompt.conditionals or ()))


def rendered(prompt: BasePromptTemplate, llm: LLM | None, **values: Any) -> list[ChatMessage] | str:
    """Return a prompt as it is sent: messages to a chat model, a string to a completion model.

    It contains the model's own system prompt, output format and wrapper; of a `StructuredLLM`, those of the LLM inside.
    """
    llm = llm.llm if isinstance(llm, StructuredLLM) else llm
    if llm is None:
        return prompt.format_messages(**values)
    if is_chat_model(llm):
        messages = prompt.format_messages(llm=llm, **values)
        if llm.output_parser is not None:
            messages = llm.output_parser.format_messages(messages)
        return [*Preamble(system_prompt=llm.system_prompt or "").all_messages, *messages]
    text = prompt.format(
        llm=llm, messages_to_prompt=llm.messages_to_prompt, completion_to_prompt=llm.completion_to_prompt, **values
    )
    if llm.output_parser is not None:
        text = llm.output_parser.format(text)
    text = f"{llm.system_prompt}\n\n{text}" if llm.system_prompt else text
    wrapper = llm.query_wrapper_prompt
    return text if wrapper is None else wrapper.format(query_str=text)


def prompt_size(prompt: list[ChatMessage] | str, counter: TokenCounter) -> int:
    """Return the tokens of a rendered prompt."""
    if isinstance(prompt, str):
        return TOKENS_PER_REQUEST + counter.count(prompt)
    return TOKENS_PER_REQUEST + sum(message_tokens(view_of(message), counter) for message in prompt)
