"""Tool calls in the mappings of chat APIs and frameworks: how they are read and copied with shorter arguments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ctxopt_core.messages.message import ToolCall

ARGUMENT_KEYS = ("arguments", "args", "input")
_STREAMED_KEY = "partial_json"
_THOUGHT_WORDS = ("reasoning", "thinking", "thought")
_SIGNATURE_WORDS = ("signature", "encrypted")
# Levels of nesting: Google's signature is on the third, in `extra_content` and there in `google`. One that is deeper is
# not found, and the provider would refuse the shortened call.
_DEEPEST_SIGNATURE = 3


def call_of(part: Mapping[str, Any], *, fixed: bool = False) -> ToolCall:
    """Return the tool call that a mapping in any of the usual shapes describes.

    Args:
        part: The mapping.
        fixed: Whether the arguments must stay as they are because of what is beside the call. A signature on the call
            fixes them, too.
    """
    inner = _inner(part)
    key = _argument_key(inner)
    return ToolCall(
        id=_identity(part),
        name=str(inner.get("name") or ""),
        arguments=arguments_text(None if key is None else inner[key]),
        fixed=fixed or is_signed(part) or caller_of(part) is not None,
        caller=caller_of(part),
    )


def caller_of(part: Mapping[str, Any]) -> str | None:
    """Return the id of the provider's call whose code makes this call; None where the model makes it itself."""
    extras = part.get("extras")
    caller = part.get("caller") or (extras.get("caller") if isinstance(extras, Mapping) else None)
    found = caller.get("tool_id") if isinstance(caller, Mapping) else None
    return found if isinstance(found, str) else None


def arguments_text(arguments: object) -> str:
    """Return call arguments as the string that is sent: none as an empty string, mappings as JSON."""
    if arguments is None:
        return ""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False, default=str)


def is_signed(part: Mapping[str, Any], levels: int = _DEEPEST_SIGNATURE) -> bool:
    """Return whether a call has a signature of its provider, beside its arguments or in its extras."""
    for key, value in part.items():
        if not value or key in ARGUMENT_KEYS:
            continue
        if any(word in str(key) for word in _SIGNATURE_WORDS):
            return True
        if levels > 1 and isinstance(value, Mapping) and is_signed(value, levels - 1):
            return True
    return False


def thinks_beside_content(mapping: Mapping[str, Any]) -> bool:
    """Return whether there is reasoning beside a message's content that the provider wants back."""
    return any(value and any(word in str(key) for word in _THOUGHT_WORDS) for key, value in mapping.items())


class ShortenedCalls:
    """Shorter arguments of a message's calls, for each place in which the message repeats a call.

    A message may have one call several times, as a call and as a part of its content. Ids may repeat, so that within
    each place the calls of one id are distinguished by their order.

    Args:
        calls: The calls of the message's view.
        arguments: Shorter arguments by the position of the call in it.
    """

    def __init__(self, calls: Sequence[ToolCall], arguments: Mapping[int, str]) -> None:
        seen: Counter[str | None] = Counter()
        self._arguments: dict[tuple[str | None, int], str] = {}
        for position, call in enumerate(calls):
            if position in arguments:
                self._arguments[call.id, seen[call.id]] = arguments[position]
            seen[call.id] += 1

    def __bool__(self) -> bool:
        return bool(self._arguments)

    def applied(self, parts: Iterable[Any], seen: Counter[str | None] | None = None) -> list[Any]:
        """Return the calls of one place, copies where they are shorter.

        Args:
            parts: The calls; what is no mapping is returned as it is.
            seen: How often each id has occurred in this place; it is updated.
        """
        occurred: Counter[str | None] = Counter() if seen is None else seen
        return [self.of(part, occurred) if isinstance(part, Mapping) else part for part in parts]

    def of(self, part: Mapping[str, Any], seen: Counter[str | None]) -> Mapping[str, Any]:
        """Return a call, or a copy with shorter arguments; `seen` is updated."""
        identity = _identity(part)
        arguments = self._arguments.get((identity, seen[identity]))
        seen[identity] += 1
        return part if arguments is None else _with_arguments(part, arguments)


def _with_arguments(part: Mapping[str, Any], arguments: str) -> Mapping[str, Any]:
    """Return a copy of a call in its own shape: arguments stay a string or a mapping, as they were."""
    for outer in ("function", "custom"):
        if isinstance(part.get(outer), Mapping) and _inner(part) is part[outer]:
            return {**part, outer: _with_arguments(part[outer], arguments)}
    key = _argument_key(part)
    changed = dict(part)
    if key is not None:
        changed[key] = arguments if isinstance(part[key], str) else json.loads(arguments)
    if isinstance(part.get(_STREAMED_KEY), str):
        changed[_STREAMED_KEY] = arguments
    return changed


def _inner(part: Mapping[str, Any]) -> Mapping[str, Any]:
    function = part.get("function") or part.get("custom")
    return function if isinstance(function, Mapping) else part


def _argument_key(inner: Mapping[str, Any]) -> str | None:
    return next((key for key in ARGUMENT_KEYS if inner.get(key) is not None), None)


def _identity(part: Mapping[str, Any]) -> str | None:
    identity = part.get("call_id") or part.get("id")
    return identity if isinstance(identity, str) else None
