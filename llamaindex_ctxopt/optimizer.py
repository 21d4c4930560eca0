"""The planner: documents and history of one engine, fitted into one request whichever is asked for first."""

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
    """Fits the requests of one engine into its model's context window.

    In LlamaIndex nothing sees a whole request: a postprocessor knows nodes and the query, a memory knows messages. The
    parts that this hands out share one budget, so that documents and history borrow from each other, and one user turn
    is one model call.

        optimizer = EngineOptimizer(llm=llm)
        engine = index.as_chat_engine(
            chat_mode="context",
            llm=llm,
            memory=optimizer.memory(),
            node_postprocessors=[optimizer.postprocessor()],
        )
        optimizer.attach(engine)

    One optimizer belongs to one engine: its parts go into the same request. It may be used from several threads and
    tasks. The globals of LlamaIndex's `Settings` are neither set nor made.

    Args:
        llm: The model that the engine calls, or its name. Without it the settings must give a limit.
        system_prompt: The system prompt that the engine is given. `attach` reads it from the engine.
        prefix_messages: Its other messages before the history.
        tools: Tools that go with every request, or their schemas.
        neutralize: Whether names in braces inside the history, such as `{context_str}`, are kept from being filled in
            by the engine as if they were its template's.
        settings: How requests are fitted; see `FitSettingValues`.

    Raises:
        TypeError: `llm` is no model, or there is no such setting.
        ValueError: A setting is out of its range, or neither the model nor the settings tell a limit.
        ContextBudgetError: Nothing of the window is left for the input.
    """

    def __init__(
        self,
        llm: LLM | str | None = None,
        *,
        system_prompt: str = "",
        prefix_messages: Sequence[ChatMessage] = (),
        tools: Sequence[Any] = (),
        neutralize: bool = True,
        **settings: Unpack[FitSettingValues],
    ) -> None:
        self._settings = FitSettings.of(settings, _OWNER)
        preamble = Preamble(system_prompt=system_prompt, messages=tuple(prefix_messages))
        plan = plan_of(llm, self._settings, preamble=preamble, schemas=tuple(map(as_sent, tools)))
        self._planner = Planner(plan, neutralize=neutralize)

    @property
    def budget(self) -> ContextBudget:
        """The budget that requests are fitted into."""
        return self._planner.plan.model_budget.budget

    @property
    def last_report(self) -> FitReport | None:
        """The report of the last fit; None before the first."""
        return self._planner.last_report

    def postprocessor(self) -> ContextOptimizerPostprocessor:
        """Return a node postprocessor that shares this budget. It goes behind all that make nodes longer."""
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
        """Return a retriever that shares this budget, for engines that ask no postprocessors."""
        return ContextOptimizerRetriever(inner, postprocessor=self.postprocessor())

    def guard(self, llm: LLM | None = None) -> LLM:
        """Return an LLM that fits each of its requests by these settings, whoever sends it.

        Args:
            llm: The LLM; by default that of this optimizer.

        Raises:
            ValueError: There is none.
        """
        guarded = self._planner.plan.llm if llm is None else llm
        if guarded is None:
            message = "there is no LLM to guard: give it here, or make the optimizer with one"
            raise ValueError(message)
        return with_optimizer(guarded, **self._settings.as_dict())

    def attach(self, engine: E) -> E:
        """Read the prompts of the engine that has this optimizer's parts, and return the engine itself.

        Without it the largest of LlamaIndex's default prompts are counted, and the `system_prompt` that this was given;
        and where the last stored message has the words of the question it is taken for it, as agents store it.

        Raises:
            TypeError: The engine is of no kind that is known here.
            ContextBudgetError: What LlamaIndex keeps free for itself leaves nothing of the window.
        """
        self._planner.plan = self._planner.plan.attached(read_engine(engine))
        return engine

    def fits_one_call(self, nodes: Sequence[NodeWithScore], query: str, history: Sequence[ChatMessage] = ()) -> bool:
        """Tell whether the engine would answer from these nodes and messages in one call, within the window."""
        fitting = self._planner.plan.documents
        return fitting is None or fitting.fits(EngineRequest(query=query, nodes=nodes, messages=history))
