"""What a message in a file must look like, so that a fault is named where it stands: `messages[3].tool_calls[0].id`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ctxopt_core.json_fields import Field, check_fields, checked_objects, refuse, text_field
from ctxopt_core.part_kinds import CALL_KINDS, RESULT_KIND, TEXT_KINDS, kind_of

_OBJECT = (Mapping,)
_NO_CALLS = "leave it out where there are no calls"
MESSAGE_FIELDS: Mapping[str, Field] = MappingProxyType(
    {
        "name": text_field(),
        "tool_calls": Field(kinds=(list, tuple), rule="a list of calls", remedy=_NO_CALLS),
        "function_call": Field(kinds=_OBJECT, rule="an object with `name` and `arguments`", remedy=_NO_CALLS),
        "tool_call_id": text_field("give the id of the call that is answered"),
        "refusal": text_field(),
        "reasoning_content": text_field(),
    }
)
_CALL: Mapping[str, Field] = MappingProxyType(
    {
        "id": text_field("give the id that the result names"),
        "call_id": text_field("give the id that the result names"),
        "type": text_field(),
        "name": text_field("give the name of the tool"),
        "function": Field(kinds=_OBJECT, rule="an object with `name` and `arguments`", remedy="give both of them"),
        "custom": Field(kinds=_OBJECT, rule="an object with `name` and `input`", remedy="give both of them"),
        **{
            key: Field(kinds=(str, Mapping), rule="a text or an object", remedy="write the arguments as JSON")
            for key in ("arguments", "args", "input")
        },
    }
)
_PART: Mapping[str, Field] = MappingProxyType(
    {"type": text_field("name the kind of the part"), "thinking": text_field(), "signature": text_field()}
)
_CONTENT = Field(kinds=(str, list, tuple), rule="a text or a list of parts", remedy="give null where there is none")
_RESULT: Mapping[str, Field] = MappingProxyType(
    {"tool_use_id": text_field("give the id of the call that is answered"), "content": _CONTENT}
)
_PART_RULE = "a text or an object with `type`"


def check_message(message: object, place: str) -> None:
    """Check a message of OpenAI's or Anthropic's chat API.

    Args:
        message: The message as it is in the file.
        place: Where it stands, as in `messages[3]`.

    Raises:
        TypeError: A field is something else than it must be. The message says which one, and what would be right.
    """
    if not isinstance(message, Mapping):
        refuse(place, "an object with a text `role`", message, "take it out of the list")
    key = "role" if "role" in message else "type"
    if not isinstance(role := message.get(key), str):
        refuse(f"{place}.role", "a text such as user, assistant or tool", role, "name who speaks")
    check_fields(message, MESSAGE_FIELDS, place)
    check_content(message.get("content"), f"{place}.content")
    for position, call in enumerate(checked_objects(message.get("tool_calls") or (), "a call", f"{place}.tool_calls")):
        check_call(call, f"{place}.tool_calls[{position}]")
    if message.get("function_call") is not None:
        check_call(message["function_call"], f"{place}.function_call")


def check_call(call: Mapping[str, Any], place: str) -> None:
    """Check a tool call in any of its usual shapes.

    Raises:
        TypeError: A field is something else than it must be.
    """
    check_fields(call, _CALL, place)
    for key in ("function", "custom"):
        if call.get(key) is not None:
            check_fields(call[key], _CALL, f"{place}.{key}")


def check_content(content: object, place: str) -> None:
    """Check the content of a message or of a result.

    Raises:
        TypeError: It is neither a text nor a list of parts nor null, or a part is of no known shape.
    """
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, Sequence):
        refuse(place, _CONTENT.rule, content, _CONTENT.remedy)
    for position, part in enumerate(content):
        _check_part(part, f"{place}[{position}]")


def _check_part(part: object, place: str) -> None:
    if isinstance(part, str):
        return
    if not isinstance(part, Mapping):
        refuse(place, _PART_RULE, part, "take it out of the list")
    check_fields(part, _PART, place)
    kind = kind_of(part)
    if kind in TEXT_KINDS and not isinstance(part.get("text"), str):
        refuse(f"{place}.text", "a text", part.get("text"), "give the text of the part")
    if kind in CALL_KINDS:
        check_call(part, place)
    elif kind == RESULT_KIND:
        check_fields(part, _RESULT, place)
        check_content(part.get("content"), f"{place}.content")
