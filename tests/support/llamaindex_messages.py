"""Build LlamaIndex messages from OpenAI-shaped rows: calls as blocks, or as older integrations held them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, Literal

from llama_index.core.base.llms.types import AudioBlock, DocumentBlock, ImageBlock, TextBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage

from fitted_rows import is_note
from llamaindex_requests import to_row
from shape_rows import Row

CallForm = Literal["blocks", "dicts", "objects", "both"]
CALL_FORMS: tuple[CallForm, ...] = ("blocks", "dicts", "objects", "both")
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 200
MEDIA_TOKENS = {"image": 2125, "audio": 500, "file": 1000, "other": 500}
_ROLES = {"critic": "chatbot"}
_SENT_ROLES = {"chatbot": "assistant", "model": "assistant"}


def to_messages(rows: Iterable[Row], form: CallForm = "blocks") -> list[ChatMessage]:
    """Return the messages that stand for rows; a role that LlamaIndex does not know becomes another assistant."""
    return [to_message(row, form) for row in rows]


def to_message(row: Row, form: CallForm = "blocks") -> ChatMessage:
    """Return the message that stands for a row."""
    extra = {key: row[key] for key in ("name", "tool_call_id", "function_call") if row.get(key)}
    blocks = list(_blocks(row.get("content")))
    calls = row.get("tool_calls") or []
    if form in ("blocks", "both"):
        blocks += [_block_of(call) for call in calls]
    if calls and form in ("dicts", "both"):
        extra["tool_calls"] = calls
    if calls and form == "objects":
        extra["tool_calls"] = [call_object(call) for call in calls]
    return ChatMessage(role=_ROLES.get(row["role"], row["role"]), blocks=blocks, additional_kwargs=extra)


def call_object(call: Row) -> SimpleNamespace:
    """Return a call as the client library of a provider holds it."""
    return SimpleNamespace(id=call["id"], type="function", function=SimpleNamespace(**call["function"]))


def rows_of_parts(messages: Iterable[ChatMessage]) -> list[Row]:
    """Return the rows that messages are sent as, with the names that link legacy calls.

    Every content but that of a placeholder is a list, as it was before its images were left out.
    """
    return [_row_of_parts(message) for message in messages]


def _row_of_parts(message: ChatMessage) -> Row:
    row, name = to_row(message), message.additional_kwargs.get("name")
    content = row["content"]
    if not isinstance(content, list) and not is_note(row):
        row["content"] = [] if content is None else [{"type": "text", "text": content}]
    row["role"] = _SENT_ROLES.get(row["role"], row["role"])
    return {**row, "name": name} if name else row


def _blocks(content: Any) -> Iterable[Any]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for part in content or ():
        match part["type"]:
            case "text":
                yield TextBlock(text=part["text"])
            case "image_url":
                yield ImageBlock(image=PNG)
            case "input_audio":
                yield AudioBlock(audio=b"RIFF" * 50, format="wav")
            case _:
                yield DocumentBlock(data=b"%PDF" * 50, document_mimetype="application/pdf")


def _block_of(call: Row) -> ToolCallBlock:
    arguments = call["function"]["arguments"]
    given = {"tool_call_id": call["id"] or None, "tool_name": call["function"]["name"]}
    return ToolCallBlock(**given, tool_kwargs=_as_mapping(arguments))


def _as_mapping(arguments: Any) -> Any:
    """Return what an integration puts into a block: the arguments as a mapping, else as the text that they are."""
    try:
        read = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments
    return read if isinstance(read, dict) else arguments or ""
