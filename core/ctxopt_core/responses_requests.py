"""Requests to OpenAI's Responses API: `input`, which is a text or a list of items, and `instructions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxopt_core.responses_checks import check_item
from ctxopt_core.responses_groups import Item
from ctxopt_core.responses_items import ResponsesItems, message_of_group

_TELLING = ("model", "instructions", "documents")
_ELSEWHERE = {
    "previous_response_id": "the conversation before it",
    "conversation": "the conversation",
    "prompt": "the prompt",
}


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
