"""Requests to OpenAI's Responses API: `input` as `Message` views, and back with shorter texts.

A group of items is one message: what a model wrote in one answer, one result, or one message of anyone else. An item of
an unknown kind is kept as it is and has the tokens of its JSON. A reference to an item that OpenAI has stored has an
allowance, since its content is not known here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxopt_core.conversation.message_tokens import TOKENS_PER_MESSAGE
from ctxopt_core.formats.assembly import Assembly
from ctxopt_core.formats.checks import CALL_FIELDS, CONTENT, ROLE, Object, Rule, check, item_of, list_of
from ctxopt_core.formats.content_blocks import ContentBuilder, take_apart
from ctxopt_core.formats.media import facts_of
from ctxopt_core.formats.part_kinds import TEXT_KINDS, is_compaction, kind_of, text_of
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
from ctxopt_core.formats.sealed import sealed_attachment, sealed_characters
from ctxopt_core.formats.tool_calls import ShortenedCalls, call_of
from ctxopt_core.formats.verbatim import verbatim_texts
from ctxopt_core.history.trimming import Trimming, kept_items
from ctxopt_core.messages.message import Attachment, Message, ToolCall
from ctxopt_core.messages.message_views import LazyMessages
from ctxopt_core.messages.placeholder import PLACEHOLDER_ROLE, is_placeholder, is_placeholder_message
from ctxopt_core.shortening.shorten_message import Shortened

_PLAIN_KEYS = frozenset({"role", "content", "type"})
_MODEL_ROLE, _TOOL_ROLE = "assistant", "tool"
# Tokens of each further item of a group: it is sent as a message, with the frame of one and one token for its role.
_TOKENS_PER_ITEM = TOKENS_PER_MESSAGE + 1
_IMAGE = "image_generation_call"
_WRITTEN, _GIVEN = "output_text", "input_text"
_ONLY_IN_REQUESTS = ("model", "instructions", "documents")
_STORED_AT_OPENAI = {
    "previous_response_id": "the conversation before it",
    "conversation": "the conversation",
    "prompt": "the prompt",
}
_CALL_ID = Rule(remedy="give the id that the call and its result share")
_FIELDS: Mapping[str, Rule] = {
    "type": Rule(remedy="name the kind of the item"),
    "id": Rule(),
    "call_id": _CALL_ID,
    "approval_request_id": Rule(remedy="give the id of the request that is approved"),
}
_NEEDS_CALL_ID = replace(_CALL_ID, required=True)
_PIECES = list_of(item_of(Mapping, be="an object with a `text`"), "a list of texts", "give [] where there is none")
_FIELDS_BY_KIND: Mapping[str, Mapping[str, Rule]] = {
    MESSAGE: {"role": replace(ROLE, be="a string such as user or assistant"), "content": CONTENT},
    **{kind: {**CALL_FIELDS, "call_id": _NEEDS_CALL_ID} for kind in TOOL_CALLS},
    **{kind: {"call_id": _NEEDS_CALL_ID, "output": CONTENT} for kind in TOOL_RESULTS},
    REASONING: {"summary": _PIECES, "content": _PIECES, "encrypted_content": Rule()},
    REFERENCE: {"id": Rule(required=True)},
    "": {"type": Rule(kinds=(), be="a string such as message or function_call", remedy="name it", required=True)},
}
_OTHER_FIELDS: Mapping[str, Rule] = {"role": Rule(remedy="leave it out of what is no message")}


def _item_fields(found: Object) -> Mapping[str, Rule]:
    return {**_FIELDS, **_FIELDS_BY_KIND.get(item_kind(found), _OTHER_FIELDS)}


_ITEMS = list_of(item_of(Mapping, be="an object with a `type` or a `role`", fields=_item_fields), "a list of items")


class ResponsesMessages(LazyMessages[Group]):
    """Lazy views of the groups of a list of items, each of which has a kind."""

    __slots__ = ()

    def __init__(self, items: Sequence[Item]) -> None:
        super().__init__(groups_of(items), message_from_responses, _plain, _role, _compacts)

    def places(self) -> Iterator[str]:
        """Yield where each group begins in the file, as in `input[3]`."""
        position = 0
        for group in self.items:
            yield f"input[{position}]"
            position += len(group.items)


def holds_input(beside: Mapping[str, Any]) -> bool:
    """Return whether an object is a request: its `input` is a list of objects, or a string beside a model."""
    given = beside.get("input")
    if isinstance(given, list) and given:
        return any(isinstance(item, Mapping) for item in given)
    return isinstance(given, str | list) and any(beside.get(name) is not None for name in _ONLY_IN_REQUESTS)


def read_items(items: Sequence[Any], beside: Mapping[str, Any]) -> ResponsesMessages:
    """Return the views of a list of items; `beside` is what goes with them.

    Raises:
        TypeError: An item is of no known shape.
        ValueError: The request continues something that is stored at OpenAI, so that it cannot be counted.
    """
    for name, what in _STORED_AT_OPENAI.items():
        if beside.get(name) is not None:
            message = (
                f"`{name}` must be left out, since {what} is with OpenAI and cannot be counted here; "
                f"got {type(beside[name]).__name__}; put the items themselves into `input`"
            )
            raise ValueError(message)
    check(items, _ITEMS, "input")
    return ResponsesMessages(items)


def message_from_responses(group: Group) -> Message:
    """Return the view of a group of items.

    Raises:
        TypeError: The content of an item is of no known shape.
    """
    first = group.items[0]
    identity = answered_id(first)
    if identity is not None:
        return _result(first, identity)
    found, frames = ContentBuilder(), 0
    for position, item in enumerate(group.items):
        kind = item_kind(item)
        if kind in TOOL_CALLS and position in group.calls:
            found.calls.append(call_of(item, fixed=group.thinks))
            found.attachments += sealed_attachment(sealed_characters({**item, "arguments": None, "input": None}))
        elif position in group.calls:
            arguments = "".join(verbatim_texts(item, kind, found.attachments))
            found.calls.append(ToolCall(id=group.calls[position], arguments=arguments, fixed=True))
            found.attachments += sealed_attachment(sealed_characters(item))
        else:
            frames += 1
            _add(item, kind, found)
    if frames > 1:
        # A call needs no frame: the id that it is counted with has more tokens than one.
        found.attachments.append(Attachment(tokens=(frames - 1) * _TOKENS_PER_ITEM, fixed=True))
    role = str(first["role"]) if item_kind(first) == MESSAGE else _MODEL_ROLE
    is_alone, texts = len(group.items) == 1, tuple(found.texts)
    return Message(
        role=role,
        content=texts[0] if is_alone and isinstance(first.get("content"), str) and texts else texts,
        verbatim=tuple(found.verbatim),
        tool_calls=(*found.calls, *(ToolCall(id=name, fixed=True) for name in group.referred)),
        attachments=tuple(found.attachments),
        sources=tuple(found.sources) if is_alone else (),
        compacts=_compacts(group),
        synthetic=is_alone and is_placeholder_message(role, texts),
    )


def _add(item: Item, kind: str, found: ContentBuilder) -> None:
    """Add an item that is no call and no result."""
    if kind == MESSAGE:
        content = take_apart(item.get("content"))
        found.texts += content.texts
        found.verbatim += content.verbatim
        found.verbatim += [text for call in content.calls for text in (call.name, call.arguments)]
        found.attachments += content.attachments
        found.sources += content.sources
    elif kind == REASONING:
        pieces: list[Any] = [*(item.get("summary") or ()), *(item.get("content") or ())]
        texts = [text for piece in pieces if (text := text_of(piece))]
        found.verbatim += texts
        readable = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        found.attachments += sealed_attachment(sealed_characters(item), readable=readable)
    elif kind == REFERENCE:
        found.attachments.append(Attachment(fixed=True))
    elif kind == _IMAGE:
        found.attachments.append(Attachment(kind="image", fixed=True, facts=facts_of({"data": item.get("result")})))
    else:
        found.verbatim += verbatim_texts(item, kind, found.attachments)
        found.attachments += sealed_attachment(sealed_characters(item))


def _result(item: Item, identity: str) -> Message:
    if item_kind(item) not in TOOL_RESULTS:
        attachments: list[Attachment] = []
        verbatim = tuple(verbatim_texts(item, item_kind(item), attachments))
        attachments += sealed_attachment(sealed_characters(item))
        fixed = tuple(replace(attachment, fixed=True) for attachment in attachments)
        return Message(role=_TOOL_ROLE, verbatim=verbatim, tool_call_id=identity, attachments=fixed)
    output = item.get("output")
    content = take_apart(output)
    return Message(
        role=_TOOL_ROLE,
        content=output if isinstance(output, str) else content.texts,
        verbatim=content.verbatim,
        tool_call_id=identity,
        attachments=content.attachments,
    )


def _plain(group: Group) -> tuple[str, str] | None:
    first = group.items[0]
    if len(group.items) > 1 or not first.keys() <= _PLAIN_KEYS or first.get("type", MESSAGE) != MESSAGE:
        return None
    role, content = first.get("role"), first.get("content")
    if not isinstance(role, str) or not isinstance(content, str) or is_placeholder(content):
        return None
    return role, content


def _compacts(group: Group) -> bool:
    return any(map(is_compaction, group.items))


def _role(group: Group) -> Any:
    return group.items[0].get("role")


def shortened_responses(group: Group, cut: Shortened) -> tuple[Item, ...]:
    """Return the items of a group with the texts and arguments of `cut`; everything else is as it was.

    A message of which nothing is left goes, unless it is alone or reasoning before it needs it.
    """
    assembly, seen = Assembly(cut), Counter[str | None]()
    calls = ShortenedCalls(message_from_responses(group).tool_calls, cut.arguments)
    left: list[Item] = []
    for item in group.items:
        kind = item_kind(item)
        key = "content" if kind == MESSAGE else "output"
        if kind == MESSAGE or kind in TOOL_RESULTS:
            given, is_written = item.get(key), kind == MESSAGE and item.get("role") == PLACEHOLDER_ROLE
            content = assembly.content(given, _WRITTEN if is_written else _GIVEN)
            is_changed = content != (list(given) if isinstance(given, tuple) else given)
            if not is_changed:
                left.append(item)
            elif content or kind != MESSAGE:
                left.append({**item, key: content})
            elif group.thinks or len(group.items) == 1:
                left.append({**item, key: content if isinstance(content, str) else _emptied(item[key])})
        elif kind in TOOL_CALLS and calls:
            left.append(calls.of(item, seen))
        else:
            left.append(item)
    return tuple(left)


def placeholder_responses(text: str, role: str = PLACEHOLDER_ROLE) -> tuple[Item, ...]:
    """Return the placeholder as the items of a group."""
    return ({"role": role, "content": text},)


def fitted_responses(items: Sequence[Item], trimming: Trimming) -> list[Item]:
    """Return the items that a trimming of their groups keeps: originals, copies where shortened, the placeholder."""
    given = groups_of(items)
    groups = kept_items(
        [group.items for group in given],
        trimming,
        shortened=lambda index, cut: shortened_responses(given[index], cut),
        added=lambda message: placeholder_responses(message.text, message.role),
    )
    return [item for group in groups for item in group]


def _emptied(content: Sequence[Any]) -> list[Any]:
    """Return a content with its first text part, emptied."""
    parts = (part for part in content if kind_of(part) in TEXT_KINDS)
    return [{**part, "text": ""} if isinstance(part, Mapping) else {"type": _WRITTEN, "text": ""} for part in parts][:1]
