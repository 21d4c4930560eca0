"""`ContextOptimizerMemory`: stores a whole conversation, and returns as much of it as fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


class ContextOptimizerMemory(BaseMemory):
    """Returns the messages that fit of a conversation that another memory stores.

    `get` returns the same at every call: copies of the messages that fit. System messages and the last user message are
    always among them, and each tool call has all its results or is left out. What is stored is not changed, so that
    compaction loses nothing for good. A memory made by `EngineOptimizer.memory` shares its budget with the documents of
    the same request.

    All stored messages are read from a memory that cuts by itself (`ChatMemoryBuffer`, `ChatSummaryMemoryBuffer`,
    `Memory` without blocks). Any other is asked by its own `get`, since it may add something to them.

    Attributes:
        inner: The memory that stores the messages.

    Example:
        >>> from llama_index.core.llms import ChatMessage
        >>> from llamaindex_ctxopt import ContextOptimizerMemory
        >>> chat = [ChatMessage(role="user" if i % 2 == 0 else "assistant", content=f"Line {i}") for i in range(9)]
        >>> memory = ContextOptimizerMemory.from_defaults(chat_history=chat, max_input_tokens=60, token_counter=len)
        >>> [message.content for message in memory.get()]
        ['Line 6', 'Line 7', 'Line 8']
        >>> len(memory.get_all())
        9
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    inner: BaseMemory = Field(exclude=True)
    _planner: Planner = PrivateAttr()

    @classmethod
    def of_planner(cls, planner: Planner, inner: BaseMemory | None = None) -> ContextOptimizerMemory:
        """Return a memory whose budget is that of `planner`."""
        values = {"inner": MessageListMemory() if inner is None else inner}
        return cls.model_validate(values, context=planner)

    def model_post_init(self, context: Any, /) -> None:
        """Take the planner from the validation context; without one there is no budget."""
        super().model_post_init(context)
        if not isinstance(context, Planner):
            message = "a ContextOptimizerMemory is made by `from_defaults`, or by `memory` of an EngineOptimizer"
            raise TypeError(message)
        self._planner = context

    @classmethod
    def from_defaults(  # type: ignore[override]
        cls,
        inner: BaseMemory | None = None,
        chat_history: list[ChatMessage] | None = None,
        llm: LLM | str | None = None,
        **settings: Unpack[FitSettingValues],
    ) -> ContextOptimizerMemory:
        """Return a memory that shares its budget with no other part.

        Args:
            inner: The memory that stores the messages; by default one that keeps them in the process.
            chat_history: The messages to store first.
            llm: The model that is called, or its name. Without it the settings must give a limit.
            settings: How the conversation is fitted; see `FitSettingValues`.

        Raises:
            TypeError: `llm` is no model, or there is no such setting.
            ValueError: A setting is out of its range, or neither the model nor the settings give a limit.
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

    @property
    def planner(self) -> Planner:
        """What fits the messages, which the other parts of the same session share."""
        return self._planner

    def tokenizer_fn(self, text: str) -> Sequence[int]:
        """Return as many numbers as `text` has tokens; with it, engines count what they put before the history."""
        return range(self._planner.plan.model_budget.counter.count(text))

    def get(self, input: str | ChatMessage | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """Return copies of the messages that fit.

        Args:
            input: The user's question, where it is not stored yet.
            kwargs: `initial_token_count` is the tokens that an engine puts before the history, counted as one string;
                roles and separators of two messages are added. Others are passed to the `get` of the inner memory.

        Raises:
            ContextBudgetError: The parts that may not be cut are larger than the input budget.
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
        """Return the stored messages, the computed limits and what is sent beside the messages, ready for JSON.

        Not stored are the model, functions among the settings, and the prompts of an attached engine.
        """
        return {
            "class_name": self.class_name(),
            "inner": state_of_memory(self.inner),
            "plan": state_of_plan(self._planner.plan),
            "escape_template_names": self._planner.escape_names,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], **kwargs: Any) -> ContextOptimizerMemory:
        """Return the memory that `to_dict` described. It shares its budget with no other part."""
        planner = Planner(plan_from_state(data["plan"], _OWNER), escape_names=data["escape_template_names"])
        return cls.of_planner(planner, memory_from_state(data["inner"]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what `to_dict` returns."""
        return type(self).from_dict, (self.to_dict(),)


def _text_of(query: str | ChatMessage | None) -> str | None:
    return query.content if isinstance(query, ChatMessage) else query
