"""The messages that a memory of LlamaIndex stores: read, dumped, and loaded again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import (
    BaseMemory,
    ChatMemoryBuffer,
    ChatSummaryMemoryBuffer,
    Memory,
    SimpleComposableMemory,
)

_CUTTING: Sequence[type[BaseMemory]] = (ChatMemoryBuffer, ChatSummaryMemoryBuffer, Memory)
_FIELDS: Mapping[type, Sequence[str]] = {
    ChatMemoryBuffer: ("token_limit", "chat_store_key"),
    ChatSummaryMemoryBuffer: ("token_limit", "chat_store_key", "summarize_prompt", "count_initial_tokens"),
    Memory: ("token_limit", "token_flush_size", "chat_history_token_ratio", "session_id"),
}
"""What makes a stock memory again beside its messages."""


def stored_messages(
    memory: BaseMemory, query: str | ChatMessage | None, arguments: Mapping[str, Any]
) -> list[ChatMessage]:
    """Return what a memory holds, before anything is cut.

    Args:
        memory: The memory.
        query: What is asked now.
        arguments: Further arguments for a memory that is asked by its own `get`.
    """
    if _only_cuts(memory):
        return list(memory.get_all())
    return list(memory.get(input=query, **arguments))  # type: ignore[arg-type]


async def astored_messages(
    memory: BaseMemory, query: str | ChatMessage | None, arguments: Mapping[str, Any]
) -> list[ChatMessage]:
    """Return what `stored_messages` returns."""
    if _only_cuts(memory):
        return list(await memory.aget_all())
    return list(await memory.aget(input=query, **arguments))  # type: ignore[arg-type]


def _only_cuts(memory: BaseMemory) -> bool:
    """Tell whether the `get` of a memory adds nothing to what is stored, and only leaves something out.

    A subclass with a `get` of its own may add something.
    """
    if isinstance(memory, Memory) and memory.memory_blocks:
        return False
    kind = type(memory)
    return any((kind.get, kind.aget) == (stock.get, stock.aget) for stock in _CUTTING)


def state_of_memory(memory: BaseMemory) -> dict[str, Any]:
    """Return a memory as plain values, ready for JSON.

    LlamaIndex's own dumps of the stock memories cannot be loaded again, or cannot be made, depending on the release of
    pydantic. Of those the messages and the figures are stored; a database that holds them stays where it is, and what
    is loaded is in the process. A model that summarizes is not stored. Of any other memory it is the memory's own
    `to_dict`.

    Raises:
        ValueError: The memory cannot be stored.
    """
    kind = type(memory)
    state: dict[str, Any] = {"module": kind.__module__, "name": kind.__qualname__}
    if isinstance(memory, SimpleComposableMemory):
        parts = (memory.primary_memory, *memory.secondary_memory_sources)
        return {**state, "parts": [state_of_memory(part) for part in parts]}
    fields = _FIELDS.get(kind)
    if fields is None or (isinstance(memory, Memory) and memory.memory_blocks):
        return {**state, "value": _own_state(memory)}
    messages = [message.model_dump(mode="json") for message in memory.get_all()]
    return {**state, "messages": messages, "fields": {name: getattr(memory, name) for name in fields}}


def _own_state(memory: BaseMemory) -> dict[str, Any]:
    try:
        value = memory.to_dict()
        json.dumps(value)
    except (TypeError, ValueError) as error:
        message = (
            f"`inner` cannot be stored: what {type(memory).__name__}.to_dict gives is not ready for JSON, "
            f"{type(error).__name__}; store it by itself, or take a memory without blocks and indexes"
        )
        raise ValueError(message) from error
    return value


def memory_from_state(state: Mapping[str, Any]) -> BaseMemory:
    """Return the memory that `state_of_memory` described.

    Raises:
        TypeError: What is named is no class of a memory.
    """
    kind: Any = import_module(state["module"])
    for name in state["name"].split("."):
        kind = getattr(kind, name)
    if not (isinstance(kind, type) and issubclass(kind, BaseMemory)):
        message = f"`inner` of a stored memory must name a BaseMemory, got {state['module']}.{state['name']}"
        raise TypeError(message)
    if "parts" in state:
        first, *others = map(memory_from_state, state["parts"])
        return kind.from_defaults(primary_memory=first, secondary_memory_sources=others)
    if "value" in state:
        return kind.from_dict(state["value"])
    messages = [ChatMessage.model_validate(message) for message in state["messages"]]
    return kind.from_defaults(chat_history=messages, **state["fields"])
