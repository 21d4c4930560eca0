"""One call of a guarded model: the tokens of its request, and what of it fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.llms import LLM, ChatMessage, MessageRole

from ctxopt_core import ChatRenderer, ContextBudgetError, ContextRequest, FitReport, RequestRenderer
from ctxopt_core.adapters import ModelBudget, count_request, fit_with
from llamaindex_ctxopt.guard.request_in_flight import InFlight
from llamaindex_ctxopt.messages.message_views import LlamaIndexMessages, kept_messages
from llamaindex_ctxopt.models.call_schemas import schemas_of_call, settings_of_call
from llamaindex_ctxopt.models.completion_renderer import CompletionRenderer, printer_of, renderer_of_messages
from llamaindex_ctxopt.refusals import in_words_of_front, remedies_of
from llamaindex_ctxopt.settings import FitSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedCall:
    """A call, before its request is sent.

    Args:
        llm: The model that is called.
        settings: How its requests are fitted.
        model_budget: Budget and token counter of the call, and its tools and response format as they are sent.
        printer: Joins messages into the string that the model is sent; None where it is sent messages.
    """

    llm: LLM
    settings: FitSettings
    model_budget: ModelBudget
    printer: Callable[[Sequence[ChatMessage]], str] | None

    @classmethod
    def of(cls, llm: LLM, settings: FitSettings, arguments: Mapping[str, Any]) -> GuardedCall:
        """Read the model and the arguments of a call.

        Raises:
            ValueError: Neither the model nor the settings say how large the window is.
        """
        asked = settings_of_call(llm, arguments, settings.limits)
        model_budget = settings.model_budget(asked, schemas_of_call(llm, arguments))
        return cls(llm=llm, settings=settings, model_budget=model_budget, printer=printer_of(llm))

    def fit(self, given: Sequence[ChatMessage] | str, *, formatted: bool = False) -> tuple[Any, InFlight, FitReport]:
        """Return the messages or the part of the prompt that fits, the request that they make, and the report.

        A list that fits is returned as the identical list. Otherwise messages that are kept whole are the identical
        objects, and shortened ones are copies.

        Args:
            given: The messages of a `chat`, or the prompt of a `complete`, which is the query.
            formatted: Whether the model sends the prompt as it is.

        Raises:
            ContextBudgetError: The parts that may not be cut are larger than the input budget, or no message fits.
        """
        messages, renderer = self._rendered(given, formatted=formatted)
        kept, report = self._fit(messages, renderer)
        if isinstance(given, str):
            text = given if kept is messages else "\n".join(message.content or "" for message in kept)
            return text, InFlight(llm=self.llm, text=text), report
        printed = None if self.printer is None else self.printer(kept)
        return kept, InFlight(llm=self.llm, messages=kept, text=printed), report

    def count(self, given: Sequence[ChatMessage] | str, *, formatted: bool = False) -> int:
        """Return the tokens of the request for these messages or this prompt, schemas included."""
        messages, renderer = self._rendered(given, formatted=formatted)
        return count_request(self._request(messages), self.model_budget.counter, renderer)

    def _fit(self, messages: Sequence[ChatMessage], renderer: RequestRenderer) -> tuple[list[ChatMessage], FitReport]:
        budget, counter, options = self.model_budget.budget, self.model_budget.counter, self.settings.options
        try:
            with in_words_of_front(budget):
                fitted = fit_with(self._request(messages), budget, counter, renderer, options)
        except ContextBudgetError as error:
            if "query" not in options.protect or not error.costs.get("query"):
                raise
            problem = (
                f"{error.problem}; the query, which is the prompt of a completion or the last user message of a chat, "
                "is not cut: `protect=()` cuts it to its head and its tail"
            )
            raise ContextBudgetError(
                problem,
                needed=error.needed,
                available=error.available,
                costs=error.costs,
                remedies=error.remedies,
            ) from error
        if fitted.unchanged:
            return messages if isinstance(messages, list) else list(messages), fitted.report
        kept = kept_messages(messages, fitted.history)
        if not kept:
            message = f"not one of the messages has room in the input budget of {budget.input_budget:,} tokens"
            raise ContextBudgetError(message, available=budget.input_budget, remedies=remedies_of(budget))
        return kept, fitted.report

    def _request(self, messages: Sequence[ChatMessage]) -> ContextRequest:
        return ContextRequest(history=LlamaIndexMessages(messages), tools=self.model_budget.schemas)

    def _rendered(
        self, given: Sequence[ChatMessage] | str, *, formatted: bool
    ) -> tuple[Sequence[ChatMessage], RequestRenderer]:
        """Return messages or a prompt as messages, and their renderer."""
        if not isinstance(given, str):
            return given, renderer_of_messages(given, self.llm)
        messages = [ChatMessage(role=MessageRole.USER, content=given)]
        if self.printer is None:
            return messages, ChatRenderer()
        formatter = None if formatted else self.llm.completion_to_prompt

        def render(kept: Sequence[ChatMessage]) -> str:
            text = kept[0].content or ""
            return text if formatter is None else formatter(text)

        return messages, CompletionRenderer(messages=messages, render=render)
