"""Requests as they lie in files: JSON for OpenAI's or Anthropic's chat API, or with documents and a query beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ctxopt_core.anthropic_messages import AnthropicMessages, anthropic_system_texts
from ctxopt_core.model_settings import (
    ANSWER_LIMITS,
    NAME_ARGUMENTS,
    ModelSettings,
    first_name,
    first_tokens,
    schemas_in,
)
from ctxopt_core.openai_messages import OpenAIMessages
from ctxopt_core.request import ContextRequest, Document

Shape = Literal["openai", "anthropic"]

EXPECTED = (
    "a request is a list of messages, or an object with `messages` or `documents`, also inside the `body` or `params` "
    "of a batch line"
)
_ENVELOPES = ("body", "params")
_ANTHROPIC_PARTS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
_OPENAI_ROLES = frozenset({"system", "developer", "tool", "function"})
_SPEAKERS = ("user", "assistant")
_PLAIN_KEYS = 2
_OPENAI_KEYS = frozenset({"tool_calls", "function_call"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """A request as it lies in a file.

    Args:
        content: The JSON value that the file holds.
        envelope: The key of `content` under which the request lies, as in the lines of batch APIs; None where
            `content` is the request.
        messages: The message mappings; None where there are none beside documents.
        shape: Whose messages they are.
        request: What is fitted.
    """

    content: Any
    envelope: str | None = None
    messages: Sequence[Mapping[str, Any]] | None = None
    shape: Shape = "openai"
    request: ContextRequest

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What lies beside the messages; nothing for a bare list of them."""
        if isinstance(self.content, list):
            return {}
        inside: Mapping[str, Any] = self.content if self.envelope is None else self.content[self.envelope]
        return inside

    @property
    def settings(self) -> ModelSettings:
        """The model that the request names, and the longest answer that it asks for."""
        arguments = self.arguments
        return ModelSettings(
            kind="the request",
            name=first_name(arguments.get(name) for name in NAME_ARGUMENTS),
            answer_tokens=first_tokens(arguments.get(name) for name in ANSWER_LIMITS),
        )


def parsed(text: str) -> Any:
    """Return the value that a JSON text stands for; a byte order mark before it is passed over.

    Raises:
        ValueError: It is not JSON, is nested too deeply, or holds a number that is too large for a reader of JSON.
    """
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_float=_finite)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error}"
        raise ValueError(message) from error
    except RecursionError as error:
        message = "the JSON is nested too deeply to be read"
        raise ValueError(message) from error
    except ValueError as error:
        message = "the JSON holds a number that is too large for other readers of JSON"
        raise ValueError(message) from error


def stored_request(content: Any) -> StoredRequest | None:
    """Return the request that a JSON value holds; None where it holds none.

    It is a list of messages, or an object with `messages` or `documents` and whatever else goes with them: `query`,
    `system`, `tools`, `response_format`. In the lines of batch APIs it lies under `body` or `params`.

    Raises:
        TypeError: A message, a document, the query or the system prompt is of no known shape.
        ValueError: The same, of a value.
    """
    if isinstance(content, list):
        if not content or not all(map(_is_message, content)):
            return None
        return _stored(content, None, content, {})
    if not isinstance(content, Mapping):
        return None
    for envelope in (None, *_ENVELOPES):
        inside = content if envelope is None else content.get(envelope)
        if isinstance(inside, Mapping) and any(isinstance(inside.get(key), list) for key in ("messages", "documents")):
            return _stored(content, envelope, inside.get("messages"), inside)
    return None


def read_request(text: str) -> StoredRequest:
    """Return the request that a JSON text holds.

    Raises:
        TypeError: A part of it is of no known shape.
        ValueError: The text is not JSON, or no request.
    """
    stored = stored_request(parsed(text))
    if stored is None:
        raise ValueError(EXPECTED)
    return stored


def request_in(text: str) -> StoredRequest | None:
    """Return the request that a file holds; None where it holds a bare text. JSON of another shape is a text, too.

    Raises:
        TypeError: It has messages or documents, and one of them is of no known shape.
    """
    if not text.removeprefix("\ufeff").lstrip().startswith(("{", "[")):
        return None
    try:
        content = parsed(text)
    except ValueError:
        return None
    return stored_request(content)


def _stored(content: Any, envelope: str | None, messages: Any, beside: Mapping[str, Any]) -> StoredRequest:
    if messages is not None and not isinstance(messages, list):
        message = f"`messages` must be a list, got {type(messages).__name__}"
        raise TypeError(message)
    rows = messages or ()
    others = [index for index, row in enumerate(rows) if not _is_plain(row)]
    shape = _shape_of([rows[index] for index in others], beside)
    views = AnthropicMessages(rows) if shape == "anthropic" else OpenAIMessages(rows)
    for index in others:
        _ = views[index]  # what is of no known shape is an error now
    return StoredRequest(
        content=content,
        envelope=envelope,
        messages=messages,
        shape=shape,
        request=ContextRequest(
            system=anthropic_system_texts(beside.get("system")),
            query=beside.get("query") or (),
            documents=_documents(beside.get("documents") or ()),
            history=views,
            tools=tuple(_tools(beside)),
        ),
    )


def _tools(beside: Mapping[str, Any]) -> Iterable[Any]:
    yield from schemas_in(beside)
    if beside.get("tools") and (choice := beside.get("tool_choice")) is not None:
        yield {"tool_choice": choice}


def _documents(given: object) -> tuple[Document, ...]:
    if not isinstance(given, list | tuple):
        message = f"`documents` must be a list, got {type(given).__name__}"
        raise TypeError(message)
    return tuple(_document(item, position) for position, item in enumerate(given))


def _document(item: object, position: int) -> Document:
    if isinstance(item, str):
        return Document(text=item)
    if not isinstance(item, Mapping) or "text" not in item:
        kind = "an object without `text`" if isinstance(item, Mapping) else type(item).__name__
        message = (
            "`documents` must hold texts, or objects with `text` and perhaps `id` and `score`, "
            f"got {kind} at position {position}"
        )
        raise TypeError(message)
    identity, source = item.get("id"), item.get("source")
    return Document(
        text=item["text"],
        id=None if identity is None else str(identity),
        score=item.get("score"),
        source=source if isinstance(source, str) else None,
    )


def _shape_of(rows: Sequence[Any], beside: Mapping[str, Any]) -> Shape:
    """Tell whose messages these are; OpenAI's where nothing tells, since plain ones look the same."""
    if any(map(_has_anthropic_parts, rows)):
        return "anthropic"
    return "anthropic" if "system" in beside and not any(map(_is_only_openai, rows)) else "openai"


def _is_message(item: object) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get("role"), str)


def _is_plain(row: object) -> bool:
    """Tell whether a row has the shape that all chat APIs share: a user's or an assistant's text and nothing else."""
    if not isinstance(row, dict) or len(row) != _PLAIN_KEYS:
        return False
    return row.get("role") in _SPEAKERS and isinstance(row.get("content"), str)


def _is_only_openai(item: object) -> bool:
    return isinstance(item, Mapping) and (item.get("role") in _OPENAI_ROLES or not _OPENAI_KEYS.isdisjoint(item))


def _has_anthropic_parts(message: object) -> bool:
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, list):
        return False
    return any(isinstance(part, Mapping) and part.get("type") in _ANTHROPIC_PARTS for part in content)


def _finite(literal: str) -> float:
    number = float(literal)
    if math.isinf(number):
        raise ValueError(literal)
    return number
