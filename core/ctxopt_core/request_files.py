"""Requests as they lie in files: the JSON that goes to OpenAI's or to Anthropic's chat API, or a bare text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ctxopt_core.anthropic_messages import AnthropicMessages, anthropic_system_texts
from ctxopt_core.model_settings import schemas_in
from ctxopt_core.openai_messages import OpenAIMessages
from ctxopt_core.request import ContextRequest

_ANTHROPIC_PARTS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})


def request_in(text: str) -> ContextRequest | None:
    """Return the request that a file holds; None where it holds a bare text.

    A list of messages, or a mapping with `messages` and whatever else goes with them (`system`, `tools`,
    `response_format`), is a request. Everything else is a text, JSON of another shape too.

    Raises:
        TypeError: It has messages, and one of them is of no known shape.
    """
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        content = json.loads(text)
    except ValueError:
        return None
    if isinstance(content, list):
        return _request(content, {}) if content and all(map(_is_message, content)) else None
    if isinstance(content, Mapping) and isinstance(content.get("messages"), list):
        return _request(content["messages"], content)
    return None


def _request(messages: Sequence[Mapping[str, Any]], beside: Mapping[str, Any]) -> ContextRequest:
    anthropic = "system" in beside or any(map(_has_anthropic_parts, messages))
    rows = AnthropicMessages(messages) if anthropic else OpenAIMessages(messages)
    for index in range(len(messages)):
        _ = rows[index]  # what is of no known shape is an error now
    system = anthropic_system_texts(beside.get("system")) if anthropic else ()
    return ContextRequest(system=system, history=rows, tools=tuple(schemas_in(beside)))


def _is_message(item: object) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get("role"), str)


def _has_anthropic_parts(message: object) -> bool:
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, list):
        return False
    return any(isinstance(part, Mapping) and part.get("type") in _ANTHROPIC_PARTS for part in content)
