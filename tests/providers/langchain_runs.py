"""Conversations sent through LangChain's clients: whole, fitted by the optimizer, and trimmed by others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from broken_rule import Request
from conversations import Conversation
from ctxopt_core import ContextBudgetError
from langchain_chats import langchain_messages
from langchain_clients import ANSWER, CLIENTS, look_up
from langchain_ctxopt import with_optimizer
from outcomes import STRATEGIES, Outcome, outcome_of
from provider_server import Endpoint, ProviderServer

MODES = ("invoke", "ainvoke", "stream", "astream")
SMALLEST_INPUT = 120  # tokens; with less hardly any question fits


@dataclass(slots=True, kw_only=True)
class LangChainRun:
    """One client with its endpoint; the loop is for its asynchronous half."""

    provider: str
    endpoint: Endpoint
    model: BaseChatModel
    loop: asyncio.Runner

    @classmethod
    def of(cls, server: ProviderServer, provider: str, loop: asyncio.Runner) -> LangChainRun:
        """Open an endpoint for a provider and make its client."""
        endpoint = server.endpoint(provider)
        return cls(provider=provider, endpoint=endpoint, model=CLIENTS[provider](endpoint), loop=loop)

    def uncut(self, conversation: Conversation) -> Request:
        """Send the whole conversation and return what arrived; a refusal of it is an error of the test."""
        self.endpoint.start()
        self._tooled(self.model, conversation).invoke(langchain_messages(conversation))
        assert self.endpoint.broken == []
        return self.endpoint.requests[-1]

    def fitted(self, conversation: Conversation, issued: Request, *, strategy: str, share: float, mode: str) -> Outcome:
        """Send the conversation fitted into a part of the tokens that it has."""
        room = self.room(issued, share)
        model = self._tooled(self.optimized(room, history=STRATEGIES[strategy]), conversation)
        return self.sent(conversation, issued, room, lambda: self._call(model, conversation, mode))

    def room(self, issued: Request, share: float) -> int:
        """Return the tokens that the input may have, by the provider's count."""
        return max(SMALLEST_INPUT, round(self.endpoint.provider.tokens(issued) * share))

    def optimized(self, room: int, **settings: Any) -> BaseChatModel:
        """Return the client optimized for a window that has this room for the input."""
        model = self.model
        if self.provider == "ollama":
            model = model.model_copy(update={"num_ctx": room + ANSWER})
            return with_optimizer(model, **settings)
        if self.provider == "google":
            return with_optimizer(model, max_input_tokens=room, **settings)
        return with_optimizer(model, context_window=room + ANSWER, **settings)

    def sent(self, conversation: Conversation, issued: Request, room: int, send: Callable[[], object]) -> Outcome:
        """Send something to an endpoint with a window that has this room for the input."""
        window = room if self.provider == "google" else room + ANSWER
        self.endpoint.start(window=window, issued=issued)
        try:
            send()
        except ContextBudgetError as error:
            return outcome_of(self.endpoint, conversation, issued=issued, overflow=True, error=error)
        except Exception as error:  # noqa: BLE001 - each client has errors of its own, and any of them is an outcome
            return outcome_of(self.endpoint, conversation, issued=issued, overflow=False, error=error)
        return outcome_of(self.endpoint, conversation, issued=issued, overflow=False, error=None)

    def plain(self, conversation: Conversation, messages: Sequence[BaseMessage]) -> object:
        """Send messages as they are."""
        return self._tooled(self.model, conversation).invoke(list(messages))

    def _tooled(self, model: BaseChatModel, conversation: Conversation) -> Any:
        thinks = self.provider == "anthropic" and conversation.thinking
        more = {"thinking": {"type": "enabled", "budget_tokens": ANSWER // 2}} if thinks else {}
        return model.bind_tools([look_up], **more)

    def _call(self, model: Any, conversation: Conversation, mode: str) -> object:
        messages = langchain_messages(conversation)
        if mode == "invoke":
            return model.invoke(messages)
        if mode == "ainvoke":
            return self.loop.run(model.ainvoke(messages))
        if mode == "stream":
            return list(model.stream(messages))
        return self.loop.run(_streamed(model, messages))


async def _streamed(model: Any, messages: list[BaseMessage]) -> list[Any]:
    return [chunk async for chunk in model.astream(messages)]
