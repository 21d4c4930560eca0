"""OpenAI-shaped message mappings as messages, and back with shortened texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxopt_core.formats.checks import MESSAGE_FIELDS
from ctxopt_core.formats.content_blocks import extra_texts, put_together, take_apart
from ctxopt_core.formats.json_values import check_fields
from ctxopt_core.formats.tool_calls import ShortenedCalls, call_of, thinks_beside_content
from ctxopt_core.history.trimming import Trimming, kept_items
from ctxopt_core.messages.message import Message, ToolCall
from ctxopt_core.messages.message_views import SYSTEM_ROLES, backwards
from ctxopt_core.messages.placeholder import PLACEHOLDER_ROLE, is_placeholder, is_placeholder_message
from ctxopt_core.shortening.shorten_message import Shortened

_PLAIN_KEYS = frozenset({"role", "content"})
_SPOKEN_KEYS = frozenset({"role", "content", "name"})
ROLE_NAMES: Mapping[str, str] = {"human": "user", "ai": "assistant", "model": "assistant", "chatbot": "assistant"}


def message_from_openai(mapping: Mapping[str, Any]) -> Message:
    """Return the view of one OpenAI-shaped message.

    Raises:
        TypeError: It is not a mapping with a text `role`, or its content, its name or its calls are of no known shape.
    """
    role = role_of(mapping)
    said = mapping.get("content")
    name = mapping.get("name") or None
    if said and isinstance(said, str) and mapping.keys() <= _SPOKEN_KEYS and isinstance(name, str | None):
        return Message(role=role, content=said, name=name, synthetic=is_placeholder_message(role, (said,)))
    check_fields(mapping, MESSAGE_FIELDS, "message")
    content = take_apart(said)
    calls = tuple(_calls(mapping, fixed=content.thinks or thinks_beside_content(mapping)))
    known = {call.id for call in calls}
    texts = content.texts
    return Message(
        role=role,
        content=texts[0] if isinstance(said, str) and texts else texts,
        verbatim=(*content.verbatim, *extra_texts(mapping)),
        name=name,
        tool_calls=calls + tuple(call for call in content.calls if call.id not in known),
        tool_call_id=mapping.get("tool_call_id") or None,
        tool_results=content.results if role == "user" else (),
        attachments=content.attachments,
        synthetic=is_placeholder_message(role, texts),
    )


def shortened_openai(mapping: Mapping[str, Any], cut: Shortened) -> dict[str, Any]:
    """Return a copy of an OpenAI-shaped message with shortened texts and arguments; every other key is as it was."""
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


def placeholder_openai(text: str) -> dict[str, Any]:
    """Return the placeholder as an OpenAI-shaped message."""
    return {"role": PLACEHOLDER_ROLE, "content": text}


def fitted_openai(mappings: Sequence[Mapping[str, Any]], trimming: Trimming) -> list[Mapping[str, Any]]:
    """Return the OpenAI-shaped messages that a trimming keeps: originals, copies where shortened, the placeholder."""
    return kept_items(
        mappings,
        trimming,
        shortened=lambda index, cut: shortened_openai(mappings[index], cut),
        placeholder=lambda text, _: placeholder_openai(text),
    )


def role_of(mapping: Mapping[str, Any]) -> str:
    """Return the role of an OpenAI-shaped message.

    Raises:
        TypeError: It is not a mapping with a text `role`.
    """
    role = mapping.get("role", mapping.get("type")) if isinstance(mapping, Mapping) else None
    if not isinstance(role, str):
        message = f"a message must be a mapping with a text `role`, got {type(mapping).__name__}"
        raise TypeError(message)
    return ROLE_NAMES.get(role, role)


class OpenAIMessages:
    """Lazy views of OpenAI-shaped messages."""

    __slots__ = ("_mappings",)

    def __init__(self, mappings: Sequence[Mapping[str, Any]]) -> None:
        self._mappings = mappings

    def __len__(self) -> int:
        return len(self._mappings)

    def __getitem__(self, index: int) -> Message:
        return message_from_openai(self._mappings[index])

    def plain(self, index: int) -> tuple[str, str] | None:
        """Return (role, text) of a message that has nothing else."""
        return plain_openai(self._mappings[index])

    def backwards(self, stop: int) -> Iterator[tuple[str, str] | None]:
        """Yield what `plain` returns for each message before `stop`, newest first."""
        return backwards(plain_openai, self._mappings, stop)

    def system_indices(self, start: int, stop: int) -> Sequence[int]:
        """Return the indices of system and developer messages in [start, stop)."""
        mappings = self._mappings
        return [i for i in range(start, stop) if (mappings[i].get("role") or mappings[i].get("type")) in SYSTEM_ROLES]


def plain_openai(mapping: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return (role, text) of an OpenAI-shaped message that has nothing else, else None."""
    if len(mapping) != len(_PLAIN_KEYS):
        return None
    content, role = mapping.get("content"), mapping.get("role")
    if not isinstance(content, str) or not isinstance(role, str) or is_placeholder(content):
        return None
    return ROLE_NAMES.get(role, role), content


def _calls(mapping: Mapping[str, Any], *, fixed: bool) -> Iterator[ToolCall]:
    for call in mapping.get("tool_calls") or ():
        if isinstance(call, Mapping):
            yield call_of(call, fixed=fixed)
    legacy = mapping.get("function_call")
    if isinstance(legacy, Mapping):
        yield call_of({"name": legacy.get("name"), "arguments": legacy.get("arguments")}, fixed=fixed)
