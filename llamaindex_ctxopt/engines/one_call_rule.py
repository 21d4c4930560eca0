"""The condition under which LlamaIndex answers from all documents in one call, in its own count.

Its prompt helper joins the documents, and where they count more than `context_window - num_output - padding - prompt`
it splits them again and calls the model for each part. The prompt is the largest of the synthesizer's, filled with all
but the documents. Its tokenizer is LlamaIndex's own, whatever the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.llms import LLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate, SelectorPromptTemplate
from llama_index.core.prompts.prompt_utils import get_biggest_prompt, get_empty_prompt_messages, get_empty_prompt_txt

from ctxopt_core import CallableCounter, ContextBudget, TokenCounter
from llamaindex_ctxopt.models.framework_tokens import framework_counter, framework_tokens
from llamaindex_ctxopt.models.model_settings import schemas_of_answer

_USUAL_OUTPUT = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class RepackRule:
    """How much LlamaIndex puts into one call.

    Args:
        context_window: The window that its prompt helper knows, in tokens.
        num_output: The tokens that it keeps free for the answer.
        counter: Its tokenizer, which counts documents, prompts that are one text, and roles.
        chunk_limit: The most documents that it puts into one call, in tokens, where the user has set a limit to that.
    """

    context_window: int
    num_output: int
    counter: TokenCounter
    chunk_limit: int | None = None

    def limit(self, padding: int) -> int:
        """Return what prompt and documents may count together in its own count, in tokens."""
        return self.context_window - self.num_output - padding


def repack_rule(llm: LLM | None, budget: ContextBudget) -> RepackRule | None:
    """Return the rule that a synthesizer will use which is made with `llm`; None where no window is known.

    A prompt helper that the user has set in LlamaIndex's `Settings` decides first, as it does there. It is not read
    through `Settings`, which would make one and keep it.
    """
    helper = Settings._prompt_helper  # noqa: SLF001
    if isinstance(helper, PromptHelper):
        return RepackRule(
            context_window=helper.context_window,
            num_output=helper.num_output,
            counter=_counter_of(helper),
            chunk_limit=helper.chunk_size_limit,
        )
    if llm is not None:
        metadata = llm.metadata
        answer = _USUAL_OUTPUT if metadata.num_output == -1 else metadata.num_output
        return RepackRule(context_window=metadata.context_window, num_output=answer, counter=framework_counter())
    if budget.context_window is None:
        return None
    return RepackRule(
        context_window=budget.context_window, num_output=budget.output_reserve, counter=framework_counter()
    )


def prompt_tokens(prompts: Sequence[BasePromptTemplate], query: str, llm: LLM | None, counter: TokenCounter) -> int:
    """Return what LlamaIndex counts for the prompt that it repacks by, without history and documents, in tokens."""
    largest = get_biggest_prompt([prompt.partial_format(query_str=query) for prompt in prompts])
    if isinstance(largest, SelectorPromptTemplate):
        largest = largest.select(llm=llm)
    if isinstance(largest, ChatPromptTemplate):
        tokens = history_tokens(get_empty_prompt_messages(largest), counter)
    else:
        tokens = counter.count(get_empty_prompt_txt(largest))
    return tokens + _tokens_of_model(llm, counter)


def history_tokens(messages: Iterable[ChatMessage], counter: TokenCounter) -> int:
    """Return what LlamaIndex counts for messages with a prompt helper whose tokenizer is `counter`, in tokens."""
    contents = framework_counter()
    return sum(framework_tokens(message, counter, contents) for message in messages)


def _tokens_of_model(llm: LLM | None, counter: TokenCounter) -> int:
    """What it adds for the model: its system prompt, and the schema of a structured answer."""
    if llm is None:
        return 0
    if isinstance(llm, StructuredLLM):
        schemas = list(schemas_of_answer(llm))
        return counter.count(llm.llm.system_prompt or "") + counter.count(str(schemas))
    return counter.count(llm.system_prompt or "")


def _counter_of(helper: PromptHelper) -> TokenCounter:
    tokenizer: Callable[[str], Sequence[object]] = helper._token_counter.tokenizer  # noqa: SLF001
    return CallableCounter(tokenizer, name="prompt_helper")
