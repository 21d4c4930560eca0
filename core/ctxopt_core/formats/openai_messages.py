"""OpenAI-shaped message mappings as `Message` views, and back with shorter texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxopt_core.formats.assembly import put_together
from ctxopt_core.formats.checks import FLAT_MESSAGE, check
from ctxopt_core.formats.content_blocks import extra_texts, take_apart
from ctxopt_core.formats.part_kinds import holds_compaction
from ctxopt_core.formats.tool_calls import ShortenedCalls, call_of, thinks_beside_content
from ctxopt_core.history.trimming import Trimming, kept_items
from ctxopt_core.messages.message import Message, ToolCall
from ctxopt_core.messages.message_views import LazyMessages
from ctxopt_core.messages.placeholder import PLACEHOLDER_ROLE, is_placeholder, is_placeholder_message
from ctxopt_core.messages.roles import KNOWN_ROLES, TOOL_ROLES, checked_role
from ctxopt_core.shortening.shorten_message import Shortened

_PLAIN_KEYS = frozenset({"role", "content"})
_NAMED_KEYS = _PLAIN_KEYS | {"name"}
ROLE_NAMES: Mapping[str, str] = {"human": "user", "ai": "assistant", "model": "assistant", "chatbot": "assistant"}


class OpenAIMessages(LazyMessages[Mapping[str, Any]]):
    """Lazy views of OpenAI-shaped messages, oldest first."""

    __slots__ = ()

    def __init__(self, mappings: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(mappings, message_from_openai, plain_openai, stated_role, compacts_openai)

    def named(self, index: int) -> tuple[str, str, str] | None:
        """Return (role, name, content) of a message that has nothing else, else None."""
        return named_openai(self.items[index])


def message_from_openai(mapping: Mapping[str, Any]) -> Message:
    """Return the view of one OpenAI-shaped message.

    Raises:
        TypeError: It is not a mapping with a string `role`, or its content, its name or its calls are of no
            known shape.
    """
    role = role_of(mapping)
    given = mapping.get("content")
    name = mapping.get("name") or None
    if given and isinstance(given, str) and mapping.keys() <= _NAMED_KEYS and isinstance(name, str | None):
        return Message(role=role, content=given, name=name, synthetic=is_placeholder_message(role, (given,)))
    check(mapping, FLAT_MESSAGE, "message")
    content = take_apart(given)
    return content.message(
        role,
        given,
        calls=tuple(_calls(mapping, fixed=content.thinks or thinks_beside_content(mapping))),
        beside=extra_texts(mapping),
        sealed_beside={key: value for key, value in mapping.items() if key != "content"},
        name=name,
        tool_call_id=mapping.get("tool_call_id") or None,
        synthetic=is_placeholder_message(role, content.texts),
    )


def shortened_openai(mapping: Mapping[str, Any], cut: Shortened) -> dict[str, Any]:
    """Return a copy of an OpenAI-shaped message with the texts and arguments of `cut`; other keys are as they were."""
    if not cut.arguments:
        return {**mapping, "content": put_together(mapping.get("content"), cut)}
    calls = message_from_openai(mapping).tool_calls
    copy = {**mapping, "content": put_together(mapping.get("content"), cut, calls)}
    shorter, seen = ShortenedCalls(calls, cut.arguments), Counter[str | None]()
    if mapping.get("tool_calls"):
        copy["tool_calls"] = shorter.applied(mapping["tool_calls"], seen)
    if isinstance(legacy := mapping.get("function_call"), Mapping):
        copy["function_call"] = shorter.of(legacy, seen)
    return copy


def placeholder_openai(text: str, role: str = PLACEHOLDER_ROLE) -> dict[str, Any]:
    """Return the placeholder as an OpenAI-shaped message."""
    return {"role": role, "content": text}


def fitted_openai(mappings: Sequence[Mapping[str, Any]], trimming: Trimming) -> list[Mapping[str, Any]]:
    """Return the OpenAI-shaped messages that a trimming keeps: originals, copies where shortened, the placeholder."""
    return kept_items(
        mappings,
        trimming,
        shortened=lambda index, cut: shortened_openai(mappings[index], cut),
        added=lambda message: placeholder_openai(message.text, message.role),
    )


def role_of(mapping: Mapping[str, Any]) -> str:
    """Return the role of an OpenAI-shaped message.

    Raises:
        TypeError: It is not a mapping with a string `role`.
        ValueError: No provider takes the role.
    """
    role = mapping.get("role", mapping.get("type")) if isinstance(mapping, Mapping) else None
    if not isinstance(role, str):
        message = f"a message must be a mapping with a string `role`, got {type(mapping).__name__}"
        raise TypeError(message)
    return checked_role(ROLE_NAMES.get(role, role))


def stated_role(mapping: Mapping[str, Any]) -> Any:
    """Return what a message names as its role, unchecked: enough for a scan that looks for system messages."""
    return mapping.get("role") or mapping.get("type")


def compacts_openai(mapping: Mapping[str, Any]) -> bool:
    """Return whether a provider's compaction is in an OpenAI-shaped message."""
    return holds_compaction(mapping.get("content"))


def plain_openai(mapping: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return (role, content) of an OpenAI-shaped message that has nothing else, else None."""
    if len(mapping) != len(_PLAIN_KEYS):
        return None
    content, role = mapping.get("content"), mapping.get("role")
    if not isinstance(content, str) or not isinstance(role, str) or is_placeholder(content):
        return None
    found = ROLE_NAMES.get(role, role)
    return (found, content) if found in KNOWN_ROLES else None


def named_openai(mapping: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return (role, name, content) of an OpenAI-shaped message that has nothing else, else None."""
    if len(mapping) != len(_NAMED_KEYS):
        return None
    content, role, name = mapping.get("content"), mapping.get("role"), mapping.get("name")
    if not isinstance(content, str) or not isinstance(role, str) or not isinstance(name, str):
        return None
    found = ROLE_NAMES.get(role, role)
    if not name or found in TOOL_ROLES or found not in KNOWN_ROLES or is_placeholder(content):
        return None
    return found, name, content


def _calls(mapping: Mapping[str, Any], *, fixed: bool) -> Iterator[ToolCall]:
    for call in mapping.get("tool_calls") or ():
        if isinstance(call, Mapping):
            yield call_of(call, fixed=fixed)
    legacy = mapping.get("function_call")
    if isinstance(legacy, Mapping):
        yield call_of({"name": legacy.get("name"), "arguments": legacy.get("arguments")}, fixed=fixed)
