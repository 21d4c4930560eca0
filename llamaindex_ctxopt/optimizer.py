"""`EngineOptimizer`: fits documents and history of engines into one budget, for one conversation or for many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, Unpack

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM
from llama_index.core.memory import BaseMemory

from llamaindex_ctxopt.engines.attached_agents import is_agent
from llamaindex_ctxopt.engines.engine_plan import plan_of
from llamaindex_ctxopt.engines.engine_prompts import Preamble
from llamaindex_ctxopt.engines.guarded_models import ModelGuards
from llamaindex_ctxopt.engines.planner import Planner
from llamaindex_ctxopt.memory import ContextOptimizerMemory
from llamaindex_ctxopt.models.call_schemas import as_sent
from llamaindex_ctxopt.session import EngineParts, EngineSession, claimed_memory
from llamaindex_ctxopt.settings import FitSettings, FitSettingValues

_OWNER = "EngineOptimizer"
E = TypeVar("E")


class EngineOptimizer(EngineParts):
    """Fits the requests of one query or chat engine into its model's context window.

    In LlamaIndex nothing sees a whole request: a postprocessor sees nodes and the query, a memory sees messages. The
    parts of one optimizer share one budget. Documents and history borrow tokens from each other, and one turn of the
    user is one call of the model. Give `memory()` and `postprocessor()` to the engine, then call `attach` with it.

    The parts of the optimizer itself belong to one engine and one conversation: a second `memory()` is an error. An
    application with several users has one optimizer and calls `session` for each conversation, which returns such parts
    of its own. Optimizer and sessions may be used from several threads and tasks. The globals of LlamaIndex's
    `Settings` are neither set nor made.

    Args:
        llm: The model that the engine calls, or its name. Without it the settings must give a limit.
        system_prompt: The system prompt that the engine is given. `attach` reads it from the engine.
        prefix_messages: Its other messages before the history.
        tools: Tools that are sent with every request, or their schemas.
        escape_template_names: Whether names in braces inside the history, such as `{context_str}`, are escaped, so that
            the engine does not fill them in as parts of its template.
        settings: How requests are fitted; see `FitSettingValues`.

    Raises:
        TypeError: `llm` is no model, or there is no such setting.
        ValueError: A setting is out of its range, or neither the model nor the settings give a limit.
        ContextBudgetError: Nothing of the window is left for the input.

    Example:
        >>> from llama_index.core import SummaryIndex
        >>> from llama_index.core.chat_engine import ContextChatEngine
        >>> from llama_index.core.llms import MockLLM
        >>> from llama_index.core.schema import TextNode
        >>> from llamaindex_ctxopt import EngineOptimizer
        >>> llm = MockLLM()
        >>> index = SummaryIndex([TextNode(text=f"Kiln {i} fires clay at night. " * 40) for i in range(20)])
        >>> optimizer = EngineOptimizer(llm=llm)
        >>> engine = ContextChatEngine.from_defaults(
        ...     retriever=index.as_retriever(),
        ...     llm=llm,
        ...     memory=optimizer.memory(),
        ...     node_postprocessors=[optimizer.postprocessor()],
        ... )
        >>> answer = optimizer.attach(engine).chat("Which kiln fires clay?")
        >>> len(answer.source_nodes), optimizer.last_report.within_budget  # of 20 nodes
        (10, True)
    """

    def __init__(
        self,
        llm: LLM | str | None = None,
        *,
        system_prompt: str = "",
        prefix_messages: Sequence[ChatMessage] = (),
        tools: Sequence[Any] = (),
        escape_template_names: bool = True,
        **settings: Unpack[FitSettingValues],
    ) -> None:
        given = FitSettings.of(settings, _OWNER)
        preamble = Preamble(system_prompt=system_prompt, messages=tuple(prefix_messages))
        plan = plan_of(llm, given, preamble=preamble, schemas=tuple(map(as_sent, tools)))
        super().__init__(
            Planner(plan, escape_names=escape_template_names), plan, ModelGuards(plan.llm, plan.model_budget, given)
        )
        self._escape_names = escape_template_names
        self._plan_of_sessions = plan

    def session(self, memory: BaseMemory | None = None) -> EngineSession:
        """Return the parts for one conversation: its own memory, postprocessors and report, with these settings.

        Making one costs next to nothing. Make one for each request of a server, with the memory of its user.

        Args:
            memory: The memory that stores the messages of this conversation, or the `memory` of an earlier session with
                it; by default one that keeps them in the process.

        Raises:
            TypeError: `memory` is no memory of LlamaIndex.
        """
        planner = Planner(self._plan_of_sessions, escape_names=self._escape_names)
        return EngineSession(planner, self._plan, self._guards, memory)

    def memory(self, inner: BaseMemory | None = None) -> ContextOptimizerMemory:
        """Return the memory of the optimizer's own parts, for a single conversation.

        Args:
            inner: The memory that stores the messages; by default one that keeps them in the process.

        Raises:
            TypeError: `inner` is no memory of LlamaIndex.
            EnginePartsError: There is a memory already, with other messages: use `session` for each conversation.
        """
        return claimed_memory(self._planner, inner)

    def attach(self, engine: E) -> E:
        """Read the prompts of an engine, guard its models, and return the engine itself: see `EngineSession.attach`.

        An agent has no memory of its own, so that many conversations are held with one. It is attached here, once; the
        sessions that are made afterwards leave room for its system prompt and its tools.

        Raises:
            TypeError: The engine is of another class than those that can be read.
            EnginePartsError: The engine or this optimizer is attached already; the engine has a memory or a
                postprocessor that is not of this optimizer; or a postprocessor after ours makes nodes longer.
            ContextBudgetError: The tokens that LlamaIndex keeps free for itself leave nothing of the window.
        """
        super().attach(engine)
        if is_agent(engine):
            self._plan_of_sessions = self._planner.plan
        return engine
