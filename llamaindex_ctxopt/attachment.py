"""Attaches an engine to the parts that it has: refuses what does not belong together, and guards its models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.memory import BaseMemory
from llama_index.core.postprocessor import (
    AutoPrevNextNodePostprocessor,
    MetadataReplacementPostProcessor,
    PrevNextNodePostprocessor,
)

from llamaindex_ctxopt.engines.attached_agents import is_agent, read_agents
from llamaindex_ctxopt.engines.attached_engine import read_engine
from llamaindex_ctxopt.engines.engine_plan import EnginePlan
from llamaindex_ctxopt.engines.guarded_models import ModelGuards, model_slots
from llamaindex_ctxopt.engines.planner import Planner
from llamaindex_ctxopt.errors import EnginePartsError
from llamaindex_ctxopt.memory import ContextOptimizerMemory
from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor
from llamaindex_ctxopt.retriever import ContextOptimizerRetriever

_GROWING = (AutoPrevNextNodePostprocessor, MetadataReplacementPostProcessor, PrevNextNodePostprocessor)
_SESSION = "; make another one with `optimizer.session(memory)`"

_attached: WeakValueDictionary[int, Any] = WeakValueDictionary()
_one_at_a_time = RLock()


def attach(engine: Any, planner: Planner, plan: EnginePlan, guards: ModelGuards) -> EnginePlan:
    """Guard the models of an engine, and return the plan for it, which the planner has from then on.

    Where anything is refused, neither engine nor planner is changed.

    Args:
        engine: The engine, or the agent.
        planner: The planner of the parts that it must have.
        plan: What is known before it is read.
        guards: Make the guarded models.

    Raises:
        TypeError: The engine is of another class than those that can be read.
        EnginePartsError: It or the planner is attached already, or it has parts of another planner.
        ContextBudgetError: The tokens that LlamaIndex keeps free for itself leave nothing of the window.
    """
    with _one_at_a_time, ExitStack() as undo:
        if not is_agent(engine):
            read_engine(engine)  # another class is an error before anything else is
        engines = list(_engines_in(engine))
        _refuse_second(engine, planner)
        for part in engines:
            _check_parts(part, planner)
        for slot in [slot for part in engines for slot in model_slots(part)]:
            undo.callback(slot.put, slot.llm)
            slot.put(guards.of(slot))
        found = plan.with_agents(read_agents(engine)) if is_agent(engine) else plan.attached(read_engine(engine))
        undo.pop_all()
        planner.plan, planner.has_engine = found, True
        for part in engines:
            _attached[id(part)] = part
    return found


def _engines_in(engine: Any) -> Iterator[Any]:
    """Yield an engine, and what it asks that is not attached yet: the query engine inside, or the agents."""
    yield engine
    inside = engine.agents.values() if isinstance(engine, AgentWorkflow) else [getattr(engine, "_query_engine", None)]
    for inner in inside:
        if inner is not None and _attached.get(id(inner)) is not inner:
            yield inner


def _refuse_second(engine: Any, planner: Planner) -> None:
    if _attached.get(id(engine)) is engine:
        message = (
            f"`engine` is attached already: a {type(engine).__name__} has one optimizer or session; if its prompts "
            "have changed, make a new engine and attach that"
        )
        raise EnginePartsError(message)
    if planner.has_engine:
        message = f"this optimizer or session has an engine already: its parts go into one engine's requests{_SESSION}"
        raise EnginePartsError(message)


def _check_parts(engine: Any, planner: Planner) -> None:
    """Refuse an engine whose memory or postprocessor would work for another conversation, or for none."""
    name = type(engine).__name__
    memory = getattr(engine, "_memory", None)
    if isinstance(memory, BaseMemory) and not (
        isinstance(memory, ContextOptimizerMemory) and memory.planner is planner
    ):
        kind = type(memory).__name__
        message = (
            f"`engine` has a {kind} that is not of this optimizer or session, so that its history cannot be held: make "
            f"the {name} with `memory=optimizer.memory()` or `memory=session.memory`; around a memory of your own, "
            f"`memory(inner)` or `session(inner)`"
        )
        raise EnginePartsError(message)
    ours = False
    retriever = getattr(engine, "_retriever", None)
    parts = [retriever.postprocessor] if isinstance(retriever, ContextOptimizerRetriever) else []
    for part in (*parts, *(getattr(engine, "_node_postprocessors", None) or ())):
        if isinstance(part, ContextOptimizerPostprocessor) and part.planner not in (None, planner):
            message = (
                f"`engine` has a postprocessor or retriever of another optimizer or session: give the {name} "
                "`postprocessor()` or `retriever(inner)` of this one"
            )
            raise EnginePartsError(message)
        if ours and isinstance(part, _GROWING):
            message = (
                f"`engine` has a {type(part).__name__} after `postprocessor()`, which makes nodes longer that were "
                "fitted: put it before"
            )
            raise EnginePartsError(message)
        ours = ours or (isinstance(part, ContextOptimizerPostprocessor) and part.planner is planner)
