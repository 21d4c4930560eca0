"""What an engine can be given so that its requests fit: the memories of LlamaIndex, and ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.llms import LLM
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer, Memory
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

Kind = Literal["Memory", "ChatMemoryBuffer", "ours", "ours, attached"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an engine is given so that its requests fit.

    Args:
        memory: Its memory.
        postprocessors: Its node postprocessors.
        attach: What is to be done with the engine.
        store: The database of the memory, which is to be closed.
    """

    memory: BaseMemory
    postprocessors: tuple[BaseNodePostprocessor, ...] = ()
    attach: Callable[[BaseChatEngine], object] | None = None
    store: AsyncEngine | None = None


def default_memory(llm: LLM) -> Parts:
    """Return what an engine makes for itself."""
    store = create_async_engine("sqlite+aiosqlite:///:memory:")
    memory = Memory.from_defaults(token_limit=llm.metadata.context_window - 256, async_engine=store)
    return Parts(memory=memory, store=store)


def memory_buffer(llm: LLM) -> Parts:
    """Return the older memory, which is sized from the window and is the default of agents."""
    return Parts(memory=ChatMemoryBuffer.from_defaults(llm=llm))


def ours(llm: LLM) -> Parts:
    """Return the two parts that share one planner."""
    from llamaindex_ctxopt import EngineOptimizer

    optimizer = EngineOptimizer(llm=llm)
    return Parts(memory=optimizer.memory(), postprocessors=(optimizer.postprocessor(),))


def ours_attached(llm: LLM) -> Parts:
    """Return the same, told of the engine's own prompts."""
    from llamaindex_ctxopt import EngineOptimizer

    optimizer = EngineOptimizer(llm=llm)
    return Parts(memory=optimizer.memory(), postprocessors=(optimizer.postprocessor(),), attach=optimizer.attach)


PARTS: dict[Kind, Callable[[LLM], Parts]] = {
    "Memory": default_memory,
    "ChatMemoryBuffer": memory_buffer,
    "ours": ours,
    "ours, attached": ours_attached,
}


def attached_with_own_memory(optimizer: Any, engine: Any) -> Any:
    """Attach an engine whose memory is first put into one of the optimizer."""
    if hasattr(engine, "_memory"):
        engine._memory = optimizer.memory(engine._memory)
    return optimizer.attach(engine)
