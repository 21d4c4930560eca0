"""Reads messages and documents as LangChain and LlamaIndex dump them, also where neither is installed.

The frameworks' own loaders are not used: they build objects of the classes that the pasted JSON names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ctxopt_core.formats.tool_calls import arguments_text, is_signed

_SPEAKING = frozenset({"content", "tool_calls", "function_call", "refusal", "audio", "reasoning_content", "reasoning"})
_ROLES: Mapping[str, str] = MappingProxyType(
    {
        "human": "user",
        "ai": "assistant",
        "system": "system",
        "tool": "tool",
        "function": "function",
        "chat": "",
        "remove": "",
    }
)
_CALLS = ("tool_calls", "function_call")
_MEDIA: Mapping[str, str] = MappingProxyType({"image": "image", "audio": "audio", "video": "video", "document": "file"})
_CALL = "tool_call"
_CACHE_POINT = "cache"
_KEPT_BESIDE = ("name", "tool_call_id", "tool_calls", "function_call", "refusal", "reasoning_content", "reasoning")


def openai_call(identity: object, name: object, arguments: object, *, signed: bool = False) -> dict[str, Any]:
    """Return a tool call. One that its provider has signed is marked, since its arguments must not be edited then."""
    function = {"name": name or "", "arguments": arguments_text(arguments)}
    call = {"id": identity, "type": "function", "function": function}
    return {**call, "signature": "signed"} if signed else call


def objects(name: str, given: object) -> list[Mapping[str, Any]]:
    """Return a list of objects; an empty one where there is none.

    Raises:
        TypeError: It is something else; the message calls it `name`.
    """
    if given is None:
        return []
    if isinstance(given, list) and all(isinstance(item, Mapping) for item in given):
        return given
    message = f"`{name}` must be a list of objects, got {type(given).__name__}"
    raise TypeError(message)


def check_says_something(row: object) -> None:
    """Check that a message of a chat API has a field with content, so that none is read as an empty one.

    Raises:
        TypeError: It has none.
    """
    if isinstance(row, Mapping) and isinstance(row.get("role"), str) and _SPEAKING.isdisjoint(row):
        message = "a message must have `content`, or call tools with `tool_calls`, got neither"
        raise TypeError(message)


def constructed(value: object) -> Mapping[str, Any] | None:
    """Return the arguments of an object of LangChain that `dumpd` wrote; None for any other value."""
    if not isinstance(value, Mapping) or "lc" not in value or value.get("type") != "constructor":
        return None
    arguments = value.get("kwargs")
    return arguments if isinstance(arguments, Mapping) else None


def is_langchain_message(value: object) -> bool:
    """Return whether a JSON value is a LangChain message in one of its forms."""
    return _kind_and_fields(value) is not None


def row_of_langchain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a LangChain message in the shape of OpenAI's chat API.

    Args:
        value: A value for which `is_langchain_message` is true.

    Raises:
        TypeError: A field has a type that it cannot have.
        ValueError: It is a RemoveMessage.
    """
    found = _kind_and_fields(value)
    if found is None:
        message = f"a LangChain message must be one of {', '.join(_ROLES)}, got {type(value).__name__}"
        raise TypeError(message)
    kind, fields = found
    if kind == "remove":
        message = "a RemoveMessage is no message to a model, but takes one out of a graph's state; leave both out"
        raise ValueError(message)
    extra = fields.get("additional_kwargs") or {}
    if not isinstance(extra, Mapping):
        message = f"`additional_kwargs` must be an object, got {type(extra).__name__}"
        raise TypeError(message)
    row = {key: said for key, said in extra.items() if key not in _CALLS}
    row |= {"role": _role(kind, fields, extra), "content": fields.get("content")}
    if fields.get("name"):
        row["name"] = fields["name"]
    if kind == "tool":
        row["tool_call_id"] = fields.get("tool_call_id")
    if kind == "ai":
        row |= _calls(fields, extra)
    return row


def _kind_and_fields(value: object) -> tuple[str, Mapping[str, Any]] | None:
    if not isinstance(value, Mapping):
        return None
    fields: Any = constructed(value)
    if fields is not None:
        path = value.get("id")
        name = path[-1] if isinstance(path, list) and path else fields.get("type")
    else:
        name = value.get("type")
        fields = value.get("data", value)
        if fields is value and "role" in value and name != "chat":
            return None
    if not isinstance(name, str) or not isinstance(fields, Mapping) or "content" not in fields:
        return None
    kind = name.removesuffix("Chunk").removesuffix("Message").lower()
    return (kind, fields) if kind in _ROLES else None


def _role(kind: str, fields: Mapping[str, Any], extra: Mapping[str, Any]) -> Any:
    if kind == "chat":
        return fields.get("role")
    return "developer" if kind == "system" and extra.get("__openai_role__") == "developer" else _ROLES[kind]


def _calls(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the calls of a message; the provider's raw ones where LangChain has parsed none of them."""
    raw = objects("additional_kwargs.tool_calls", extra.get("tool_calls"))
    signed = any(map(is_signed, raw))
    read = [call for name in ("tool_calls", "invalid_tool_calls") for call in objects(name, fields.get(name))]
    if read:
        return {
            "tool_calls": [
                openai_call(call.get("id"), call.get("name"), call.get("args"), signed=signed or is_signed(call))
                for call in read
            ]
        }
    return dict(_raw_calls(extra))


def _raw_calls(extra: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    found = next((key for key in _CALLS if extra.get(key)), None)
    if found is not None:
        yield found, extra[found]


def is_llamaindex_message(value: object) -> bool:
    """Return whether a JSON value is a message of LlamaIndex."""
    return isinstance(value, Mapping) and "role" in value and isinstance(value.get("blocks"), list)


def row_of_llamaindex(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message of LlamaIndex in the shape of OpenAI's chat API.

    Args:
        value: A value for which `is_llamaindex_message` is true.

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
    """Return an image, a recording, a video or a file with its URL or its data."""
    place = next((key for key in ("url", "data", kind, "path") if block.get(key)), None)
    media_type = next((said for key, said in block.items() if key.endswith("_mimetype") and said), None)
    part = {"type": kind, **({} if place is None else {"url" if place == "url" else "data": block[place]})}
    return part if media_type is None else {**part, "mime_type": media_type}
