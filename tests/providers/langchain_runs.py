"""Conversations sent through LangChain's clients: whole, fitted by the optimizer, and as others trimmed them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from broken_rule import Request
from client_run import ANSWER, ClientRun
from conversations import Conversation
from langchain_clients import CLIENTS, look_up
from langchain_conversations import langchain_messages
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from outcomes import STRATEGIES, Outcome
from provider_server import ProviderServer

from langchain_ctxopt import with_optimizer

MODES = ("invoke", "ainvoke", "stream", "astream")


@dataclass(slots=True, kw_only=True)
class LangChainRun(ClientRun):
    """One client of LangChain."""

    model: BaseChatModel

    @classmethod
    def of(cls, server: ProviderServer, provider: str, loop: asyncio.Runner) -> LangChainRun:
        """Open an endpoint for a provider and make its client."""
        endpoint = server.endpoint(provider)
        return cls(provider=provider, endpoint=endpoint, model=CLIENTS[provider](endpoint), loop=loop)

    def uncut(self, conversation: Conversation) -> Request:
        """Send the whole conversation and return what arrived; a refusal of it is an error of the test."""
        self.endpoint.start()
        self.plain(conversation, langchain_messages(conversation))
        assert self.endpoint.broken == []
        return self.endpoint.requests[-1]

    def fitted(self, conversation: Conversation, issued: Request, *, strategy: str, share: float, mode: str) -> Outcome:
        """Send the conversation fitted into a part of the tokens that it has."""
        room = self.room(issued, share)
        model = self.with_tools(self.optimized(room, history=STRATEGIES[strategy]), conversation)
        messages = langchain_messages(conversation)
        return self.sent(conversation, issued, room, lambda: self._call(model, messages, mode))

    def optimized(self, room: int, **settings: Any) -> Any:
        """Return the client optimized for a window that has this room for the input."""
        if self.provider == "ollama":
            return with_optimizer(self.model.model_copy(update={"num_ctx": room + ANSWER}), **settings)
        if self.provider == "google":
            return with_optimizer(self.model, max_input_tokens=room, **settings)
        return with_optimizer(self.model, context_window=room + ANSWER, **settings)

    def plain(self, conversation: Conversation, messages: Sequence[BaseMessage]) -> object:
        """Send messages as they are."""
        return self.with_tools(self.model, conversation).invoke(list(messages))

    def with_tools(self, model: BaseChatModel, conversation: Conversation) -> Any:
        """Return the model with the tool that the conversation calls, and with thinking on if it thinks."""
        thinks = self.provider == "anthropic" and conversation.thinking
        more = {"thinking": {"type": "enabled", "budget_tokens": ANSWER // 2}} if thinks else {}
        return model.bind_tools([look_up], **more)

    def _call(self, model: Any, messages: list[BaseMessage], mode: str) -> object:
        if mode == "invoke":
            return model.invoke(messages)
        if mode == "ainvoke":
            return self.loop.run(model.ainvoke(messages))
        if mode == "stream":
            return list(model.stream(messages))
        return self.loop.run(_streamed(model, messages))


async def _streamed(model: Any, messages: list[BaseMessage]) -> list[Any]:
    return [chunk async for chunk in model.astream(messages)]
