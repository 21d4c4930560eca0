"""Tool calls in a message's `additional_kwargs`, where older LlamaIndex integrations put them.

They are mappings in the shape of their provider, or objects of its client library.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxopt_core import ToolCall
from ctxopt_core.adapters import arguments_text, is_signed

_ID_NAMES = ("id", "call_id", "tool_call_id", "toolUseId", "tool_id")
_NAME_NAMES = ("name", "tool_name")
_ARGUMENT_NAMES = ("arguments", "args", "input", "parameters", "tool_kwargs")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCalls:
    """The calls of a message, each once, wherever it has them.

    Args:
        calls: The calls: first those of the blocks, in their order.
        listed: For each call in `additional_kwargs["tool_calls"]`, its position in `calls`.
        single: The position of the call in `additional_kwargs["function_call"]`; None where there is none.
    """

    calls: tuple[ToolCall, ...]
    listed: tuple[int, ...] = ()
    single: int | None = None


def calls_of_message(in_blocks: Sequence[ToolCall], extra: Mapping[str, Any], *, fixed: bool) -> MessageCalls:
    """Return the calls of a message.

    Args:
        in_blocks: The calls of its blocks.
        extra: Its `additional_kwargs`.
        fixed: Whether no arguments may be edited, since reasoning is beside them.
    """
    calls = list(in_blocks)
    listed = _places(calls, [_call_of(raw) for raw in raw_calls(extra)])
    legacy = extra.get("function_call")
    single = _places(calls, [replace(_call_of(legacy), id=None)]) if legacy else []
    return MessageCalls(
        calls=tuple(replace(call, fixed=True) for call in calls) if fixed else tuple(calls),
        listed=tuple(listed),
        single=single[0] if single else None,
    )


def raw_calls(extra: Mapping[str, Any]) -> Sequence[Any]:
    """Return the calls in `additional_kwargs["tool_calls"]`, as they are."""
    held = extra.get("tool_calls")
    return held if isinstance(held, (list, tuple)) else ()


def with_shorter_calls(extra: Mapping[str, Any], calls: MessageCalls, arguments: Mapping[int, str]) -> dict[str, Any]:
    """Return a copy of `additional_kwargs` with shorter arguments in its calls.

    Args:
        extra: The `additional_kwargs`; they are not changed.
        calls: The calls of the message.
        arguments: Shorter arguments, as JSON, by the position of the call.
    """
    changed: dict[str, Any] = {}
    if any(position in arguments for position in calls.listed):
        pairs = zip(raw_calls(extra), calls.listed, strict=True)
        changed["tool_calls"] = [_shorter(raw, arguments.get(position)) for raw, position in pairs]
    if calls.single is not None and calls.single in arguments:
        changed["function_call"] = _shorter(extra["function_call"], arguments[calls.single])
    return {**extra, **changed}


def function_of(raw: Any) -> Any:
    """Return what holds name and arguments of a call: its `function` where it has one, else the call itself."""
    inner = raw.get("function") if isinstance(raw, Mapping) else getattr(raw, "function", None)
    return raw if inner is None else inner


def field_of(holder: Any, names: Sequence[str]) -> tuple[str, Any]:
    """Return the first of the named fields that a mapping or an object has, and its value; ("", None) for none."""
    for name in names:
        value = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
        if value is not None:
            return name, value
    return "", None


def _places(calls: list[ToolCall], others: Sequence[ToolCall]) -> list[int]:
    """Return where each of `others` stands in `calls`; those that are not there yet are appended."""
    free = list(range(len(calls)))
    places: list[int] = []
    for other in others:
        place = next((i for i in free if _is_same(calls[i], other)), None)
        if place is None:
            place = len(calls)
            calls.append(other)
        else:
            free.remove(place)
            calls[place] = _joined(calls[place], other)
        places.append(place)
    return places


def _is_same(call: ToolCall, other: ToolCall) -> bool:
    return call.id == other.id if call.id and other.id else call.name == other.name


def _joined(call: ToolCall, other: ToolCall) -> ToolCall:
    """Return one call of two places, with the longer arguments: whichever is sent, it has no more tokens."""
    longer = max(call.arguments, other.arguments, key=len)
    return replace(call, id=call.id or other.id, arguments=longer, fixed=call.fixed or other.fixed)


def _call_of(raw: Any) -> ToolCall:
    _, identity = field_of(raw, _ID_NAMES)
    holder = function_of(raw)
    _, name = field_of(holder, _NAME_NAMES)
    _, arguments = field_of(holder, _ARGUMENT_NAMES)
    return ToolCall(
        id=str(identity) if identity else None,
        name=str(name or ""),
        arguments=arguments_text(arguments),
        fixed=is_signed(raw if isinstance(raw, Mapping) else _fields(raw)),
    )


def _fields(raw: Any) -> dict[str, Any]:
    return {**getattr(raw, "__dict__", {}), **(getattr(raw, "model_extra", None) or {})}


def _shorter(raw: Any, arguments: str | None) -> Any:
    """Return a call, or a copy with shorter arguments; they stay a string or a mapping, as they were."""
    if arguments is None:
        return raw
    holder = function_of(raw)
    name, given = field_of(holder, _ARGUMENT_NAMES)
    if not name:
        return raw
    changed = _with_field(holder, name, arguments if isinstance(given, str) else json.loads(arguments))
    return changed if holder is raw else _with_field(raw, "function", changed)


def _with_field(holder: Any, name: str, value: Any) -> Any:
    if isinstance(holder, Mapping):
        return {**holder, name: value}
    twin = copy.copy(holder)
    object.__setattr__(twin, name, value)
    return twin
