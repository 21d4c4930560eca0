"""The models of an engine: where it holds them, what fits into each, and each with a guard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms import LLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index_instrumentation import get_dispatcher

from ctxopt_core import FitReport
from ctxopt_core.adapters import BudgetSettings, ModelBudget
from llamaindex_ctxopt.events import ContextOptimizedEvent
from llamaindex_ctxopt.guard.llm import OptimizedLLM, guarded_view
from llamaindex_ctxopt.models.model_settings import is_chat_model, metadata_of, schemas_of_answer
from llamaindex_ctxopt.settings import FitSettings

dispatcher = get_dispatcher(__name__)
# Guarded models that an optimizer keeps, so that the next session's engine gets the same one: making one takes as long
# as making an optimizer. An application with more models would make theirs again at each `attach`.
_KEPT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSlot:
    """An attribute in which an engine holds a model.

    Args:
        holder: The engine, its synthesizer or an agent.
        name: The attribute.
        prints: Whether the model is sent the whole request as one prompt, with documents or history in it.
    """

    holder: Any
    name: str
    prints: bool

    @property
    def llm(self) -> LLM:
        """The model."""
        return getattr(self.holder, self.name)  # type: ignore[no-any-return]

    def put(self, llm: LLM) -> None:
        """Replace the model."""
        setattr(self.holder, self.name, llm)


def model_slots(engine: Any) -> Iterator[ModelSlot]:
    """Yield where an engine, or an agent, holds the models that it calls itself."""
    if isinstance(engine, AgentWorkflow):
        for agent in engine.agents.values():
            yield from model_slots(agent)
        return
    if isinstance(engine, BaseWorkflowAgent):
        yield ModelSlot(holder=engine, name="llm", prints=False)
        return
    synthesizer = getattr(engine, "_response_synthesizer", None)
    printing = isinstance(engine, CondenseQuestionChatEngine)
    for holder, prints in ((engine, printing), (synthesizer, True)):
        for name in ("_llm", "_multi_modal_llm"):
            if isinstance(getattr(holder, name, None), LLM):
                yield ModelSlot(holder=holder, name=name, prints=prints)


def limits_for(llm: LLM, known: LLM | None, ours: ModelBudget, limits: BudgetSettings) -> BudgetSettings:
    """Return limits for another model than that of the optimizer, so that the smaller of both windows holds.

    Args:
        llm: The model that an engine calls.
        known: The model of the optimizer, if it has one.
        ours: The budget of the optimizer.
        limits: The settings of the optimizer; returned as they are for its own model.
    """
    if known is not None and _inner(llm) is _inner(known):
        return limits
    metadata, window, most = metadata_of(_inner(llm)), limits.context_window, limits.max_input_tokens
    if metadata is not None:
        # Given as a limit, since a limit of the input alone would be taken in place of the model's own window.
        window = metadata.context_window if window is None else min(window, metadata.context_window)
    budget = ours.budget.input_budget
    return replace(limits, context_window=window, max_input_tokens=budget if most is None else min(most, budget))


def budget_for(llm: LLM, known: LLM | None, ours: ModelBudget, settings: FitSettings) -> ModelBudget:
    """Return budget and counter for requests to a model: the smaller of its window and that of the optimizer.

    The arguments are those of `limits_for`.

    Raises:
        ValueError: The model says neither its name nor its window.
    """
    inner = _inner(llm)
    own = tuple(schema for schema in schemas_of_answer(llm) if schema not in ours.schemas)
    schemas = (*ours.schemas, *own)
    if isinstance(inner, OptimizedLLM):
        guarded = inner.guarded_call({}).model_budget
        smaller = min(guarded.budget, ours.budget, key=lambda budget: budget.input_budget)
        return replace(guarded, budget=smaller, schemas=schemas)
    limits = limits_for(llm, known, ours, settings.limits)
    if limits is settings.limits:
        return replace(ours, schemas=schemas)
    return replace(replace(settings, limits=limits).model_budget(inner), schemas=schemas)


class ModelGuards:
    """Makes the guarded models for the engines of one optimizer and its sessions, each once.

    Args:
        known: The model of the optimizer, if it has one.
        ours: The budget of the optimizer.
        settings: How its requests are fitted.
    """

    def __init__(self, known: LLM | None, ours: ModelBudget, settings: FitSettings) -> None:
        self._known = known
        self._ours = ours
        self._settings = settings
        self._made: tuple[tuple[LLM, bool, LLM], ...] = ()

    def of(self, slot: ModelSlot) -> LLM:
        """Return the model of a slot with a guard that fits each of its requests into the smaller of both windows.

        A guard that the user has given the model stays, with a smaller limit where the optimizer has one. The model
        itself is not changed.

        Raises:
            ValueError: The model says neither its name nor its window.
        """
        llm = slot.llm
        # Of a prompt that holds the whole request nothing could be cut if its query may not be.
        prints = slot.prints or not is_chat_model(_inner(llm))
        for given, printed, guarded in self._made:
            if given is llm and printed is prints:
                return guarded
        guarded = self._guarded(llm, prints=prints)
        self._made = (*self._made[1 - _KEPT :], (llm, prints, guarded))
        return guarded

    def _guarded(self, llm: LLM, *, prints: bool) -> LLM:
        if isinstance(llm, StructuredLLM):
            return llm.model_copy(update={"llm": self._guarded(llm.llm, prints=prints)})
        protect = self._settings.options.protect
        if isinstance(llm, OptimizedLLM):
            most, protect = self._ours.budget.input_budget, llm.fit_settings.options.protect
            changes: dict[str, Any] = {}
            if llm.guarded_call({}).model_budget.budget.input_budget > most:
                changes["max_input_tokens"] = most
            if prints and "query" in protect:
                changes["protect"] = tuple(sorted(protect - {"query"}))
            return guarded_view(llm, **{**llm.fit_settings.as_dict(), **changes}) if changes else llm
        values = self._settings.as_dict()
        limits = limits_for(llm, self._known, self._ours, self._settings.limits)
        values.update(context_window=limits.context_window, max_input_tokens=limits.max_input_tokens)
        if prints:
            values["protect"] = tuple(sorted(protect - {"query"}))
        return guarded_view(llm, **{**values, "on_report": CutsOnly(self._settings.on_report)})


@dataclass(frozen=True, slots=True)
class CutsOnly:
    """Passes on the reports of requests that a guard had to cut; all others have been reported by the parts.

    Args:
        on_report: What the reports are passed to, if there is anything.
    """

    on_report: Callable[[FitReport], None] | None

    def __call__(self, report: FitReport) -> None:
        """Pass on a report."""
        if report.unchanged:
            return
        dispatcher.event(ContextOptimizedEvent(figures=report.to_event()))
        if self.on_report is not None:
            self.on_report(report)


def _inner(llm: LLM) -> LLM:
    return llm.llm if isinstance(llm, StructuredLLM) else llm
