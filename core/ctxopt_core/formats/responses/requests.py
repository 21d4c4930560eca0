"""Requests to OpenAI's Responses API: `input`, `instructions`, and what their items must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxopt_core.formats.checks import CALL_FIELDS, CONTENT, Object, Rule, check, item, list_of
from ctxopt_core.formats.responses.groups import (
    MESSAGE,
    REASONING,
    REFERENCE,
    TOOL_CALLS,
    TOOL_RESULTS,
    item_kind,
)
from ctxopt_core.formats.responses.messages import ResponsesMessages

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
_PIECES = list_of(item(Mapping, be="an object with a `text`"), "a list of texts", "give [] where there is none")
_ROLE = Rule(remedy="name who speaks", be="a string such as user or assistant", required=True)
_FIELDS_BY_KIND: Mapping[str, Mapping[str, Rule]] = {
    MESSAGE: {"role": _ROLE, "content": CONTENT},
    **{kind: {**CALL_FIELDS, "call_id": _NEEDS_CALL_ID} for kind in TOOL_CALLS},
    **{kind: {"call_id": _NEEDS_CALL_ID, "output": CONTENT} for kind in TOOL_RESULTS},
    REASONING: {"summary": _PIECES, "content": _PIECES, "encrypted_content": Rule()},
    REFERENCE: {"id": Rule(required=True)},
    "": {"type": Rule(kinds=(), be="a string such as message or function_call", remedy="name it", required=True)},
}
_OTHER_FIELDS: Mapping[str, Rule] = {"role": Rule(remedy="leave it out of what is no message")}


def _item_fields(found: Object) -> Mapping[str, Rule]:
    return {**_FIELDS, **_FIELDS_BY_KIND.get(item_kind(found), _OTHER_FIELDS)}


_ITEMS = list_of(item(Mapping, be="an object with a `type` or a `role`", fields=_item_fields), "a list of items")


def holds_input(beside: Mapping[str, Any]) -> bool:
    """Return whether an object is a request: its `input` is a list of objects, or a string beside a model."""
    given = beside.get("input")
    if isinstance(given, list) and given:
        return any(isinstance(item, Mapping) for item in given)
    return isinstance(given, str | list) and any(beside.get(name) is not None for name in _ONLY_IN_REQUESTS)


def items_of(given: str | list[Any]) -> list[Any]:
    """Return the items of an `input`; a string is the message of a user."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def read_items(items: Sequence[Any], beside: Mapping[str, Any]) -> ResponsesMessages:
    """Return the views of a list of items.

    Args:
        items: The items as they are in the file.
        beside: What goes with them.

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


def places_of(views: ResponsesMessages) -> Iterator[str]:
    """Yield where each group begins in the file, as in `input[3]`."""
    position = 0
    for group in views.items:
        yield f"input[{position}]"
        position += len(group.items)
