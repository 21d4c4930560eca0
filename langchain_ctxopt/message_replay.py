"""Replay a conversation of LangChain messages with several settings."""

from __future__ import annotations

from typing import Any, Unpack

from ctxopt_core import Replay, ReplayArguments
from ctxopt_core import replay as replay_request
from ctxopt_core.adapters import BudgetSettings
from langchain_ctxopt.message_input import MessageInput
from langchain_ctxopt.model_settings import optional_settings


def replay(conversation: Any, strategies: Any, model: Any = None, **arguments: Unpack[ReplayArguments]) -> Replay:
    """Return what a conversation of LangChain messages costs, request by request, with several settings.

    Nothing is sent. It is `ctxopt_core.replay` for what a chat model of LangChain takes; tools that are bound to the
    model are counted.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> from langchain_ctxopt import replay
        >>> chat = [
        ...     message
        ...     for n in range(40)
        ...     for message in (HumanMessage(f"Is lamp {n} lit?"), AIMessage("Yes, and it burns well. " * 9))
        ... ]
        >>> found = replay(chat, ["turns", {"stable_prefix": True}], budget=1_000)
        >>> found.recommended.strategy
        'auto(stable_prefix=True)'

    Args:
        conversation: The whole conversation: messages, or anything else that a chat model takes.
        strategies: History settings, as `ctxopt_core.replay` takes them.
        model: A chat model, also one with bound tools, or the name of a model.
        arguments: What else `ctxopt_core.replay` takes, by name: `budget`, `evidence`, `counter`, `prices`, `margin`,
            `progress`.

    Raises:
        ValueError: A setting is out of its range, neither `model` nor `budget` is given, or there is no user message.
        TypeError: An argument has a type that it cannot have.
    """
    info = optional_settings(model)
    request = MessageInput.of(conversation).request(() if info is None else info.schemas)
    if info is None:
        return replay_request(request, strategies, **arguments)
    of_model = BudgetSettings().model_budget(info).budget
    if arguments.get("budget") is None:
        arguments["budget"] = of_model
    return replay_request(request, strategies, of_model.window, **arguments)
