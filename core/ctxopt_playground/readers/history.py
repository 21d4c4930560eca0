"""Reads a pasted conversation: JSON of any known shape, JSON lines, or a plain transcript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from ctxopt_core.formats.request_files import RequestFile, Shape, request_file
from ctxopt_core.request import ContextRequest
from ctxopt_playground.readers.framework_dumps import (
    check_says_something,
    constructed,
    is_langchain_message,
    is_llamaindex_message,
    row_of_langchain,
    row_of_llamaindex,
)
from ctxopt_playground.readers.json import PastedJson, UnreadablePasteError, opens_json, read_json
from ctxopt_playground.readers.transcripts import read_transcript

HistoryFormat = Literal[
    "OpenAI JSON",
    "OpenAI Responses JSON",
    "Anthropic JSON",
    "LangChain messages",
    "LlamaIndex messages",
    "transcript",
    "plain text",
]
"""The recognized format of a pasted history; messages that all chat APIs share are OpenAI's."""


_FORMATS: Mapping[str, HistoryFormat] = MappingProxyType(
    {"openai": "OpenAI JSON", "anthropic": "Anthropic JSON", "responses": "OpenAI Responses JSON"}
)
NOTHING_PASTED = "nothing was pasted; paste messages as JSON, or as lines such as `User: ...` and `Assistant: ...`"
NO_HISTORY = (
    "a chat history must be a list of messages, or an object with `messages` or `input`, as it is sent to a chat API"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PastedHistory:
    """A chat history that was read.

    Args:
        stored: The request with its JSON value, which `request_files.fitted_content` cuts. Messages of LangChain, of
            LlamaIndex and of plain text are in the shape of OpenAI's chat API there.
        format: The format that was recognized.
        notes: What was assumed or left out, for whoever pasted it.
    """

    stored: RequestFile
    format: HistoryFormat
    notes: tuple[str, ...] = ()

    @property
    def request(self) -> ContextRequest:
        """The request to fit; the last user message is its query."""
        return self.stored.request


def read_history(text: str) -> PastedHistory:
    """Return the chat history of what was pasted.

    It is JSON for the APIs of OpenAI or Anthropic, or of the messages of LangChain or LlamaIndex: a list of messages, a
    request with `messages` or `input`, one message, or lines of these. Or it is plain text; see `read_transcript`. No
    message is lost, and their order is kept.

    Raises:
        UnreadablePasteError: It is none of these. The message says where.
    """
    if not text.strip("\ufeff \t\r\n"):
        raise UnreadablePasteError(NOTHING_PASTED)
    if opens_json(text):
        return _of_json(read_json(text))
    transcript = read_transcript(text)
    found = history_of(list(transcript.rows))
    return replace(found, format="transcript" if transcript.spoken else "plain text", notes=transcript.notes)


def history_of(value: Any) -> PastedHistory:
    """Return the chat history that a JSON value holds. It is not changed.

    Args:
        value: A list of messages, a request with `messages` or `input`, or one message.

    Raises:
        UnreadablePasteError: It is none of these.
    """
    content = _request_in(value)
    messages = _messages_in(content)
    if messages:
        rows = chat_rows(messages)
        content = {**content, "messages": rows} if isinstance(content, Mapping) else rows
    try:
        stored = request_file(content)
    except (TypeError, ValueError) as error:
        raise UnreadablePasteError(str(error)) from error
    if stored is None:
        message = f"{NO_HISTORY}, got {_kind_of(value)}"
        raise UnreadablePasteError(message)
    return PastedHistory(stored=_read_whole(stored), format=_format_of(messages, stored.shape))


def _of_json(pasted: PastedJson) -> PastedHistory:
    first, *others = pasted.values
    if pasted.lines is None:
        return history_of(first)
    if is_message(first):
        for number, value in zip(pasted.lines, pasted.values, strict=True):
            if not is_message(value):
                message = f"line {number}: the lines before hold one message each, so this one must hold one, too"
                raise UnreadablePasteError(message)
        return history_of(list(pasted.values))
    found = history_of(first)
    note = f"only the first of {len(pasted.values):,} requests is read" if others else ""
    return replace(found, notes=(*found.notes, note)) if note else found


def _request_in(value: Any) -> Any:
    """Return a list of messages or a request; one message becomes a list, and a dumped prompt its arguments."""
    if is_message(value):
        return [value]
    arguments = constructed(value)
    return value if arguments is None else arguments


def _messages_in(content: Any) -> Sequence[Any]:
    """Return the list of messages of a request; none where something else is there."""
    found = content.get("messages") if isinstance(content, Mapping) else content
    return found if isinstance(found, list) else ()


def _read_whole(stored: RequestFile) -> RequestFile:
    """Return a stored request with every message read, so that a wrong one is an error now."""
    views = stored.request.history
    whole = replace(stored.request, history=tuple(views[index] for index in range(len(views))))
    return replace(stored, request=whole)


def _format_of(messages: Sequence[Any], shape: Shape) -> HistoryFormat:
    if any(map(is_langchain_message, messages)):
        return "LangChain messages"
    return "LlamaIndex messages" if any(map(is_llamaindex_message, messages)) else _FORMATS[shape]


def _kind_of(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object without them"
    if isinstance(value, list):
        return "a list of something else" if value else "an empty list"
    return type(value).__name__


def is_message(value: object) -> bool:
    """Return whether a JSON value is one message."""
    if is_langchain_message(value):
        return True
    return isinstance(value, Mapping) and isinstance(value.get("role"), str) and "messages" not in value


def chat_rows(messages: Sequence[Any]) -> list[Any]:
    """Return messages in their order, those of LangChain and of LlamaIndex in the shape of OpenAI's chat API.

    Raises:
        UnreadablePasteError: One of them is not a message, or has no content.
    """
    return [_chat_row(message, index) for index, message in enumerate(messages)]


def _chat_row(message: Any, index: int) -> Any:
    try:
        if is_langchain_message(message):
            return row_of_langchain(message)
        if is_llamaindex_message(message):
            return row_of_llamaindex(message)
        check_says_something(message)
    except (TypeError, ValueError) as error:
        wrong = f"`messages[{index}]`: {error}"
        raise UnreadablePasteError(wrong) from error
    return message
