"""Read LlamaIndex messages as the rows that a provider would get, and count them without the code under test."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    CachePoint,
    CitableBlock,
    CitationBlock,
    ContentBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.llms import ChatMessage
from llama_index.core.tools.types import BaseTool

from request_tokens import arguments_text, recount
from shape_rows import Row

MEDIA_PARTS = {"image": "image_url", "audio": "input_audio", "document": "file", "video": "video_url"}


def to_row(message: ChatMessage) -> Row:
    """Return the OpenAI-shaped row that a message is sent as."""
    extra = message.additional_kwargs
    parts = [part for block in message.blocks for part in _parts(block)]
    parts += [{"type": "text", "text": str(extra[key])} for key in ("refusal", "reasoning_content") if extra.get(key)]
    row: Row = {"role": message.role.value, "content": _joined(parts)}
    calls = _calls(message)
    if calls:
        row["tool_calls"] = calls
    if extra.get("function_call"):
        row["function_call"] = extra["function_call"]
    if extra.get("tool_call_id"):
        row["tool_call_id"] = extra["tool_call_id"]
    return row


def _parts(block: ContentBlock) -> list[Row]:
    match block:
        case TextBlock():
            return [{"type": "text", "text": block.text}]
        case ThinkingBlock():
            return [{"type": "thinking", "thinking": block.content or ""}]
        case CitableBlock():
            return [{"type": "text", "text": block.title}, *(part for inner in block.content for part in _parts(inner))]
        case CitationBlock():
            return _parts(block.cited_content)
        case CachePoint() | ToolCallBlock():
            return []
        case _:
            return [{"type": MEDIA_PARTS.get(block.block_type, "unknown")}]


def _joined(parts: list[Row]) -> Any:
    if not parts:
        return None
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts


def _calls(message: ChatMessage) -> list[Row]:
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    calls = [_call(block.tool_call_id, block.tool_name, block.tool_kwargs) for block in blocks]
    known = {call["id"] for call in calls}
    legacy = [_legacy_call(given) for given in message.additional_kwargs.get("tool_calls") or ()]
    return calls + [call for call in legacy if call["id"] not in known]


def _legacy_call(given: Any) -> Row:
    if isinstance(given, dict):
        function = given.get("function") or {}
        return _call(given.get("id"), function.get("name"), function.get("arguments"))
    return _call(given.id, given.function.name, given.function.arguments)


def _call(identifier: str | None, name: str | None, arguments: Any) -> Row:
    function = {"name": name or "", "arguments": arguments_text(arguments)}
    return {"id": identifier or "", "type": "function", "function": function}


def rows_of(messages: Iterable[ChatMessage]) -> list[Row]:
    """Return the rows that messages are sent as."""
    return [to_row(message) for message in messages]


def schema_of(tool: Any) -> Any:
    """Return a tool as it is sent: dicts as they are, tools and classes as their schema."""
    if isinstance(tool, BaseTool):
        return tool.metadata.to_openai_tool()
    if inspect.isclass(tool):
        return {"name": tool.__name__, "parameters": tool.model_json_schema()}
    return tool


def sent_tokens(messages: Iterable[ChatMessage], tools: Sequence[Any] = (), encoding: str = "cl100k_base") -> int:
    """Return what a chat model would be sent, in tokens."""
    return recount(rows_of(messages), [schema_of(tool) for tool in tools], encoding)


def text_of_rows(rows: Iterable[Row]) -> str:
    """Return everything that the model can read in rows, but for calls."""
    texts: list[str] = []
    for row in rows:
        content = row["content"] or ""
        parts = [{"text": content}] if isinstance(content, str) else content
        texts += [part.get("text") or part.get("thinking") or "" for part in parts]
    return "\n".join(texts)
