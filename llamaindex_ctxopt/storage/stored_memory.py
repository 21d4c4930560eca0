"""Reads all messages of a memory of LlamaIndex, and dumps and loads the memory."""

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
"""The fields from which a stock memory is made again, beside its messages."""


def stored_messages(
    memory: BaseMemory, query: str | ChatMessage | None, arguments: Mapping[str, Any]
) -> list[ChatMessage]:
    """Return all messages of a memory, before anything is cut.

    Args:
        memory: The memory.
        query: The user's question.
        arguments: Further arguments for the `get` of a memory that may add something to what is stored.
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
    """Return whether the `get` of a memory only leaves messages out. One of a subclass may add some."""
    if isinstance(memory, Memory) and memory.memory_blocks:
        return False
    kind = type(memory)
    return any((kind.get, kind.aget) == (stock.get, stock.aget) for stock in _CUTTING)


def state_of_memory(memory: BaseMemory) -> dict[str, Any]:
    """Return a memory as plain values, ready for JSON.

    LlamaIndex's own dumps of its memories cannot be loaded again, or cannot be made, depending on the release of
    pydantic. For these memories, messages and figures are returned. A database with the messages is not changed, and
    the loaded memory keeps them in the process. A model that summarizes is left out. For any other memory, its own
    `to_dict` is used.

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
        TypeError: The stored name is not that of a memory class.
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
