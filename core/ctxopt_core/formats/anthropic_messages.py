"""Anthropic-shaped message mappings as `Message` views, and back with shorter texts.

Calls are `tool_use` blocks of an assistant message; their results are `tool_result` blocks that open the next user
message, before whatever the user says. The system prompt is a separate argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxopt_core.formats.openai_messages import (
    compacts_openai,
    message_from_openai,
    placeholder_openai,
    plain_openai,
    role_of,
    shortened_openai,
    stated_role,
)
from ctxopt_core.formats.part_kinds import text_of
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.messages.message import Message
from ctxopt_core.messages.message_views import LazyMessages

_SPEAKERS = frozenset({"user", "assistant"})


class AnthropicMessages(LazyMessages[Mapping[str, Any]]):
    """Lazy views of Anthropic-shaped messages, oldest first."""

    __slots__ = ()

    def __init__(self, mappings: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(mappings, message_from_anthropic, plain_openai, stated_role, compacts_openai)


def message_from_anthropic(mapping: Mapping[str, Any]) -> Message:
    """Return the view of one Anthropic-shaped message. Its images are charged by the rules of Claude.

    Raises:
        TypeError: It is not a mapping with a string as its `role`, or its content is of no known shape.
    """
    message = message_from_openai(mapping)
    if not message.attachments:
        return message
    attachments = tuple(replace(attachment, provider="anthropic") for attachment in message.attachments)
    return replace(message, attachments=attachments)


# The two APIs agree in all that a copy or a placeholder needs.
shortened_anthropic = shortened_openai
placeholder_anthropic = placeholder_openai


def fitted_anthropic(mappings: Sequence[Mapping[str, Any]], trimming: Trimming) -> list[Mapping[str, Any]]:
    """Return the Anthropic-shaped messages that a trimming keeps: originals, copies where shortened, the placeholder.

    Messages of one role that the trimming makes neighbors become one message, as the API itself would read them.
    """
    found: list[Mapping[str, Any]] = []
    before = -1

    def add(mapping: Mapping[str, Any]) -> None:
        if role_of(mapping) in _SPEAKERS and role_of(found[-1]) == role_of(mapping):
            found[-1] = {**found[-1], "content": [*_blocks(found[-1]), *_blocks(mapping)]}
        else:
            found.append(mapping)

    befores = {message.beside: message for message in trimming.added if message.before}
    afters = {message.beside: message for message in trimming.added if not message.before}
    for index in trimming.kept:
        if index in befores:
            add(placeholder_anthropic(befores[index].text, befores[index].role))
            before = -1
        cut = trimming.shortened.get(index)
        mapping = mappings[index] if cut is None else shortened_anthropic(mappings[index], cut)
        if found and before != index - 1:
            add(mapping)
        else:
            found.append(mapping)
        before = index
        if index in afters:
            add(placeholder_anthropic(afters[index].text, afters[index].role))
            before = -1
    return found


def _blocks(mapping: Mapping[str, Any]) -> list[Any]:
    content = mapping.get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def anthropic_system_texts(system: str | Sequence[Mapping[str, Any]] | None) -> tuple[str, ...]:
    """Return the texts of the `system` argument, one for each block: what `ContextRequest.system` takes.

    Raises:
        TypeError: It is neither a string, nor a list of text blocks, nor None.
    """
    if system is None or system == "":
        return ()
    if isinstance(system, str):
        return (system,)
    if not isinstance(system, Sequence) or not all(isinstance(block, (str, Mapping)) for block in system):
        message = f"`system` must be a string, a list of text blocks or None, got {type(system).__name__}"
        raise TypeError(message)
    return tuple(map(text_of, system))


def fitted_anthropic_system(
    system: str | Sequence[Mapping[str, Any]] | None, texts: Sequence[str]
) -> str | Sequence[Mapping[str, Any]] | None:
    """Return the `system` argument with the texts that are left of it: the very object where nothing was cut.

    `texts` has one text for each of its blocks, as `FittedContext.system` does. A block of which nothing is left goes;
    any other keeps its `cache_control`, so that the prompt cache still hits.
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
