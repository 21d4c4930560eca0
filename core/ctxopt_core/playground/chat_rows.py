"""Messages in the shape of OpenAI's chat API: what messages of other kinds are written with, and a check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxopt_core.call_shapes import arguments_text

_SPEAKING = frozenset({"content", "tool_calls", "function_call", "refusal", "audio", "reasoning_content", "reasoning"})


def openai_call(identity: object, name: object, arguments: object, *, signed: bool = False) -> dict[str, Any]:
    """Return a tool call. One that its provider has signed says so, since its arguments may not be edited then."""
    function = {"name": name or "", "arguments": arguments_text(arguments)}
    call = {"id": identity, "type": "function", "function": function}
    return {**call, "signature": "signed"} if signed else call


def objects(name: str, given: object) -> list[Mapping[str, Any]]:
    """Return a list of objects; an empty one where there is none.

    Raises:
        TypeError: It is something else; `name` is what the message calls it.
    """
    if given is None:
        return []
    if isinstance(given, list) and all(isinstance(item, Mapping) for item in given):
        return given
    message = f"`{name}` must be a list of objects, got {type(given).__name__}"
    raise TypeError(message)


def check_says_something(row: object) -> None:
    """Check that a message of a chat API has a field for what it says, so that none is read as an empty one.

    Raises:
        TypeError: It has none.
    """
    if isinstance(row, Mapping) and isinstance(row.get("role"), str) and _SPEAKING.isdisjoint(row):
        message = "a message must have `content`, or call tools with `tool_calls`, got neither"
        raise TypeError(message)
