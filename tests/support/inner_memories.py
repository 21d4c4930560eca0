"""The memories of LlamaIndex that can store the messages of ours, and one of an application's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from llama_index.core.async_utils import asyncio_run
from llama_index.core.bridge.pydantic import Field
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.memory import (
    BaseMemory,
    ChatMemoryBuffer,
    ChatSummaryMemoryBuffer,
    Memory,
    SimpleComposableMemory,
    StaticMemoryBlock,
    VectorMemory,
)
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from llamaindex_ctxopt.storage.message_list_memory import MessageListMemory

FACT = "The lamplighter lives in Quillmere."


class BufferWithFact(ChatMemoryBuffer):
    """A memory that LlamaIndex's own was made into, and that shows more than it stores."""

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        return [ChatMessage(role="system", content=FACT), *super().get(input, **kwargs)]


class Logbook(BaseMemory):
    """A memory of an application, which notes how it was asked."""

    pages: list[ChatMessage] = Field(default_factory=list)
    asked: list[Any] = Field(default_factory=list)

    @classmethod
    def from_defaults(cls, **kwargs: Any) -> Self:
        return cls(**kwargs)

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        self.asked.append((input, kwargs))
        return list(self.pages)

    def get_all(self) -> list[ChatMessage]:
        return list(self.pages)

    def put(self, message: ChatMessage) -> None:
        self.pages.append(message)

    def set(self, messages: list[ChatMessage]) -> None:
        self.pages = list(messages)

    def reset(self) -> None:
        self.pages = []

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        return {"pages": [page.model_dump(mode="json") for page in self.pages]}

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> Self:
        return cls(pages=[ChatMessage.model_validate(page) for page in data["pages"]])


def _vector_memory() -> VectorMemory:
    return VectorMemory.from_defaults(embed_model=MockEmbedding(embed_dim=4), retriever_kwargs={"similarity_top_k": 9})


_WITHOUT_DATABASE: dict[str, Callable[[], BaseMemory]] = {
    "MessageListMemory": MessageListMemory,
    "ChatMemoryBuffer": lambda: ChatMemoryBuffer.from_defaults(token_limit=200),
    "ChatSummaryMemoryBuffer": lambda: ChatSummaryMemoryBuffer.from_defaults(llm=MockLLM(), token_limit=200),
    "VectorMemory": _vector_memory,
    "SimpleComposableMemory": lambda: SimpleComposableMemory.from_defaults(
        primary_memory=MessageListMemory(), secondary_memory_sources=[_vector_memory()]
    ),
    "Logbook": Logbook,
}
_BLOCKS: dict[str, Callable[[], list[Any]]] = {
    "Memory": list,
    "Memory with a block": lambda: [StaticMemoryBlock(name="facts", static_content=FACT)],
}
INNER_MEMORIES = (*_WITHOUT_DATABASE, *_BLOCKS)
LISTING = tuple(kind for kind in INNER_MEMORIES if kind != "VectorMemory")
"""Those that can list what they store; a `VectorMemory` only finds."""


@contextmanager
def inner_memory(kind: str) -> Iterator[BaseMemory]:
    """Make a memory, and close its database in the end, which would complain of being forgotten."""
    if kind in _WITHOUT_DATABASE:
        yield _WITHOUT_DATABASE[kind]()
        return
    with database() as engine:
        yield Memory.from_defaults(token_limit=100_000, memory_blocks=_BLOCKS[kind](), async_engine=engine)


@contextmanager
def database() -> Iterator[AsyncEngine]:
    """Open a database in the process and close it."""
    engine = create_async_engine("sqlite+aiosqlite:///:memory:")
    try:
        yield engine
    finally:
        asyncio_run(engine.dispose())
