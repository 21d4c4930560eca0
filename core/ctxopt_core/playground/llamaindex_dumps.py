"""Messages of LlamaIndex as JSON, as messages of OpenAI's chat API: what `model_dump_json` of a ChatMessage writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ctxopt_core.playground.chat_rows import objects, openai_call

_MEDIA: Mapping[str, str] = MappingProxyType({"image": "image", "audio": "audio", "video": "video", "document": "file"})
_CALL = "tool_call"
_CACHE_POINT = "cache"
_KEPT_BESIDE = ("name", "tool_call_id", "tool_calls", "function_call", "refusal", "reasoning_content", "reasoning")


def is_llamaindex_message(value: object) -> bool:
    """Tell whether a JSON value is a message of LlamaIndex."""
    return isinstance(value, Mapping) and "role" in value and isinstance(value.get("blocks"), list)


def row_of_llamaindex(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message of LlamaIndex in the shape of OpenAI's chat API.

    Args:
        value: What `is_llamaindex_message` says yes to.

    Raises:
        TypeError: A field has a type that it cannot have.
    """
    blocks = objects("blocks", value["blocks"])
    extra = value.get("additional_kwargs") or {}
    if not isinstance(extra, Mapping):
        message = f"`additional_kwargs` must be an object, got {type(extra).__name__}"
        raise TypeError(message)
    row: dict[str, Any] = {"role": value["role"], "content": _content(blocks)}
    row |= {key: extra[key] for key in _KEPT_BESIDE if extra.get(key)}
    if calls := [block for block in blocks if block.get("block_type") == _CALL]:
        row["tool_calls"] = [
            openai_call(call.get("tool_call_id"), call.get("tool_name"), call.get("tool_kwargs")) for call in calls
        ]
    return row


def _content(blocks: list[Mapping[str, Any]]) -> str | list[dict[str, Any]]:
    parts = list(_parts(blocks))
    if len(parts) == 1 and parts[0].get("type") == "text" and parts[0]["text"]:
        return str(parts[0]["text"])
    return parts


def _parts(blocks: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        kind = str(block.get("block_type") or "")
        if kind == "text":
            yield {"type": "text", "text": str(block.get("text") or "")}
        elif kind == "thinking":
            yield {"type": "thinking", "thinking": block.get("content") or ""}
        elif kind in _MEDIA:
            yield _medium(_MEDIA[kind], block)
        elif kind not in (_CALL, _CACHE_POINT):
            yield {**block, "type": kind}


def _medium(kind: str, block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a medium with its address or its bytes, of which no text is made."""
    place = next((key for key in ("url", "data", kind, "path") if block.get(key)), None)
    media_type = next((said for key, said in block.items() if key.endswith("_mimetype") and said), None)
    part = {"type": kind, **({} if place is None else {"url" if place == "url" else "data": block[place]})}
    return part if media_type is None else {**part, "mime_type": media_type}
