"""The condition under which LlamaIndex answers from all documents in one call.

Its prompt helper joins the documents. If they have more than `context_window - num_output - padding - prompt` tokens,
it splits them again and calls the model for each part. The prompt is the largest of the synthesizer's, filled with all
but the documents. The tokenizer is LlamaIndex's own, whatever the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import llama_index.core
from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.constants import DEFAULT_NUM_OUTPUTS
from llama_index.core.indices.prompt_helper import ChatPromptHelper, PromptHelper
from llama_index.core.llms import LLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.prompts import (
    BasePromptTemplate,
    ChatPromptTemplate,
    RichPromptTemplate,
    SelectorPromptTemplate,
)
from llama_index.core.prompts.prompt_utils import get_biggest_prompt, get_empty_prompt_messages, get_empty_prompt_txt

from ctxopt_core import CallableCounter, ContextBudget, TokenCounter
from llamaindex_ctxopt.models.framework_tokens import framework_counter, framework_tokens
from llamaindex_ctxopt.models.model_settings import UNLIMITED_ANSWER, schemas_of_answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RepackRule:
    """How much LlamaIndex puts into one call.

    Args:
        limit: The most tokens of prompt, documents and padding together: the window without the answer.
        counter: Its tokenizer, which counts documents, prompts that are one string, and roles.
        chunk_limit: The most tokens of documents in one call, where the user has set such a limit.
    """

    limit: int
    counter: TokenCounter
    chunk_limit: int | None = None


def repack_rule(
    llm: LLM | None, budget: ContextBudget, kept: PromptHelper | ChatPromptHelper | None = None
) -> RepackRule | None:
    """Return the rule that a synthesizer with `llm` will use; None where no window is known.

    As in LlamaIndex, the prompt helper that a synthesizer was made with decides first, and then one that the user has
    set in `Settings`, also by its `context_window` or `num_output`. It is not read through `Settings.prompt_helper`,
    which would make one and keep it.

    Args:
        llm: The model that is called, if it is known.
        budget: The budget, where it is not.
        kept: The prompt helper of the synthesizer, if it is known.
    """
    helper = kept or Settings._prompt_helper  # noqa: SLF001
    if isinstance(helper, (PromptHelper, ChatPromptHelper)):
        return RepackRule(
            limit=helper.context_window - helper.num_output,
            counter=_counter_of(helper),
            chunk_limit=helper.chunk_size_limit,
        )
    window, answer = budget.context_window, budget.output_reserve
    if llm is not None:
        window, answer = llm.metadata.context_window, llm.metadata.num_output
        answer = DEFAULT_NUM_OUTPUTS if answer == UNLIMITED_ANSWER else answer
    return None if window is None else RepackRule(limit=window - answer, counter=framework_counter())


def _counter_of(helper: PromptHelper | ChatPromptHelper) -> TokenCounter:
    tokenizer: Callable[[str], Sequence[object]] = helper._token_counter.tokenizer  # noqa: SLF001
    if tokenizer is llama_index.core.global_tokenizer:
        return framework_counter()
    return CallableCounter(tokenizer, name="prompt_helper")


def prompt_tokens(prompts: Sequence[BasePromptTemplate], query: str, llm: LLM | None, counter: TokenCounter) -> int:
    """Return the tokens that LlamaIndex counts for the prompt by which it repacks, without history and documents."""
    largest = get_biggest_prompt([prompt.partial_format(query_str=query) for prompt in prompts])
    if isinstance(largest, SelectorPromptTemplate):
        largest = largest.select(llm=llm)
    if isinstance(largest, (ChatPromptTemplate, RichPromptTemplate)):
        tokens = history_tokens(get_empty_prompt_messages(largest), counter)
    else:
        tokens = counter.count(get_empty_prompt_txt(largest))
    # LlamaIndex adds the model's system prompt, and the schema of a structured answer.
    if isinstance(llm, StructuredLLM):
        tokens += counter.count(str(list(schemas_of_answer(llm))))
        llm = llm.llm
    return tokens if llm is None else tokens + counter.count(llm.system_prompt or "")


def history_tokens(messages: Iterable[ChatMessage], counter: TokenCounter) -> int:
    """Return the tokens that LlamaIndex counts for messages with a prompt helper whose tokenizer is `counter`."""
    contents = framework_counter()
    return sum(framework_tokens(message, counter, contents) for message in messages)
