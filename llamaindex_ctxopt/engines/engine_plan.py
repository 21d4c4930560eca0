"""The plan for an engine: its model, its prompts, and how each of its requests is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM

from ctxopt_core import ChatRenderer, ContextRequest, FitReport
from ctxopt_core.adapters import ModelBudget, count_request, fit_with
from llamaindex_ctxopt.engines.attached_agents import AttachedAgent
from llamaindex_ctxopt.engines.attached_engine import AttachedEngine
from llamaindex_ctxopt.engines.engine_fitting import EngineFitting
from llamaindex_ctxopt.engines.engine_prompts import Preamble, default_prompts
from llamaindex_ctxopt.engines.guarded_models import budget_for
from llamaindex_ctxopt.engines.one_call_rule import prompt_tokens
from llamaindex_ctxopt.engines.template_names import template_names
from llamaindex_ctxopt.messages.message_views import LlamaIndexMessages, PrintedMessages, kept_messages
from llamaindex_ctxopt.models.completion_renderer import renderer_of_messages, sent_tokens
from llamaindex_ctxopt.models.model_settings import described
from llamaindex_ctxopt.models.unasked_model import rendered_for
from llamaindex_ctxopt.refusals import OF_ENGINE, in_words_of_front
from llamaindex_ctxopt.settings import FitSettings

# Tokens: roles and separators of two messages, since an engine counts its system prompt and its context as one string.
# With fewer, a request could be larger than the window by that much.
_PREFIX_OVERHEAD = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class EnginePlan:
    """How the requests of one engine are fitted.

    Args:
        llm: The model that it calls, if it is known.
        model: The model for which its prompts are rendered; None where nothing is known of it.
        model_budget: Budget and token counter.
        settings: How requests are fitted.
        preamble: The messages that are sent before the history.
        documents: Fits the request with the documents; None where there are none.
        history: Fits the request with the history and a query that is not stored yet; identical with `documents` where
            both are in one request. None where the engine has no such request.
        template_names: The names in braces that the engine would fill in inside the history.
        stores_answered_questions: Whether the engine is known to store a question only with its answer, so that a last
            message with the same words is an earlier question.
        history_first: Whether the engine is known to ask for the history before the documents.
    """

    llm: LLM | None
    model: LLM | None
    model_budget: ModelBudget
    settings: FitSettings
    preamble: Preamble
    documents: EngineFitting | None
    history: EngineFitting | None
    template_names: frozenset[str]
    stores_answered_questions: bool = False
    history_first: bool = False

    @property
    def together(self) -> bool:
        """Whether documents and history are in one request."""
        return self.documents is not None and self.documents is self.history

    def fit_conversation(self, messages: Sequence[ChatMessage], prefix: int = 0) -> tuple[list[ChatMessage], FitReport]:
        """Fit a conversation that ends with the query, or in the middle of its answer.

        Args:
            messages: The conversation.
            prefix: The tokens that the engine says it puts before the conversation, counted as one string.

        Raises:
            ContextBudgetError: The parts that may not be cut are larger than the input budget.
        """
        counter = self.model_budget.counter
        before = sent_tokens(self.preamble.all_messages, self.model, counter)
        renderer = renderer_of_messages(messages, self.model)
        request = ContextRequest(
            history=LlamaIndexMessages(messages) if isinstance(renderer, ChatRenderer) else PrintedMessages(messages),
            tools=self.model_budget.schemas,
            fixed_tokens=max(before, prefix + _PREFIX_OVERHEAD if prefix else 0),
        )
        with in_words_of_front(self.model_budget.budget, phrases=OF_ENGINE):
            fitted = fit_with(request, self.model_budget.budget, counter, renderer, self.settings.options)
        kept = list(messages) if fitted.unchanged else kept_messages(messages, fitted.history)
        return kept, fitted.report

    def attached(self, engine: AttachedEngine) -> EnginePlan:
        """Return the plan for an engine whose prompts are known, within the smaller of its window and this one.

        Raises:
            ContextBudgetError: The tokens that LlamaIndex keeps free for itself leave nothing of the window.
        """
        options, model_budget = self.settings.options, self._budget_for(engine.llm)
        documents = history = None
        if engine.documents is not None:
            answering = engine.answering or engine.llm
            answered = model_budget if answering is engine.llm else self._budget_for(answering)
            answered = replace(answered, schemas=_with_others(answered.schemas, engine.schemas))
            documents = EngineFitting.of(answered, options, engine.documents, described(answering))
        if engine.history is engine.documents:
            history = documents
        elif engine.history is not None:
            history = EngineFitting.of(model_budget, options, engine.history, described(engine.llm))
        prompts = engine.history.bounding if engine.history is not None else ()
        return replace(
            self,
            llm=engine.llm,
            model=engine.llm,
            model_budget=model_budget,
            preamble=engine.preamble,
            documents=documents,
            history=history,
            template_names=template_names(prompts),
            stores_answered_questions=history is not None,
            history_first=engine.history_first,
        )

    def with_agents(self, agents: Sequence[AttachedAgent]) -> EnginePlan:
        """Return the plan for a memory that agents share: the one whose prompt and tools leave least room decides."""
        return min(map(self._with_agent, agents), key=EnginePlan._room)

    def _with_agent(self, agent: AttachedAgent) -> EnginePlan:
        budget = self._budget_for(agent.llm)
        schemas = _with_others(budget.schemas, agent.schemas)
        return _planned(agent.llm, replace(budget, schemas=schemas), self.settings, agent.preamble)

    def _room(self) -> int:
        """Return the tokens that are left beside the preamble and the schemas."""
        counter = self.model_budget.counter
        beside = sent_tokens(self.preamble.all_messages, self.model, counter)
        tools = ContextRequest(tools=self.model_budget.schemas)
        return self.model_budget.budget.input_budget - beside - count_request(tools, counter, ChatRenderer())

    def _budget_for(self, llm: LLM) -> ModelBudget:
        return budget_for(llm, self.llm, self.model_budget, self.settings)


def plan_of(
    llm: LLM | str | None,
    settings: FitSettings,
    *,
    preamble: Preamble,
    schemas: Sequence[Mapping[str, Any] | str] = (),
) -> EnginePlan:
    """Return the plan for an engine that is not known: the largest of LlamaIndex's default prompts are counted.

    Raises:
        TypeError: `llm` is no model.
        ValueError: Neither the model nor the settings give a limit.
    """
    model_budget = settings.model_budget(llm, schemas)
    return _planned(llm if isinstance(llm, LLM) else None, model_budget, settings, preamble)


def _planned(llm: LLM | None, model_budget: ModelBudget, settings: FitSettings, preamble: Preamble) -> EnginePlan:
    model = rendered_for(llm, settings.limits)
    largest = max(
        default_prompts(preamble, model),
        key=lambda prompts: prompt_tokens(prompts.bounding, "", model, model_budget.counter),
    )
    fitting = EngineFitting.of(model_budget, settings.options, replace(largest, takes_history=True), model)
    return EnginePlan(
        llm=llm,
        model=model,
        model_budget=model_budget,
        settings=settings,
        preamble=preamble,
        documents=fitting,
        history=fitting,
        template_names=template_names(),
    )


def _with_others(
    schemas: tuple[Mapping[str, Any] | str, ...], others: Sequence[Mapping[str, Any] | str]
) -> tuple[Mapping[str, Any] | str, ...]:
    """Return schemas and those of `others` that are not among them."""
    return (*schemas, *(schema for schema in others if schema not in schemas))
