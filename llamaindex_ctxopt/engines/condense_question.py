"""The request in which an engine condenses the history into a question, before it retrieves documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.base.llms.generic_utils import messages_to_history_str
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate

from ctxopt_core import ChatRenderer, ContextRequest
from ctxopt_core.adapters import FitOptions, ModelBudget, fitted_with
from llamaindex_ctxopt.engines.engine_prompts import prompt_size, rendered
from llamaindex_ctxopt.messages.message_views import PrintedMessages, kept_messages

# Attempts to fit the history. Each takes off the tokens by which the printed prompt was over after the last attempt.
# Views have about as many tokens as the prompt, so the second usually fits. If none does, the history is left out.
_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensing:
    """Fits the history into the prompt that condenses it.

    The same messages are sent with the documents later, and there they usually have to be fewer. But this prompt also
    prints the additional arguments of messages, which may have more tokens than all their texts.

    Args:
        prompt: The template.
        query: The user's question.
        llm: The model that is called, if it is known.
        model_budget: Budget and token counter.
        options: How messages are cut.
    """

    prompt: BasePromptTemplate
    query: str
    llm: LLM | None
    model_budget: ModelBudget
    options: FitOptions

    def tokens_over(self, messages: Sequence[ChatMessage]) -> int:
        """Return by how many tokens the prompt with these messages is over the budget; 0 where it fits."""
        if not messages:
            return 0
        return max(0, self._tokens(messages) - self.model_budget.budget.effective_target)

    def cut(self, messages: Sequence[ChatMessage]) -> tuple[Sequence[ChatMessage], int]:
        """Return the messages that fit into the prompt, and how many were dropped.

        Raises:
            ContextBudgetError: Prompt and query alone are larger than the budget.
        """
        fixed = self._tokens(())
        for _ in range(_ROUNDS):
            request = ContextRequest(query=self.query, history=PrintedMessages(messages), fixed_tokens=fixed)
            budget, counter = self.model_budget.budget, self.model_budget.counter
            fitted = fitted_with(request, budget, counter, ChatRenderer(), self.options)
            kept = messages if fitted.unchanged else kept_messages(messages, fitted.history)
            over = self.tokens_over(kept)
            if not over:
                return kept, len(messages) - fitted.report.history.kept
            fixed += over
        return (), len(messages)

    def _tokens(self, messages: Sequence[ChatMessage]) -> int:
        history = messages_to_history_str(messages)
        prompt = rendered(self.prompt, self.llm, chat_history=history, question=self.query if messages else "")
        return prompt_size(prompt, self.model_budget.counter)
