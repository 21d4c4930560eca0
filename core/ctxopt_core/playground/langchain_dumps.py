"""LangChain messages as JSON, in the three forms in which they are stored, as messages of OpenAI's chat API.

They are `{"type": "human", "data": {...}}` of `messages_to_dict`, `{"lc": 1, "id": [...], "kwargs": {...}}` of `dumpd`,
and the flat `{"type": "human", "content": ...}` of `model_dump`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ctxopt_core.call_shapes import is_signed
from ctxopt_core.playground.chat_rows import objects, openai_call

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


def constructed(value: object) -> Mapping[str, Any] | None:
    """Return the arguments of an object of LangChain that `dumpd` wrote; None for any other value."""
    if not isinstance(value, Mapping) or "lc" not in value or value.get("type") != "constructor":
        return None
    arguments = value.get("kwargs")
    return arguments if isinstance(arguments, Mapping) else None


def is_langchain_message(value: object) -> bool:
    """Tell whether a JSON value is a LangChain message in one of its forms."""
    return _kind_and_fields(value) is not None


def row_of_langchain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a LangChain message in the shape of OpenAI's chat API.

    Args:
        value: What `is_langchain_message` says yes to.

    Raises:
        TypeError: A field has a type that it cannot have.
        ValueError: It removes a message, instead of being one.
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
    """Return the calls of a message; those that the provider wrote where LangChain has read none of them."""
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
