"""LlamaIndex messages as views that the core can count and cut.

A view is read from its original and never replaces it: whatever is kept whole leaves as the identical object, and what
is shortened leaves as a copy with the same role, calls and additional arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from ctxopt_core import Message, Trimming
from ctxopt_core.adapters import (
    SYSTEM_ROLES,
    TOOL_ROLES,
    Content,
    LazyMessages,
    Shortened,
    extra_texts,
    is_placeholder_message,
    kept_items,
    thinks_beside_content,
)
from llamaindex_ctxopt.messages.blocks import put_blocks_together, take_apart_blocks
from llamaindex_ctxopt.messages.legacy_tool_calls import MessageCalls, calls_of_message, with_shorter_calls
from llamaindex_ctxopt.messages.react_steps import (
    ACTION_LABEL,
    OBSERVATION_LABEL,
    ReactStep,
    action_in,
    looks_like_observation,
    observation_in,
)

_ASSISTANTS = frozenset({"chatbot", "model"})
_USER, _ASSISTANT, _SYSTEM = MessageRole.USER, MessageRole.ASSISTANT, MessageRole.SYSTEM


def copied(message: ChatMessage) -> ChatMessage:
    """Return a copy of a message with texts and arguments of its own.

    Agents write their state into the text block of the last message that a memory returns.
    """
    blocks = [block.model_copy() if isinstance(block, TextBlock) else block for block in message.blocks]
    return message.model_copy(update={"blocks": blocks, "additional_kwargs": dict(message.additional_kwargs)})


class LlamaIndexMessages(LazyMessages[ChatMessage]):
    """Lazy views of a list of messages. The steps of a ReAct agent are seen as calls and results.

    Args:
        messages: The messages as the caller gave them.
    """

    __slots__ = ()

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        super().__init__(messages, view_of, _plain, role_of)

    def __getitem__(self, index: int) -> Message:
        view = self._by_itself(index)
        step = self._step(index, view)
        return view if step is None else step.view(view)

    def system_indices(self, start: int, stop: int) -> Sequence[int]:
        """Return the indices of system and developer messages in [start, stop).

        Raises:
            TypeError: An item is no ChatMessage.
        """
        return [i for i in range(start, stop) if role_of(_checked(self.items[i], i)) in SYSTEM_ROLES]

    def shortened(self, index: int, cut: Shortened) -> ChatMessage:
        """Return a copy of message `index` with the texts and arguments of `cut`, which was made of its view."""
        message = self.items[index]
        step = self._step(index, self._by_itself(index))
        return shortened_message(message, cut) if step is None else _copy(message, [step.joined(cut.texts[0])], cut)

    def _by_itself(self, index: int) -> Message:
        """Return the view of a message, whatever its neighbors are."""
        return view_of(_checked(self.items[index], index))

    def _step(self, index: int, view: Message) -> ReactStep | None:
        """Return a message as one half of a ReAct agent's step; None where it is not one."""
        if view.role == "assistant":
            at_end = index + 1 == len(self.items)
            action = action_in(view, at_end=at_end)
            is_answered = action is not None and not at_end and looks_like_observation(self._by_itself(index + 1))
            return action if at_end or is_answered else None
        observation = observation_in(view)
        if observation is None or index == 0 or action_in(self._by_itself(index - 1), at_end=False) is None:
            return None
        return observation


class PrintedMessages(LlamaIndexMessages):
    """Views that count the additional arguments of a message, too.

    A prompt that condenses the history holds them as Python prints a mapping.
    """

    __slots__ = ()

    def _by_itself(self, index: int) -> Message:
        view, extra = super()._by_itself(index), self.items[index].additional_kwargs
        return replace(view, verbatim=(*view.verbatim, str(extra))) if extra else view


def view_of(message: ChatMessage) -> Message:
    """Return the view of one message by itself.

    Raises:
        TypeError: One of its blocks is no content block.
    """
    role = role_of(message)
    content = take_apart_blocks(message.blocks)
    extra = message.additional_kwargs
    calls = _calls_of(content, extra).calls
    verbatim = extra_texts(extra)
    if role != "assistant":
        # No other role calls tools: the calls are sent as text.
        verbatim += tuple(text for call in calls for text in (call.id or "", call.name, call.arguments) if text)
        calls = ()
    view = replace(content, calls=()).message(
        role,
        calls=calls,
        beside=verbatim,
        sealed_beside=extra,
        name=_text_or_none(extra.get("name")),
        tool_call_id=_text_or_none(extra.get("tool_call_id")) if role in TOOL_ROLES else None,
        synthetic=is_placeholder_message(role, content.texts),
    )
    return replace(view, content=content.texts[0]) if len(content.texts) == 1 and content.texts[0] else view


def role_of(message: ChatMessage) -> str:
    """Return the role of a message; other names of the assistant are taken for it."""
    role = message.role
    name = role.value if isinstance(role, MessageRole) else str(role)
    return "assistant" if name in _ASSISTANTS else name


def shortened_message(message: ChatMessage, cut: Shortened) -> ChatMessage:
    """Return a copy of a message with the shorter texts and arguments of `cut`; everything else is as it was.

    Args:
        message: The message; neither it nor its blocks are changed.
        cut: What is left of its view, as `view_of` returns it; `LlamaIndexMessages.shortened` handles the steps of an
            agent.
    """
    return _copy(message, cut.texts, cut)


def placeholder_message(text: str, role: str = "assistant") -> ChatMessage:
    """Return the placeholder, which says how much was left out.

    It is recognized by its text alone: LlamaIndex prints additional arguments into some of its prompts.
    """
    return ChatMessage(role=MessageRole(role), content=text)


def kept_messages(messages: Sequence[ChatMessage], trimming: Trimming) -> list[ChatMessage]:
    """Return the kept messages: originals, copies where shortened, and the placeholder where there is one.

    Args:
        messages: The messages whose `LlamaIndexMessages` were trimmed.
        trimming: What is kept of them.
    """
    return kept_items(
        messages,
        trimming,
        shortened=LlamaIndexMessages(messages).shortened,
        added=lambda message: placeholder_message(message.text, message.role),
    )


def _copy(message: ChatMessage, texts: Sequence[str], cut: Shortened) -> ChatMessage:
    extra = dict(message.additional_kwargs)
    if cut.attachments_omitted:
        # A message that is read again from its fields would take its images from there.
        extra.pop("images", None)
    if cut.arguments:
        extra = with_shorter_calls(extra, _calls_of(take_apart_blocks(message.blocks), extra), cut.arguments)
    blocks = put_blocks_together(message.blocks, texts, cut)
    return message.model_copy(update={"blocks": blocks, "additional_kwargs": extra})


def _calls_of(content: Content, extra: Mapping[str, Any]) -> MessageCalls:
    return calls_of_message(content.calls, extra, fixed=content.thinks or thinks_beside_content(extra))


def _plain(message: ChatMessage) -> tuple[str, str] | None:
    """Return (role, text) of a message that has nothing else and cannot be half of a step, whatever is beside it."""
    if type(message) is not ChatMessage:
        return None
    fields = message.__dict__
    blocks = fields["blocks"]
    if len(blocks) != 1 or fields["additional_kwargs"]:
        return None
    block = blocks[0]
    if type(block) is not TextBlock:
        return None
    text: str = block.text
    role = fields["role"]
    # An enumeration hashes slowly: a look-up of the role would be most of what a scan costs.
    if role is _USER:
        return None if text[:1] == "[" or text.startswith(OBSERVATION_LABEL) else ("user", text)
    if role is _ASSISTANT:
        return None if text[:1] == "[" or ACTION_LABEL in text else ("assistant", text)
    return ("system", text) if role is _SYSTEM else None


def _checked(message: Any, index: int) -> ChatMessage:
    if not isinstance(message, ChatMessage):
        kind = type(message).__name__
        error = f"item {index} of the messages must be a ChatMessage, got {kind}; wrap it as ChatMessage(role, content)"
        raise TypeError(error)
    return message


def _text_or_none(value: object) -> str | None:
    return str(value) if value else None
