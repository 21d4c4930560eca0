"""A memory that is a list of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.memory import BaseMemory


class MessageListMemory(BaseMemory):
    """Keeps every message, in the process: the default inner memory of a `ContextOptimizerMemory`.

    LlamaIndex's simplest memory sets a tokenizer for the whole process to count with, and cannot be stored with every
    release of pydantic.
    """

    _messages: list[ChatMessage] = PrivateAttr(default_factory=list)

    @classmethod
    def class_name(cls) -> str:
        """Return the name by which LlamaIndex stores it."""
        return "MessageListMemory"

    @classmethod
    def from_defaults(cls, chat_history: list[ChatMessage] | None = None, **kwargs: Any) -> MessageListMemory:
        """Return a memory with these messages.

        Raises:
            TypeError: There is any other argument.
        """
        if kwargs:
            message = f"MessageListMemory takes `chat_history` alone, got {', '.join(sorted(kwargs))}"
            raise TypeError(message)
        memory = cls()
        memory.set(chat_history or [])
        return memory

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """Return all messages."""
        return self.get_all()

    def get_all(self) -> list[ChatMessage]:
        """Return all messages."""
        return list(self._messages)

    def put(self, message: ChatMessage) -> None:
        """Add a message."""
        self._messages.append(message)

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace all messages by these."""
        self._messages = list(messages)

    def reset(self) -> None:
        """Forget all messages."""
        self._messages = []

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the messages, ready for JSON."""
        return {
            "class_name": self.class_name(),
            "messages": [message.model_dump(mode="json") for message in self._messages],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], **kwargs: Any) -> MessageListMemory:
        """Return the memory that `to_dict` described."""
        return cls.from_defaults(chat_history=[ChatMessage.model_validate(message) for message in data["messages"]])
