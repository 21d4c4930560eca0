"""Turn a LangChain message into the OpenAI-shaped row that a provider would be sent, without the code under test."""

from __future__ import annotations

import json
from typing import Any

ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}


def langchain_to_dict(message: Any) -> dict[str, Any]:
    """Return role, content, name, calls and call id of a LangChain message; its artifact is not sent and left out."""
    kind = message.type.removesuffix("MessageChunk").lower()
    row: dict[str, Any] = {"role": _role(message, kind), "content": message.content}
    if message.name:
        row["name"] = message.name
    calls = [_call(call) for call in getattr(message, "tool_calls", None) or ()]
    calls += [_call(call) for call in getattr(message, "invalid_tool_calls", None) or ()]
    if calls:
        row["tool_calls"] = calls
    elif message.additional_kwargs.get("function_call"):
        row["function_call"] = dict(message.additional_kwargs["function_call"])
    if kind == "tool":
        row["tool_call_id"] = message.tool_call_id
    return row


def _role(message: Any, kind: str) -> str:
    if kind == "chat":
        return str(message.role)
    if kind == "system":
        return str(message.additional_kwargs.get("__openai_role__", "system"))
    return ROLES[kind]


def _call(call: Any) -> dict[str, Any]:
    arguments = call["args"]
    if not isinstance(arguments, str | None):
        arguments = json.dumps(arguments, ensure_ascii=False)
    function = {"name": call["name"], "arguments": arguments}
    return {"id": call["id"], "type": "function", "function": function}
