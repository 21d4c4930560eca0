"""`EngineSession`: the parts of one engine for one conversation, which fit documents and history into one budget."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TypeVar

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import NodeWithScore

from ctxopt_core import ContextBudget, FitReport
from llamaindex_ctxopt.attachment import attach
from llamaindex_ctxopt.engines.engine_plan import EnginePlan
from llamaindex_ctxopt.engines.engine_request import EngineRequest
from llamaindex_ctxopt.engines.guarded_models import ModelGuards
from llamaindex_ctxopt.engines.planner import Planner
from llamaindex_ctxopt.errors import EnginePartsError
from llamaindex_ctxopt.guard.llm import with_optimizer
from llamaindex_ctxopt.memory import ContextOptimizerMemory
from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor
from llamaindex_ctxopt.retriever import ContextOptimizerRetriever

E = TypeVar("E")
_claiming = Lock()


class EngineParts:
    """What an optimizer and its sessions have in common: parts that share one budget, for one engine.

    Args:
        planner: Fits the requests of one conversation.
        plan: What is known of the requests before an engine is attached. It holds no conversation.
        guards: Make the guarded models of engines. They hold no conversation.
    """

    def __init__(self, planner: Planner, plan: EnginePlan, guards: ModelGuards) -> None:
        self._planner = planner
        self._plan = plan
        self._guards = guards

    @property
    def budget(self) -> ContextBudget:
        """The budget that requests are fitted into; of an attached engine, the smaller of both windows."""
        return self._planner.plan.model_budget.budget

    @property
    def last_report(self) -> FitReport | None:
        """The report of the last fit by these parts; None before the first."""
        return self._planner.last_report

    def postprocessor(self) -> ContextOptimizerPostprocessor:
        """Return a node postprocessor that shares this budget. It goes after all that rerank or lengthen nodes."""
        return ContextOptimizerPostprocessor.of_planner(self._planner)

    def retriever(self, inner: BaseRetriever) -> ContextOptimizerRetriever:
        """Return a retriever that shares this budget, for engines that have no postprocessors."""
        return ContextOptimizerRetriever(inner, postprocessor=self.postprocessor())

    def guard(self, llm: LLM | None = None) -> LLM:
        """Return an LLM that fits each of its requests by these settings, whatever sends it.

        Args:
            llm: The LLM; by default that of the optimizer.

        Raises:
            ValueError: Neither is there.
        """
        guarded = self._plan.llm if llm is None else llm
        if guarded is None:
            message = "there is no LLM to guard: give it here, or make the optimizer with one"
            raise ValueError(message)
        return with_optimizer(guarded, **self._plan.settings.as_dict())

    def attach(self, engine: E) -> E:
        """Read the prompts of the engine that has these parts, guard its models, and return the engine itself.

        A model that the engine calls is replaced by a guarded copy, which fits what goes round the parts as well, such
        as a `chat_history` that a `CondenseQuestionChatEngine` is given. The LLM that you gave the engine is not
        changed. Where it is another one than the optimizer's, the smaller of both windows holds. Of a prompt that has
        the whole history or all documents in it, the guard leaves out the middle, since it cannot tell its parts apart.

        Of an agent, or an `AgentWorkflow`, system prompt and tools are read, so that the memory leaves them room; the
        guard fits every step, with the results of the tools.

        An engine is attached once, after it was made with these parts; if its prompts have changed, make a new one.
        Without this call the largest of LlamaIndex's default prompts are counted, with the `system_prompt` and `tools`
        of the optimizer, and no model is guarded. A last stored message with the words of the question is taken for the
        question, as agents store it.

        Raises:
            TypeError: The engine is of another class than those that can be read.
            EnginePartsError: The engine or these parts are attached already; it has a memory or a postprocessor that is
                not of these parts; or a postprocessor after ours makes nodes longer.
            ContextBudgetError: The tokens that LlamaIndex keeps free for itself leave nothing of the window.
        """
        attach(engine, self._planner, self._plan, self._guards)
        return engine

    def fits_one_call(self, nodes: Sequence[NodeWithScore], query: str, history: Sequence[ChatMessage] = ()) -> bool:
        """Return whether the engine would answer from these nodes and messages in one call, within the window."""
        fitting = self._planner.plan.documents
        return fitting is None or fitting.fits(EngineRequest(query=query, nodes=nodes, messages=history))


class EngineSession(EngineParts):
    """One conversation with an engine: a memory, and the parts that fit its documents beside that memory.

    `EngineOptimizer.session` makes one for each conversation. Sessions share the settings and the budget of their
    optimizer, and nothing that anybody has said, so that no request holds a word of another conversation, whatever runs
    at the same time. A session is cheap: no model is looked up and no prompt is read to make one. It keeps its memory
    alive.

    Example:
        >>> from llama_index.core import SummaryIndex
        >>> from llama_index.core.chat_engine import ContextChatEngine
        >>> from llama_index.core.llms import MockLLM
        >>> from llama_index.core.schema import TextNode
        >>> from llamaindex_ctxopt import EngineOptimizer
        >>> llm = MockLLM()
        >>> retriever = SummaryIndex([TextNode(text="Kiln 7 fires clay at night.")]).as_retriever()
        >>> optimizer = EngineOptimizer(llm=llm)  # one for all users
        >>> memories = {}
        >>> def answer(user, question):
        ...     session = optimizer.session(memories.get(user))
        ...     memories[user] = session.memory
        ...     engine = ContextChatEngine.from_defaults(
        ...         retriever, llm=llm, memory=session.memory, node_postprocessors=[session.postprocessor()]
        ...     )
        ...     return session.attach(engine).chat(question)
        >>> for user in ("ada", "ben", "ada"):
        ...     reply = answer(user, f"This is {user}. Which kiln fires clay?")
        >>> [len(memories[user].get_all()) for user in ("ada", "ben")]
        [4, 2]
    """

    def __init__(
        self, planner: Planner, plan: EnginePlan, guards: ModelGuards, memory: BaseMemory | None = None
    ) -> None:
        super().__init__(planner, plan, guards)
        self._memory = claimed_memory(planner, memory)

    @property
    def memory(self) -> ContextOptimizerMemory:
        """The memory of this conversation."""
        return self._memory


def claimed_memory(planner: Planner, inner: BaseMemory | None) -> ContextOptimizerMemory:
    """Return the memory of a planner: the one that it has, if that is around `inner`, else a new one.

    Args:
        planner: The planner.
        inner: The memory that stores the messages; of a `ContextOptimizerMemory` the one that is inside.

    Raises:
        TypeError: `inner` is no memory of LlamaIndex.
        EnginePartsError: The planner has another memory.
    """
    if not (inner is None or isinstance(inner, BaseMemory)):
        message = f"the memory must be a memory of LlamaIndex or None, got {type(inner).__name__}"
        raise TypeError(message)
    if isinstance(inner, ContextOptimizerMemory):
        inner = inner.inner
    with _claiming:
        source = planner.source
        if source is None:
            memory = ContextOptimizerMemory.of_planner(planner, inner)
            planner.source = memory
            return memory
    if inner is not None and isinstance(source, ContextOptimizerMemory) and source.inner is inner:
        return source
    message = (
        "this optimizer has a memory already: its postprocessors could not tell whose request they fit; use "
        "`optimizer.session(memory)` for each conversation, with `session.memory` and `session.postprocessor()`"
    )
    raise EnginePartsError(message)
