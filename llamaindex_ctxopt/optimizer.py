"""`EngineOptimizer`: the parts of one engine, which fit its documents and its history into one budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, Unpack
from weakref import ref

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import NodeWithScore

from ctxopt_core import ContextBudget, FitReport
from llamaindex_ctxopt.engines.attached_engine import read_engine
from llamaindex_ctxopt.engines.engine_plan import plan_of
from llamaindex_ctxopt.engines.engine_prompts import Preamble
from llamaindex_ctxopt.engines.engine_request import EngineRequest
from llamaindex_ctxopt.engines.planner import Planner
from llamaindex_ctxopt.guard.llm import with_optimizer
from llamaindex_ctxopt.memory import ContextOptimizerMemory
from llamaindex_ctxopt.models.call_schemas import as_sent
from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor
from llamaindex_ctxopt.retriever import ContextOptimizerRetriever
from llamaindex_ctxopt.settings import FitSettings, FitSettingValues

_OWNER = "EngineOptimizer"
E = TypeVar("E")


class EngineOptimizer:
    """Fits the requests of one query or chat engine into its model's context window.

    In LlamaIndex nothing sees a whole request: a postprocessor sees nodes and the query, a memory sees messages. The
    parts of one optimizer share one budget. Documents and history borrow tokens from each other, and one turn of the
    user is one call of the model. Give `memory()` and `postprocessor()` to the engine, then call `attach` with it.

    One optimizer belongs to one engine: its parts go into the same request. It may be used from several threads and
    tasks. The globals of LlamaIndex's `Settings` are neither set nor made.

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
        self._settings = FitSettings.of(settings, _OWNER)
        preamble = Preamble(system_prompt=system_prompt, messages=tuple(prefix_messages))
        plan = plan_of(llm, self._settings, preamble=preamble, schemas=tuple(map(as_sent, tools)))
        self._planner = Planner(plan, escape_names=escape_template_names)

    @property
    def budget(self) -> ContextBudget:
        """The budget that requests are fitted into."""
        return self._planner.plan.model_budget.budget

    @property
    def last_report(self) -> FitReport | None:
        """The report of the last fit; None before the first."""
        return self._planner.last_report

    def postprocessor(self) -> ContextOptimizerPostprocessor:
        """Return a node postprocessor that shares this budget. It goes after all that rerank or lengthen nodes."""
        return ContextOptimizerPostprocessor.of_planner(self._planner)

    def memory(self, inner: BaseMemory | None = None) -> ContextOptimizerMemory:
        """Return a memory that shares this budget.

        Args:
            inner: The memory that stores the messages; by default one that keeps them in the process.
        """
        memory = ContextOptimizerMemory.of_planner(self._planner, inner)
        self._planner.source = ref(memory)
        return memory

    def retriever(self, inner: BaseRetriever) -> ContextOptimizerRetriever:
        """Return a retriever that shares this budget, for engines that have no postprocessors."""
        return ContextOptimizerRetriever(inner, postprocessor=self.postprocessor())

    def guard(self, llm: LLM | None = None) -> LLM:
        """Return an LLM that fits each of its requests by these settings, whatever sends it.

        Args:
            llm: The LLM; by default that of this optimizer.

        Raises:
            ValueError: Neither is there.
        """
        guarded = self._planner.plan.llm if llm is None else llm
        if guarded is None:
            message = "there is no LLM to guard: give it here, or make the optimizer with one"
            raise ValueError(message)
        return with_optimizer(guarded, **self._settings.as_dict())

    def attach(self, engine: E) -> E:
        """Read the prompts of the engine that has this optimizer's parts, and return the engine itself.

        Without this call the largest of LlamaIndex's default prompts are counted, with the `system_prompt` of the
        optimizer. A last stored message with the words of the question is taken for the question, as agents store it.

        Raises:
            TypeError: The engine is of another class than those that can be read.
            ContextBudgetError: The tokens that LlamaIndex keeps free for itself leave nothing of the window.
        """
        self._planner.plan = self._planner.plan.attached(read_engine(engine))
        return engine

    def fits_one_call(self, nodes: Sequence[NodeWithScore], query: str, history: Sequence[ChatMessage] = ()) -> bool:
        """Return whether the engine would answer from these nodes and messages in one call, within the window."""
        fitting = self._planner.plan.documents
        return fitting is None or fitting.fits(EngineRequest(query=query, nodes=nodes, messages=history))
