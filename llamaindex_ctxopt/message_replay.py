"""Replay a conversation of LlamaIndex messages with several settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM

from ctxopt_core import ContextRequest, Replay, ReplayArguments
from ctxopt_core import replay as replay_request
from ctxopt_core.adapters import BudgetSettings
from llamaindex_ctxopt.messages.message_views import LlamaIndexMessages
from llamaindex_ctxopt.models.model_settings import optional_settings


def replay(
    conversation: Sequence[ChatMessage],
    strategies: Any,
    llm: LLM | str | None = None,
    **arguments: Unpack[ReplayArguments],
) -> Replay:
    """Return what a conversation of LlamaIndex messages costs, request by request, with several settings.

    Nothing is sent. It is `ctxopt_core.replay` for the messages of LlamaIndex, for example `memory.get_all()`.

    Example:
        >>> from llama_index.core.llms import ChatMessage
        >>> from llamaindex_ctxopt import replay
        >>> chat = [
        ...     ChatMessage(role=role, content=text)
        ...     for n in range(40)
        ...     for role, text in (("user", f"Is lamp {n} lit?"), ("assistant", "Yes, and it burns well. " * 9))
        ... ]
        >>> found = replay(chat, ["turns", {"stable_prefix": True}], budget=1_000)
        >>> found.recommended.strategy
        'auto(stable_prefix=True)'

    Args:
        conversation: The whole conversation, oldest message first.
        strategies: History settings, as `ctxopt_core.replay` takes them.
        llm: A LlamaIndex LLM, or the name of a model.
        arguments: What else `ctxopt_core.replay` takes, by name: `budget`, `evidence`, `counter`, `prices`, `margin`,
            `progress`.

    Raises:
        ValueError: A setting is out of its range, neither `llm` nor `budget` is given, or there is no user message.
        TypeError: An argument has a type that it cannot have.
    """
    info = optional_settings(llm)
    schemas = () if info is None else info.schemas
    request = ContextRequest(history=LlamaIndexMessages(conversation), tools=schemas)
    if info is None:
        return replay_request(request, strategies, **arguments)
    of_model = BudgetSettings().model_budget(info).budget
    if arguments.get("budget") is None:
        arguments["budget"] = of_model
    return replay_request(request, strategies, of_model.window, **arguments)
