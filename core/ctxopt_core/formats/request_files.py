"""Requests in files: JSON for the APIs of OpenAI or Anthropic, or messages with documents and a query; and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ctxopt_core.documents.document import Document
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.formats.anthropic_messages import (
    AnthropicMessages,
    anthropic_system_texts,
    fitted_anthropic,
    fitted_anthropic_system,
)
from ctxopt_core.formats.checks import ARGUMENTS, MESSAGE, check, list_of
from ctxopt_core.formats.json_values import RefusedJSONError, parsed
from ctxopt_core.formats.openai_messages import OpenAIMessages, fitted_openai
from ctxopt_core.formats.responses.groups import is_list_of_items
from ctxopt_core.formats.responses.messages import fitted_responses, holds_input, read_items
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.messages.message_views import MessageViews
from ctxopt_core.models.model_settings import NAME_ARGUMENTS, ModelInfo, answer_limit, first_name
from ctxopt_core.providers.tool_schemas import schemas_in
from ctxopt_core.request import ContextRequest

Shape = Literal["openai", "anthropic", "responses"]
"""Whose messages they are. Those of `responses` are the items of OpenAI's Responses API."""

EXPECTED = (
    "a request is a list of messages, or an object with `messages`, with `documents`, or with `input` and a `model`, "
    "also inside the `body` or `params` of a batch line"
)
_BLANK = "\ufeff \t\r\n"
_ENVELOPES = ("body", "params")
_ANTHROPIC_PARTS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
_OPENAI_ROLES = frozenset({"system", "developer", "tool", "function"})
_OPENAI_KEYS = frozenset({"tool_calls", "function_call"})
_FITTED: Mapping[Shape, Callable[[Sequence[Mapping[str, Any]], Trimming], list[Mapping[str, Any]]]] = {
    "openai": fitted_openai,
    "anthropic": fitted_anthropic,
    "responses": fitted_responses,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFile:
    """A request as it is in a file.

    Args:
        content: The JSON value of the file.
        envelope: The key of `content` that has the request, as in the lines of batch APIs; None where `content` is the
            request.
        messages: The message mappings, or the items; None where there are only documents.
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
        """What goes with the messages; nothing for a bare list of them."""
        if isinstance(self.content, list):
            return {}
        inside: Mapping[str, Any] = self.content if self.envelope is None else self.content[self.envelope]
        return inside

    @property
    def messages_key(self) -> str:
        """The key of the messages among the arguments."""
        return "input" if self.shape == "responses" else "messages"

    @property
    def settings(self) -> ModelInfo:
        """The model that the request names, and the longest answer that it asks for."""
        arguments = self.arguments
        return ModelInfo(
            kind="the request",
            name=first_name(arguments.get(name) for name in NAME_ARGUMENTS),
            answer_tokens=answer_limit(arguments),
        )


def request_file(content: Any) -> RequestFile | None:
    """Return the request in a JSON value; None where it has none.

    It is a list of messages, or an object with `messages` or `documents` and what goes with them: `query`, `system`,
    `tools`, `response_format`. For OpenAI's Responses API it is a list of items, or an object with `input`.
    In the lines of batch APIs it is under `body` or `params`.

    Raises:
        TypeError: A message, an item, a document or what goes with them is of no known shape.
        ValueError: The request continues something that is stored at its provider, so that it cannot be counted.
    """
    if isinstance(content, list):
        if is_list_of_items(content):
            return _of_items(content, None, content, {})
        has_messages = any(isinstance(item, Mapping) and "role" in item for item in content)
        return _of_messages(content, None, content, {}) if has_messages else None
    if not isinstance(content, Mapping):
        return None
    for envelope in (None, *_ENVELOPES):
        inside = content if envelope is None else content.get(envelope)
        if not isinstance(inside, Mapping):
            continue
        if not isinstance(inside.get("messages"), list) and holds_input(inside):
            return _of_items(content, envelope, inside["input"], inside)
        if any(isinstance(inside.get(key), list) for key in ("messages", "documents")):
            return _of_messages(content, envelope, inside.get("messages"), inside)
    return None


def read_request(text: str) -> RequestFile:
    """Return the request in a JSON string.

    Raises:
        TypeError: A part of it is of no known shape.
        ValueError: The string is not JSON, or no request.
    """
    if not text.strip(_BLANK):
        message = f"there is nothing to be read; {EXPECTED}"
        raise ValueError(message)
    content = parsed(text)
    stored = request_file(content)
    if stored is None:
        message = f"the list is empty; {EXPECTED}" if content == [] else EXPECTED
        raise ValueError(message)
    return stored


def request_in(text: str) -> RequestFile | None:
    """Return the request in the text of a file; None where it has plain text, or JSON of another shape.

    Raises:
        TypeError: It has messages or documents, and one of them is of no known shape.
        ValueError: It is a request that cannot be counted, or whose JSON not all readers read alike.
    """
    if not text.lstrip(_BLANK).startswith(("{", "[")):
        return None
    try:
        content = parsed(text)
    except RefusedJSONError:
        # Any text may look like JSON: what not all readers read alike is refused only where it is a request.
        try:
            lenient = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            return None
        if request_file(lenient) is None:
            return None
        raise
    except ValueError:
        return None
    return request_file(content)


def fitted_content(stored: RequestFile, fitted: FittedContext) -> Any:
    """Return the JSON value of a request with what is left of it: the very value that came where nothing was cut.

    Keys that are not known are as they were. A `system` or `instructions` of which nothing is left is left out.
    """
    if fitted.unchanged:
        return stored.content
    messages = _FITTED[stored.shape](stored.messages or (), fitted.history)
    if isinstance(stored.content, list):
        return messages
    changed = {**stored.arguments}
    if isinstance(changed.get("input"), str) and stored.shape == "responses":
        changed["input"] = "".join(str(item["content"]) for item in messages)
    elif stored.messages is not None:
        changed[stored.messages_key] = messages
    if isinstance(given := changed.get("documents"), list):
        texts = fitted.documents.texts
        cut = {i: document_with_text(given[i], text) for i, text in texts.items()}
        changed["documents"] = [cut.get(i, given[i]) for i in fitted.documents.kept]
    if query := changed.get("query"):
        left = [text for text in fitted.query if text]
        changed["query"] = "\n".join(left) if isinstance(query, str) else left
    key = "instructions" if stored.shape == "responses" else "system"
    if changed.get(key):
        changed[key] = fitted_anthropic_system(changed[key], fitted.system)
        if not changed[key]:
            del changed[key]
    return changed if stored.envelope is None else {**stored.content, stored.envelope: changed}


def document_with_text(given: Any, text: str) -> Any:
    """Return a copy of a document, which is a string, a mapping or a `Document`, with a shorter text."""
    if isinstance(given, str):
        return text
    return replace(given, text=text) if isinstance(given, Document) else {**given, "text": text}


def _of_messages(content: Any, envelope: str | None, messages: Any, beside: Mapping[str, Any]) -> RequestFile:
    check(beside, ARGUMENTS, "")
    check(messages, list_of(None, "a list of messages"), "messages")
    rows = messages or ()
    places = {index: f"messages[{index}]" for index, row in enumerate(rows) if not _is_plain(row)}
    for index, place in places.items():
        check(rows[index], MESSAGE, place)
    shape = _shape_of([rows[index] for index in places], beside)
    views = AnthropicMessages(rows) if shape == "anthropic" else OpenAIMessages(rows)
    _read_once(views, places.items())
    request = _request(beside, views, anthropic_system_texts(beside.get("system")))
    return RequestFile(content=content, envelope=envelope, messages=messages, shape=shape, request=request)


def _of_items(content: Any, envelope: str | None, given: str | list[Any], beside: Mapping[str, Any]) -> RequestFile:
    check(beside, ARGUMENTS, "")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    views = read_items(items, beside)
    _read_once(views, enumerate(views.places()))
    request = _request(beside, views, beside.get("instructions") or ())
    return RequestFile(content=content, envelope=envelope, messages=items, shape="responses", request=request)


def _request(beside: Mapping[str, Any], views: MessageViews, system: tuple[str, ...] | str) -> ContextRequest:
    return ContextRequest(
        system=system,
        query=beside.get("query") or (),
        documents=tuple(map(_document, beside.get("documents") or ())),
        history=views,
        tools=tuple(schemas_in(beside)),
    )


def _document(given: str | Mapping[str, Any]) -> Document:
    if isinstance(given, str):
        return Document(text=given)
    identity, source = given.get("id"), given.get("source")
    return Document(
        text=given["text"],
        id=None if identity is None else str(identity),
        score=given.get("score"),
        source=source if isinstance(source, str) else None,
    )


def _read_once(views: MessageViews, places: Iterable[tuple[int, str]]) -> None:
    """Read messages once, so that one of no known shape is an error now, which names its place."""
    for index, place in places:
        try:
            _ = views[index]
        except (TypeError, ValueError) as error:
            message = f"`{place}`: {error}"
            raise type(error)(message) from error


def _shape_of(rows: Sequence[Mapping[str, Any]], beside: Mapping[str, Any]) -> Shape:
    """Return whose messages these are: OpenAI's where nothing shows it, since plain ones look the same."""
    parts = [part for row in rows if isinstance(row.get("content"), list) for part in row["content"]]
    if any(isinstance(part, Mapping) and part.get("type") in _ANTHROPIC_PARTS for part in parts):
        return "anthropic"
    is_openai = any(row.get("role") in _OPENAI_ROLES or not _OPENAI_KEYS.isdisjoint(row) for row in rows)
    return "anthropic" if "system" in beside and not is_openai else "openai"


def _is_plain(row: object) -> bool:
    """Return whether a row has the shape that all chat APIs share: the string of a user or of an assistant."""
    if not isinstance(row, dict) or row.keys() != {"role", "content"}:
        return False
    return row["role"] in ("user", "assistant") and isinstance(row["content"], str)
