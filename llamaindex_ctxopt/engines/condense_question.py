"""The request that condenses a history into a question, which an engine sends before there are documents."""

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

_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensing:
    """What is kept of a history for the prompt that condenses it.

    The same messages are sent with the documents later. There they usually count more, together with these; here, what
    an application stores beside messages is printed as well, and may be more than all their texts.

    Args:
        prompt: The template.
        query: What is asked.
        llm: The model that is called, if it is known.
        model_budget: Budget and token counter.
        options: How messages are cut.
    """

    prompt: BasePromptTemplate
    query: str
    llm: LLM | None
    model_budget: ModelBudget
    options: FitOptions

    def over(self, messages: Sequence[ChatMessage]) -> int:
        """Return by how much the prompt with these messages is over the budget, in tokens; 0 where it fits."""
        if not messages:
            return 0
        return max(0, self._tokens(messages) - self.model_budget.budget.effective_target)

    def cut(self, messages: Sequence[ChatMessage]) -> tuple[Sequence[ChatMessage], int]:
        """Return the messages of which the prompt has room, and how many of the given ones are not among them.

        Raises:
            ContextBudgetError: Prompt and query alone are larger than the budget.
        """
        budget, counter, more = self.model_budget.budget, self.model_budget.counter, 0
        frame, kept = self._tokens(()), messages
        for _ in range(_ROUNDS):
            request = ContextRequest(query=self.query, history=PrintedMessages(messages), fixed_tokens=frame + more)
            fitted = fitted_with(request, budget, counter, ChatRenderer(), self.options)
            kept = messages if fitted.unchanged else kept_messages(messages, fitted.history)
            over = self.over(kept)
            if not over:
                return kept, len(messages) - fitted.report.history.kept
            more += over
        return (), len(messages)

    def _tokens(self, messages: Sequence[ChatMessage]) -> int:
        history = messages_to_history_str(messages)
        prompt = rendered(self.prompt, self.llm, chat_history=history, question=self.query if messages else "")
        return prompt_size(prompt, self.model_budget.counter)
