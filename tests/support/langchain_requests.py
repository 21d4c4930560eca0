"""Build LangChain messages from OpenAI-shaped rows, and count what a model would really be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import BasePromptTemplate

from independent_recount import langchain_to_dict, recount
from shape_rows import Row

_ROLES = {"human": "user", "ai": "assistant"}


def to_message(row: Row) -> BaseMessage:
    """Return the LangChain message that stands for an OpenAI-shaped row."""
    common = {"content": "" if row.get("content") is None else row["content"], "name": row.get("name")}
    match row["role"]:
        case "user":
            return HumanMessage(**common)
        case "assistant":
            return _assistant(row, common)
        case "system":
            return SystemMessage(**common)
        case "developer":
            return SystemMessage(**common, additional_kwargs={"__openai_role__": "developer"})
        case "tool":
            return ToolMessage(**common, tool_call_id=row.get("tool_call_id") or "")
        case "function":
            return FunctionMessage(content=common["content"], name=row.get("name") or "")
        case role:
            return ChatMessage(**common, role=role)


def _assistant(row: Row, common: dict[str, Any]) -> AIMessage:
    if row.get("function_call"):
        return AIMessage(**common, additional_kwargs={"function_call": row["function_call"]})
    valid: list[Any] = []
    invalid: list[Any] = []
    for call in row.get("tool_calls") or ():
        arguments = _parsed(call["function"]["arguments"])
        made = {"id": call["id"], "name": call["function"]["name"]}
        if isinstance(arguments, dict):
            valid.append({**made, "args": arguments})
        else:
            invalid.append({**made, "args": call["function"]["arguments"], "error": None})
    return AIMessage(**common, tool_calls=valid, invalid_tool_calls=invalid)


def _parsed(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def to_row(item: Any) -> Row:
    """Return the OpenAI-shaped row that anything that stands for a message is sent as."""
    if isinstance(item, BaseMessage):
        row = langchain_to_dict(item)
        extra = item.additional_kwargs.get("tool_calls")
        return {**row, "tool_calls": extra} if extra and not row.get("tool_calls") else row
    if isinstance(item, Mapping):
        role = str(item.get("role") or item.get("type"))
        return {**item, "role": _ROLES.get(role, role)}
    role, content = ("user", item) if isinstance(item, str) else item
    return {"role": _ROLES.get(role, role), "content": content}


def rows_of(value: Any) -> list[Row]:
    """Return the rows that a chat model would be sent for any input that it takes."""
    if isinstance(value, PromptValue):
        value = value.to_messages()
    items = [value] if isinstance(value, (str, BaseMessage)) else value
    return [to_row(item) for item in items]


def sent_tokens(value: Any, tools: Sequence[Row] = ()) -> int:
    """Return what a chat model would be sent for an input, in tokens."""
    return recount(rows_of(value), tools)


def rendered_tokens(prompt: BasePromptTemplate[Any], values: dict[str, Any], tools: Sequence[Row] = ()) -> int:
    """Return what a chat model would be sent for the input of a prompt, in tokens."""
    return sent_tokens(prompt.invoke(values), tools)
