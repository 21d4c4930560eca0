"""Conversations sent through LlamaIndex's clients, whole and fitted by the optimizer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from broken_rule import Request
from client_run import ANSWER, ClientRun
from conversations import Conversation
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llamaindex_clients import CLIENTS, TOOL
from llamaindex_conversations import llamaindex_messages
from outcomes import STRATEGIES, Outcome
from provider_server import ProviderServer

from llamaindex_ctxopt import with_optimizer

MODES = ("chat", "achat", "stream_chat", "astream_chat")


@dataclass(slots=True, kw_only=True)
class LlamaIndexRun(ClientRun):
    """One client of LlamaIndex."""

    llm: FunctionCallingLLM

    @classmethod
    def of(cls, server: ProviderServer, provider: str, loop: asyncio.Runner) -> LlamaIndexRun:
        """Open an endpoint for a provider and make its client."""
        endpoint = server.endpoint(provider)
        return cls(provider=provider, endpoint=endpoint, llm=CLIENTS[provider](endpoint), loop=loop)

    def uncut(self, conversation: Conversation) -> Request:
        """Send the whole conversation and return what arrived; a refusal of it is an error of the test."""
        self.endpoint.start()
        self._call(self.llm, conversation, "chat")
        assert self.endpoint.broken == []
        return self.endpoint.requests[-1]

    def fitted(self, conversation: Conversation, issued: Request, *, strategy: str, share: float, mode: str) -> Outcome:
        """Send the conversation fitted into a part of the tokens that it has."""
        room = self.room(issued, share)
        llm = self.optimized(room, history=STRATEGIES[strategy])
        return self.sent(conversation, issued, room, lambda: self._call(llm, conversation, mode))

    def optimized(self, room: int, **settings: Any) -> Any:
        """Return the client optimized for a window that has this room for the input."""
        if self.provider == "ollama":
            return with_optimizer(self.llm.model_copy(update={"context_window": room + ANSWER}), **settings)
        if self.provider == "google":
            return with_optimizer(self.llm, max_input_tokens=room, **settings)
        return with_optimizer(self.llm, context_window=room + ANSWER, **settings)

    def _call(self, llm: Any, conversation: Conversation, mode: str) -> object:
        thinks = self.provider == "anthropic" and conversation.thinking
        more = {"thinking": {"type": "enabled", "budget_tokens": ANSWER // 2}} if thinks else {}
        given = {"tools": [TOOL], "chat_history": llamaindex_messages(conversation), **more}
        if mode == "chat":
            return llm.chat_with_tools(**given)
        if mode == "achat":
            return self.loop.run(llm.achat_with_tools(**given))
        if mode == "stream_chat":
            return list(llm.stream_chat_with_tools(**given))
        return self.loop.run(_streamed(llm, given))


async def _streamed(llm: Any, given: dict[str, Any]) -> list[Any]:
    return [chunk async for chunk in await llm.astream_chat_with_tools(**given)]
