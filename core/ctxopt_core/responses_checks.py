"""What an item of OpenAI's Responses API must look like, so that a fault is named where it stands: `input[3].id`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ctxopt_core.json_fields import Field, check_fields, checked_objects, refuse, text_field
from ctxopt_core.message_checks import check_call, check_content
from ctxopt_core.responses_groups import (
    MESSAGE,
    REASONING,
    REFERENCE,
    TOOL_CALLS,
    TOOL_RESULTS,
    item_kind,
)

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
