"""Requests to OpenAI's Responses API: `input`, `instructions`, and the checks of their items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ctxopt_core.formats.checks import check_call, check_content
from ctxopt_core.formats.json_values import Field, check_fields, checked_objects, refuse, text_field
from ctxopt_core.formats.responses.groups import (
    MESSAGE,
    REASONING,
    REFERENCE,
    TOOL_CALLS,
    TOOL_RESULTS,
    Item,
    item_kind,
)
from ctxopt_core.formats.responses.items import ResponsesItems, message_of_group

_LIST = (list, tuple)
_ITEM: Mapping[str, Field] = MappingProxyType(
    {
        "type": text_field("name the kind of the item"),
        "id": text_field(),
        "call_id": text_field("give the id that the call and its result share"),
        "approval_request_id": text_field("give the id of the request that is approved"),
    }
)
_REASONING: Mapping[str, Field] = MappingProxyType(
    {
        "summary": Field(kinds=_LIST, rule="a list of texts", remedy="give [] where there is none"),
        "content": Field(kinds=_LIST, rule="a list of texts", remedy="leave it out where there is none"),
        "encrypted_content": text_field(),
    }
)
_OPAQUE: Mapping[str, Field] = MappingProxyType({"role": text_field("leave it out of what is no message")})
_TELLING = ("model", "instructions", "documents")
_ELSEWHERE = {
    "previous_response_id": "the conversation before it",
    "conversation": "the conversation",
    "prompt": "the prompt",
}


def check_item(item: object, place: str) -> None:
    """Check an item.

    Args:
        item: The item as it is in the file.
        place: Where it stands, as in `input[3]`.

    Raises:
        TypeError: It is no object, names no kind, or a field is something else than it must be.
    """
    if not isinstance(item, Mapping):
        refuse(place, "an object with a `type` or a `role`", item, "take it out of the list")
    check_fields(item, _ITEM, place)
    kind = item_kind(item)
    if not kind:
        refuse(f"{place}.type", "a text such as message or function_call", None, "name the kind of the item")
    if kind == MESSAGE:
        _check_message(item, place)
    elif kind in TOOL_CALLS:
        _check_text(item, "call_id", place)
        check_call(item, place)
    elif kind in TOOL_RESULTS:
        _check_text(item, "call_id", place)
        check_content(item.get("output"), f"{place}.output")
    elif kind == REASONING:
        check_fields(item, _REASONING, place)
        for key in ("summary", "content"):
            checked_objects(item.get(key) or (), "an object with a `text`", f"{place}.{key}")
    elif kind == REFERENCE:
        _check_text(item, "id", place)
    else:
        check_fields(item, _OPAQUE, place)


def _check_message(item: Mapping[str, Any], place: str) -> None:
    if not isinstance(role := item.get("role"), str):
        refuse(f"{place}.role", "a text such as user or assistant", role, "name who speaks")
    check_content(item.get("content"), f"{place}.content")


def _check_text(item: Mapping[str, Any], key: str, place: str) -> None:
    if not isinstance(found := item.get(key), str):
        refuse(f"{place}.{key}", "a text", found, _ITEM[key].remedy)


def holds_input(beside: Mapping[str, Any]) -> bool:
    """Tell whether an object is a request with `input`: a list of objects, or a text with something that tells."""
    given = beside.get("input")
    if isinstance(given, list) and given:
        return any(isinstance(item, Mapping) for item in given)
    return isinstance(given, str | list) and any(beside.get(name) is not None for name in _TELLING)


def items_of(given: str | list[Any]) -> list[Any]:
    """Return the items of an `input`; a text is the message of a user."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def read_items(items: Sequence[Any], beside: Mapping[str, Any]) -> ResponsesItems:
    """Return the views of a list of items.

    Args:
        items: The items as they are in the file.
        beside: What goes with them.

    Raises:
        TypeError: An item is of no known shape.
        ValueError: The request goes on from something that only OpenAI knows, so that it cannot be counted.
    """
    for name, what in _ELSEWHERE.items():
        if beside.get(name) is not None:
            message = (
                f"`{name}` must be left out, since {what} is with OpenAI and cannot be counted here; "
                f"got {type(beside[name]).__name__}; put the items themselves into `input`"
            )
            raise ValueError(message)
    for index, item in enumerate(items):
        check_item(item, f"input[{index}]")
    views = ResponsesItems(items)
    _look_at(views)
    return views


def fitted_input(given: str | Sequence[Any], left: Sequence[Item]) -> str | Sequence[Any]:
    """Return an `input` with what is left of it; a text stays a text.

    Args:
        given: The `input` as it came.
        left: The items that are left of it.
    """
    if not isinstance(given, str):
        return left
    return "".join(str(item["content"]) for item in left)


def _look_at(views: ResponsesItems) -> None:
    """Read each group once, so that what is of no known shape is an error now, which says where."""
    position = 0
    for group in views.groups:
        try:
            message_of_group(group)
        except (TypeError, ValueError) as error:
            message = f"`input[{position}]`: {error}"
            raise type(error)(message) from error
        position += len(group.items)
