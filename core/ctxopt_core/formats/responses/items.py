"""Items of OpenAI's Responses API as messages.

A group of items is one message: what a model wrote in one go, one result, or one message of anyone else. An item whose
kind is not known is kept as it is and counts its JSON. A reference to an item that OpenAI has stored counts an
allowance, since nobody here knows what is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ctxopt_core.conversation.conversation import TOKENS_PER_MESSAGE
from ctxopt_core.formats.content_blocks import take_apart
from ctxopt_core.formats.content_parts import text_of, verbatim_texts
from ctxopt_core.formats.media import facts_of
from ctxopt_core.formats.responses.groups import (
    MESSAGE,
    REASONING,
    REFERENCE,
    TOOL_CALLS,
    TOOL_RESULTS,
    Group,
    Item,
    answered_id,
    groups_of,
    item_kind,
)
from ctxopt_core.formats.tool_calls import call_of
from ctxopt_core.messages.message import Attachment, Message, ToolCall
from ctxopt_core.messages.message_views import SYSTEM_ROLES, backwards
from ctxopt_core.messages.placeholder import is_placeholder, is_placeholder_message

_PLAIN_KEYS = frozenset({"role", "content", "type"})
_MODEL_ROLE, _TOOL_ROLE = "assistant", "tool"
_TOKENS_PER_ITEM = TOKENS_PER_MESSAGE + 1
_IMAGE = "image_generation_call"


class ResponsesItems:
    """Lazy views of the groups of a list of items.

    Args:
        items: The items, each of which has a kind.
    """

    __slots__ = ("groups",)

    def __init__(self, items: Sequence[Item]) -> None:
        self.groups = groups_of(items)

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, index: int) -> Message:
        return message_of_group(self.groups[index])

    def plain(self, index: int) -> tuple[str, str] | None:
        """Return (role, text) of a message that has nothing else."""
        return _plain(self.groups[index])

    def backwards(self, stop: int) -> Iterator[tuple[str, str] | None]:
        """Yield what `plain` returns for each message before `stop`, newest first."""
        return backwards(_plain, self.groups, stop)

    def system_indices(self, start: int, stop: int) -> Sequence[int]:
        """Return the indices of system and developer messages in [start, stop)."""
        return [i for i in range(start, stop) if self.groups[i].items[0].get("role") in SYSTEM_ROLES]


def message_of_group(group: Group) -> Message:
    """Return the view of a group of items.

    Raises:
        TypeError: The content of an item is of no known shape.
    """
    first = group.items[0]
    identity = answered_id(first)
    if identity is not None:
        return _result(first, identity)
    found = _Written(group)
    for position, item in enumerate(group.items):
        found.add(position, item)
    return found.message()


class _Written:
    """What is written in the items of a group, as they are read."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._texts: list[str] = []
        self._verbatim: list[str] = []
        self._attachments: list[Attachment] = []
        self._calls: list[ToolCall] = []
        self._framed = 0

    def add(self, position: int, item: Item) -> None:
        kind = item_kind(item)
        if position in self._group.calls:
            self._calls.append(self._call(item, self._group.calls[position]))
            return
        self._framed += 1
        if kind == MESSAGE:
            content = take_apart(item.get("content"))
            self._texts += content.texts
            self._verbatim += content.verbatim
            self._verbatim += [text for call in content.calls for text in (call.name, call.arguments)]
            self._attachments += content.attachments
        elif kind == REASONING:
            self._verbatim += _thoughts(item)
        elif kind == REFERENCE:
            self._attachments.append(Attachment(fixed=True))
        elif kind == _IMAGE:
            self._attachments.append(Attachment(kind="image", fixed=True, facts=facts_of({"data": item.get("result")})))
        else:
            self._verbatim += verbatim_texts(item, kind, self._attachments)

    def message(self) -> Message:
        first = self._group.items[0]
        role = str(first["role"]) if item_kind(first) == MESSAGE else _MODEL_ROLE
        texts = tuple(self._texts)
        one_text = len(self._group.items) == 1 and isinstance(first.get("content"), str)
        return Message(
            role=role,
            content=texts[0] if one_text and texts else texts,
            verbatim=tuple(self._verbatim),
            tool_calls=(*self._calls, *(ToolCall(id=name, fixed=True) for name in self._group.referred)),
            attachments=(*self._attachments, *self._framing()),
            synthetic=len(self._group.items) == 1 and is_placeholder_message(role, texts),
        )

    def _call(self, item: Item, identity: str) -> ToolCall:
        if item_kind(item) in TOOL_CALLS:
            return call_of(item, fixed=self._group.thinks)
        told = "".join(verbatim_texts(item, item_kind(item), self._attachments))
        return ToolCall(id=identity, arguments=told, fixed=True)

    def _framing(self) -> tuple[Attachment, ...]:
        """Return the framing of each item beyond the first; the id that a call is counted with is more than its own."""
        more = self._framed - 1
        return (Attachment(tokens=more * _TOKENS_PER_ITEM, fixed=True),) if more > 0 else ()


def _result(item: Item, identity: str) -> Message:
    if item_kind(item) not in TOOL_RESULTS:
        attachments: list[Attachment] = []
        told = verbatim_texts(item, item_kind(item), attachments)
        return Message(
            role=_TOOL_ROLE, verbatim=tuple(told), tool_call_id=identity, attachments=tuple(_fixed(attachments))
        )
    output = item.get("output")
    content = take_apart(output)
    return Message(
        role=_TOOL_ROLE,
        content=output if isinstance(output, str) else content.texts,
        verbatim=content.verbatim,
        tool_call_id=identity,
        attachments=content.attachments,
    )


def _fixed(attachments: Sequence[Attachment]) -> Iterator[Attachment]:
    return (replace(attachment, fixed=True) for attachment in attachments)


def _thoughts(item: Item) -> list[str]:
    """Return the reasoning that can be read; what is sealed is not counted, as in OpenAI's other shapes."""
    pieces: list[Any] = [*(item.get("summary") or ()), *(item.get("content") or ())]
    return [text for piece in pieces if (text := text_of(piece))]


def _plain(group: Group) -> tuple[str, str] | None:
    first = group.items[0]
    if len(group.items) > 1 or not first.keys() <= _PLAIN_KEYS or first.get("type", MESSAGE) != MESSAGE:
        return None
    role, content = first.get("role"), first.get("content")
    if not isinstance(role, str) or not isinstance(content, str) or is_placeholder(content):
        return None
    return role, content
