"""Messages in any kind that a chat model takes, the same kind with what fits, and what a conversation of them costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import ChatPromptValue, PromptValue, StringPromptValue

from ctxopt_core import ContextBudgetError, ContextRequest, FittedContext, Replay, ReplayArguments, Trimming
from ctxopt_core import replay as replay_request
from ctxopt_core.adapters import BudgetSettings, kept_items
from langchain_ctxopt.message_views import LangChainMessages, placeholder_item, shortened_item
from langchain_ctxopt.model_settings import optional_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageInput:
    """An input that is not a dict.

    Args:
        given: The input as the caller gave it.
        messages: Its messages.
    """

    given: Any
    messages: Sequence[Any]

    @classmethod
    def of(cls, given: Any) -> MessageInput:
        """Find the messages of an input.

        Raises:
            TypeError: It is nothing that a chat model takes.
        """
        return cls(given=given, messages=_messages_of(given))

    def request(self, schemas: Sequence[Mapping[str, Any] | str]) -> ContextRequest:
        """Return the request that the messages and the model's tools make."""
        return ContextRequest(history=LangChainMessages(self.messages), tools=tuple(schemas))

    def output(self, fitted: FittedContext) -> Any:
        """Return what fits in the kind of the input; the identical object where nothing had to change.

        Raises:
            ContextBudgetError: Nothing was kept, and an input without messages is no input for a model.
        """
        given = self.given
        if fitted.unchanged:
            return given
        kept = kept_messages(self.messages, fitted.history)
        if not kept:
            message = (
                "nothing of the input fits: not one message has room; use a larger context window or a shorter input"
            )
            raise ContextBudgetError(message)
        if isinstance(given, (str, BaseMessage)):
            return kept[0]
        if isinstance(given, StringPromptValue):
            return StringPromptValue(text=kept[0])
        if isinstance(given, ChatPromptValue):
            return given.model_copy(update={"messages": kept})
        if isinstance(given, PromptValue):
            return ChatPromptValue(messages=kept)
        return tuple(kept) if isinstance(given, tuple) else kept


def kept_messages(originals: Sequence[Any], trimming: Trimming) -> list[Any]:
    """Return the kept messages: originals, copies where shortened, and the placeholder where there is one."""
    return kept_items(
        originals,
        trimming,
        shortened=lambda index, cut: shortened_item(originals[index], cut),
        added=lambda message: placeholder_item(message.text, message.role, originals[message.beside]),
    )


def _messages_of(given: Any) -> Sequence[Any]:
    if isinstance(given, (str, BaseMessage)):
        return [given]
    if isinstance(given, StringPromptValue):
        return [given.text]
    if isinstance(given, ChatPromptValue):
        return given.messages
    if isinstance(given, PromptValue):
        return given.to_messages()
    if isinstance(given, Sequence) and not isinstance(given, bytes):
        return given
    kind = type(given).__name__
    message = f"the input must be a dict for the prompt, a PromptValue, a list of messages or a string, got {kind}"
    raise TypeError(message)


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
