"""Anthropic-shaped message mappings as messages, and back with shortened texts.

Calls are `tool_use` blocks of an assistant message; their results are `tool_result` blocks that open the user message
behind it, before whatever the user says next. The system prompt is an argument of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxopt_core.formats.content_parts import text_of
from ctxopt_core.formats.openai_messages import (
    OpenAIMessages,
    message_from_openai,
    placeholder_openai,
    role_of,
    shortened_openai,
)
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.messages.message import Message

_SPEAKERS = frozenset({"user", "assistant"})


def message_from_anthropic(mapping: Mapping[str, Any]) -> Message:
    """Return the view of one Anthropic-shaped message. Its images are charged by the rules of Claude.

    Raises:
        TypeError: It is not a mapping with a text `role`, or its content is of no known shape.
    """
    message = message_from_openai(mapping)
    if not message.attachments:
        return message
    attachments = tuple(replace(attachment, provider="anthropic") for attachment in message.attachments)
    return replace(message, attachments=attachments)


def fitted_anthropic(rows: Sequence[Mapping[str, Any]], trimming: Trimming) -> list[Mapping[str, Any]]:
    """Return the Anthropic-shaped messages that a trimming keeps: originals, copies where shortened, the placeholder.

    Messages of one role that the trimming makes neighbors become one message, as the API itself would read them.

    Args:
        rows: The messages that were given.
        trimming: What is kept of them.
    """
    found: list[Mapping[str, Any]] = []
    before = -1
    for index in trimming.kept:
        cut = trimming.shortened.get(index)
        row = rows[index] if cut is None else shortened_openai(rows[index], cut)
        if found and before != index - 1 and _are_of_one_speaker(found[-1], row):
            found[-1] = _joined(found[-1], row)
        else:
            found.append(row)
        before = index
        if trimming.placeholder is not None and index == trimming.placeholder_after:
            found.append(placeholder_openai(trimming.placeholder))
            before = -1
    return found


def anthropic_system_texts(system: str | Sequence[Mapping[str, Any]] | None) -> tuple[str, ...]:
    """Return the texts of the `system` argument, one for each block: what `ContextRequest.system` wants.

    Raises:
        TypeError: It is neither a text, nor a list of text blocks, nor None.
    """
    if system is None or system == "":
        return ()
    if isinstance(system, str):
        return (system,)
    if not isinstance(system, Sequence) or not all(isinstance(block, (str, Mapping)) for block in system):
        message = f"`system` must be a text, a list of text blocks or None, got {type(system).__name__}"
        raise TypeError(message)
    return tuple(map(text_of, system))


def fitted_anthropic_system(
    system: str | Sequence[Mapping[str, Any]] | None, texts: Sequence[str]
) -> str | Sequence[Mapping[str, Any]] | None:
    """Return the `system` argument with the texts that are left of it: the very object where nothing was cut.

    Args:
        system: The argument that was given.
        texts: One text for each of its blocks, as `FittedContext.system` has them. A block of which nothing is left
            goes; any other keeps its `cache_control`.
    """
    if tuple(texts) == anthropic_system_texts(system) or system is None:
        return system
    if isinstance(system, str):
        return "".join(texts)
    if not texts:
        return []
    return [
        block if text == text_of(block) else {**block, "text": text}
        for block, text in zip(system, texts, strict=True)
        if text
    ]


class AnthropicMessages(OpenAIMessages):
    """Lazy views of Anthropic-shaped messages."""

    __slots__ = ()

    def __getitem__(self, index: int) -> Message:
        return message_from_anthropic(self._mappings[index])


def _are_of_one_speaker(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    role = role_of(first)
    return role in _SPEAKERS and role == role_of(second)


def _joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    return {**first, "content": [*_blocks(first), *_blocks(second)]}


def _blocks(row: Mapping[str, Any]) -> list[Any]:
    content = row.get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
