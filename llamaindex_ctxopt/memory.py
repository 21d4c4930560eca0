"""A memory that shows an engine or an agent as much of a conversation as fits, and keeps all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.llms import LLM
from llama_index.core.memory import BaseMemory

from ctxopt_core import FitReport
from llamaindex_ctxopt.engines.engine_plan import plan_of
from llamaindex_ctxopt.engines.engine_prompts import Preamble
from llamaindex_ctxopt.engines.planner import Planner
from llamaindex_ctxopt.settings import FitSettings, FitSettingValues
from llamaindex_ctxopt.storage.message_list_memory import MessageListMemory
from llamaindex_ctxopt.storage.stored_memory import (
    astored_messages,
    memory_from_state,
    state_of_memory,
    stored_messages,
)
from llamaindex_ctxopt.storage.stored_plan import plan_from_state, state_of_plan

_OWNER = "ContextOptimizerMemory"
_PREFIX = "initial_token_count"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """Tells a memory at its construction who decides for it."""

    planner: Planner


class ContextOptimizerMemory(BaseMemory):
    """Shows what fits of a conversation that another memory stores.

    `get` changes nothing and gives the same at every call: copies of the messages that fit, system messages and the
    last user message always among them, calls of tools with all their results or not at all. What is stored is not
    touched. A memory that a `EngineOptimizer` hands out shares its budget with the documents of the same request.

    Of a memory that cuts by itself (`ChatMemoryBuffer`, `ChatSummaryMemoryBuffer`, `Memory` without blocks) all stored
    messages are read. Any other is asked by its own `get`, since it may add something to them.

    Attributes:
        inner: The memory that stores the messages.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    inner: BaseMemory = Field(exclude=True)
    _planner: Planner = PrivateAttr()

    @classmethod
    def of_planner(cls, planner: Planner, inner: BaseMemory | None = None) -> ContextOptimizerMemory:
        """Return a memory whose budget is that of `planner`."""
        values = {"inner": MessageListMemory() if inner is None else inner}
        return cls.model_validate(values, context=_Planned(planner=planner))

    def model_post_init(self, context: Any, /) -> None:
        """Take the planner that decides; a memory without one could show nothing."""
        super().model_post_init(context)
        if not isinstance(context, _Planned):
            message = "a ContextOptimizerMemory is made by `from_defaults`, or by `memory` of a EngineOptimizer"
            raise TypeError(message)
        self._planner = context.planner

    @classmethod
    def from_defaults(  # type: ignore[override]
        cls,
        inner: BaseMemory | None = None,
        chat_history: list[ChatMessage] | None = None,
        llm: LLM | str | None = None,
        **settings: Unpack[FitSettingValues],
    ) -> ContextOptimizerMemory:
        """Return a memory with a budget of its own.

        Args:
            inner: The memory that stores the messages; by default one that keeps them in the process.
            chat_history: The messages that it holds from the start.
            llm: The model that is called, or its name. Without it the settings must give a limit.
            settings: How the conversation is fitted; see `FitSettingValues`.

        Raises:
            TypeError: `llm` is no model, or there is no such setting.
            ValueError: A setting is out of its range, or neither the model nor the settings tell a limit.
        """
        plan = plan_of(llm, FitSettings.of(settings, _OWNER), preamble=Preamble())
        memory = cls.of_planner(Planner(plan), inner)
        if chat_history is not None:
            memory.set(chat_history)
        return memory

    @classmethod
    def class_name(cls) -> str:
        """Return the name by which LlamaIndex stores it."""
        return "ContextOptimizerMemory"

    @property
    def last_report(self) -> FitReport | None:
        """The report of the last fit of this budget; None before the first."""
        return self._planner.last_report

    def tokenizer_fn(self, text: str) -> Sequence[int]:
        """Return as many numbers as a text has tokens: engines that see it say what they put before the history."""
        return range(self._planner.plan.model_budget.counter.count(text))

    def get(self, input: str | ChatMessage | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """Return copies of the messages that fit.

        Args:
            input: What is asked now. Engines give what is not in the memory yet.
            kwargs: `initial_token_count` is what an engine puts before the history, in tokens of one joined text; the
                framing of two messages is added. Others go to a memory that is asked by its own `get`.

        Raises:
            ContextBudgetError: What may not be cut is larger than the input budget.
        """
        prefix, query = kwargs.pop(_PREFIX, 0), _text_of(input)
        return self._planner.history(stored_messages(self.inner, input, kwargs), query, prefix)

    async def aget(self, input: str | ChatMessage | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """Return what `get` returns; the work is done in a worker thread."""
        prefix, query = kwargs.pop(_PREFIX, 0), _text_of(input)
        return await self._planner.ahistory(await astored_messages(self.inner, input, kwargs), query, prefix)

    def stored(self, query: str | None) -> Sequence[ChatMessage]:
        """Return the messages that are read for a query."""
        return stored_messages(self.inner, query, {})

    async def astored(self, query: str | None) -> Sequence[ChatMessage]:
        """Return what `stored` returns."""
        return await astored_messages(self.inner, query, {})

    def get_all(self) -> list[ChatMessage]:
        """Return all messages that are stored."""
        return self.inner.get_all()

    async def aget_all(self) -> list[ChatMessage]:
        """Return all messages that are stored."""
        return await self.inner.aget_all()

    def put(self, message: ChatMessage) -> None:
        """Store a message."""
        self._planner.close_turn()
        self.inner.put(message)

    async def aput(self, message: ChatMessage) -> None:
        """Store a message."""
        self._planner.close_turn()
        await self.inner.aput(message)

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Store messages."""
        self._planner.close_turn()
        self.inner.put_messages(messages)

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Store messages."""
        self._planner.close_turn()
        await self.inner.aput_messages(messages)

    def set(self, messages: list[ChatMessage]) -> None:
        """Store these messages and no others."""
        self._planner.close_turn()
        self.inner.set(messages)

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Store these messages and no others."""
        self._planner.close_turn()
        await self.inner.aset(messages)

    def reset(self) -> None:
        """Forget all messages."""
        self._planner.close_turn()
        self.inner.reset()

    async def areset(self) -> None:
        """Forget all messages."""
        self._planner.close_turn()
        await self.inner.areset()

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the stored messages, the limits that were worked out and what is sent beside them, ready for JSON.

        The model itself is not stored, nor are functions among the settings and the prompts of an attached engine.
        """
        return {
            "class_name": self.class_name(),
            "inner": state_of_memory(self.inner),
            "plan": state_of_plan(self._planner.plan),
            "escape_template_names": self._planner.escape_names,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], **kwargs: Any) -> ContextOptimizerMemory:
        """Return the memory that `to_dict` described. It has a budget of its own."""
        planner = Planner(plan_from_state(data["plan"], _OWNER), escape_names=data["escape_template_names"])
        return cls.of_planner(planner, memory_from_state(data["inner"]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what `to_dict` returns."""
        return type(self).from_dict, (self.to_dict(),)


def _text_of(query: str | ChatMessage | None) -> str | None:
    return query.content if isinstance(query, ChatMessage) else query
