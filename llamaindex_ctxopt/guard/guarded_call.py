"""One call of a guarded model: what its request counts, and what of it fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.llms import LLM, ChatMessage, MessageRole

from ctxopt_core import ChatRenderer, ContextBudgetError, ContextRequest, FitReport, RequestRenderer
from ctxopt_core.adapters import FitOptions, ModelBudget, count_request, fit_with
from llamaindex_ctxopt.guard.request_in_flight import InFlight
from llamaindex_ctxopt.messages.message_views import LlamaIndexMessages, kept_messages
from llamaindex_ctxopt.models.call_schemas import schemas_of_call, settings_of_call
from llamaindex_ctxopt.models.completion_renderer import CompletionRenderer, printer_of, renderer_of_messages
from llamaindex_ctxopt.settings import FitSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedCall:
    """A call, before its request is sent.

    Args:
        llm: The model that is called.
        settings: How its requests are fitted.
        schemas: Tools and the response format of the call, as they are sent.
        model_budget: The budget of the call.
        printer: Makes the text that the model is sent of messages; None where it is sent messages.
    """

    llm: LLM
    settings: FitSettings
    schemas: tuple[Mapping[str, Any] | str, ...]
    model_budget: ModelBudget
    printer: Callable[[Sequence[ChatMessage]], str] | None

    @classmethod
    def of(cls, llm: LLM, settings: FitSettings, arguments: Mapping[str, Any]) -> GuardedCall:
        """Read the model and the arguments of a call.

        Raises:
            ValueError: Neither model nor settings tell a window.
        """
        return cls(
            llm=llm,
            settings=settings,
            schemas=schemas_of_call(llm, arguments),
            model_budget=settings.model_budget(settings_of_call(llm, arguments)),
            printer=printer_of(llm),
        )

    def fit_messages(self, messages: Sequence[ChatMessage]) -> tuple[list[ChatMessage], InFlight, FitReport]:
        """Return the messages of a `chat` that fit, the request that they make, and the report.

        A list that fits is the identical list.

        Raises:
            ContextBudgetError: What may not be cut is larger than the input budget.
        """
        kept, report = self._fit(messages, renderer_of_messages(messages, self.llm))
        text = None if self.printer is None else self.printer(kept)
        return kept, InFlight(llm=self.llm, messages=kept, text=text), report

    def fit_prompt(self, prompt: str, *, formatted: bool) -> tuple[str, InFlight, FitReport]:
        """Return as much of the prompt of a `complete` as fits, the request that it makes, and the report.

        Args:
            prompt: The text, which is the query.
            formatted: Whether the model sends the text as it is.

        Raises:
            ContextBudgetError: The text is larger than the input budget and may not be cut.
        """
        messages = _as_messages(prompt)
        kept, report = self._fit(messages, self._renderer_of_prompt(messages, formatted=formatted))
        text = prompt if kept is messages else "\n".join(message.content or "" for message in kept)
        return text, InFlight(llm=self.llm, text=text), report

    def count_messages(self, messages: Sequence[ChatMessage]) -> int:
        """Return what messages count as they are, in tokens."""
        return count_messages(messages, self.schemas, self.model_budget, renderer_of_messages(messages, self.llm))

    def count_prompt(self, prompt: str, *, formatted: bool) -> int:
        """Return what a text counts as it is, in tokens."""
        messages = _as_messages(prompt)
        renderer = self._renderer_of_prompt(messages, formatted=formatted)
        return count_messages(messages, self.schemas, self.model_budget, renderer)

    def _fit(self, messages: Sequence[ChatMessage], renderer: RequestRenderer) -> tuple[list[ChatMessage], FitReport]:
        try:
            return fit_messages(messages, self.schemas, self.model_budget, self.settings.options, renderer)
        except ContextBudgetError as error:
            if "query" in self.settings.protect and error.costs.get("query"):
                raise _with_remedy(error) from error
            raise

    def _renderer_of_prompt(self, messages: Sequence[ChatMessage], *, formatted: bool) -> RequestRenderer:
        if self.printer is None:
            return ChatRenderer()
        formatter = None if formatted else self.llm.completion_to_prompt

        def render(kept: Sequence[ChatMessage]) -> str:
            text = kept[0].content or ""
            return text if formatter is None else formatter(text)

        return CompletionRenderer(messages=messages, render=render)


def _as_messages(prompt: str) -> list[ChatMessage]:
    return [ChatMessage(role=MessageRole.USER, content=prompt)]


def _with_remedy(error: ContextBudgetError) -> ContextBudgetError:
    message = (
        f"{error}; the query, which is the prompt of a completion or the last user message of a chat, is not cut: "
        "`protect=()` cuts it to its head and its tail"
    )
    return ContextBudgetError(message, needed=error.needed, available=error.available, costs=error.costs)


def fit_messages(
    messages: Sequence[ChatMessage],
    schemas: Sequence[Mapping[str, Any] | str],
    model_budget: ModelBudget,
    options: FitOptions,
    renderer: RequestRenderer | None = None,
) -> tuple[list[ChatMessage], FitReport]:
    """Fit messages and the schemas that go with them into the input budget.

    Args:
        messages: The messages, system prompt and query among them. They are read and never changed.
        schemas: Tool schemas and the like, beside those of `model_budget`.
        model_budget: Budget and token counter.
        options: How the messages are cut.
        renderer: How they are rendered; by default as a chat request.

    Returns:
        The messages that fit, and the report. A list that fits comes back as the identical list; otherwise what is kept
        whole is the identical message, and what is shortened is a copy.

    Raises:
        ContextBudgetError: What may not be cut is larger than the input budget, or no message has room.
    """
    request = _request(messages, schemas, model_budget)
    fitted = fit_with(request, model_budget.budget, model_budget.counter, renderer or ChatRenderer(), options)
    if fitted.unchanged:
        return messages if isinstance(messages, list) else list(messages), fitted.report
    kept = kept_messages(messages, fitted.history)
    if not kept:
        message = "not one of the messages has room; use a larger context window or a shorter input"
        raise ContextBudgetError(message, available=model_budget.budget.input_budget)
    return kept, fitted.report


def count_messages(
    messages: Sequence[ChatMessage],
    schemas: Sequence[Mapping[str, Any] | str],
    model_budget: ModelBudget,
    renderer: RequestRenderer | None = None,
) -> int:
    """Return what messages and the schemas that go with them count as they are, in tokens."""
    request = _request(messages, schemas, model_budget)
    return count_request(request, model_budget.counter, renderer or ChatRenderer())


def _request(
    messages: Sequence[ChatMessage], schemas: Sequence[Mapping[str, Any] | str], model_budget: ModelBudget
) -> ContextRequest:
    return ContextRequest(history=LlamaIndexMessages(messages), tools=(*model_budget.schemas, *schemas))
