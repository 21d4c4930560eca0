"""Shorter arguments in every place where a LangChain message holds its calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from ctxopt_core import ToolCall
from ctxopt_core.adapters import ShortenedCalls


def shortened_calls(message: BaseMessage, calls: Sequence[ToolCall], arguments: Mapping[int, str]) -> dict[str, Any]:
    """Return the fields of a message, other than its content, that differ once arguments are shorter.

    Args:
        message: The message; it is not changed.
        calls: The calls of its view.
        arguments: Shorter arguments, as JSON, by the position of the call in the view.
    """
    shorter = ShortenedCalls(calls, arguments)
    if not shorter:
        return {}
    changed: dict[str, Any] = {}
    seen: Counter[str | None] = Counter()
    for name in ("tool_calls", "invalid_tool_calls"):
        if held := getattr(message, name, None):
            changed[name] = shorter.applied(held, seen)
    if chunks := getattr(message, "tool_call_chunks", None):
        changed["tool_call_chunks"] = shorter.applied(chunks)
    extra = _shortened_extra(message.additional_kwargs, shorter)
    return {**changed, "additional_kwargs": extra} if extra else changed


def _shortened_extra(extra: Mapping[str, Any], shorter: ShortenedCalls) -> dict[str, Any]:
    """Return the additional arguments as the provider gave them; an empty mapping where there are no calls in them."""
    changed: dict[str, Any] = {}
    if held := extra.get("tool_calls"):
        changed["tool_calls"] = shorter.applied(held)
    if isinstance(legacy := extra.get("function_call"), Mapping):
        changed["function_call"] = shorter.of(legacy, Counter())
    return {**extra, **changed} if changed else {}
