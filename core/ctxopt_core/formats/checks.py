"""Tables of what the values of a request must be. A fault is named by its place, as in `messages[3].name`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ctxopt_core.formats.part_kinds import CALL_KINDS, RESULT_KIND, TEXT_KINDS, kind_of
from ctxopt_core.models.model_settings import ANSWER_LIMITS, NAME_ARGUMENTS
from ctxopt_core.providers.tool_schemas import RESPONSE_FORMATS, SCHEMA_LISTS

Object: TypeAlias = Mapping[str, Any]
_NONE = "leave it out where there is none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a value of a request must be. A value that is missing or null follows every rule that does not require it.

    Args:
        kinds: The types that it may have. A bool is never a number.
        be: The same in words: "must be a string".
        remedy: What to do where it is something else.
        required: Whether it must be there.
        items: What each item must be, where it is a list.
        fields: Returns what the fields must be, where it is an object, from the object.
    """

    kinds: tuple[type, ...] = (str,)
    be: str = "a string"
    remedy: str = _NONE
    required: bool = False
    items: Rule | None = None
    fields: Callable[[Object], Mapping[str, Rule]] | None = None


def check(value: object, rule: Rule, place: str) -> None:
    """Check a value and all that is in it; `place` is where it is, as in `messages[3]`, empty for the whole request.

    Raises:
        TypeError: It or something in it is something else. The message says where, and what would be right.
    """
    if value is None and not rule.required:
        return
    if not isinstance(value, rule.kinds) or isinstance(value, bool):
        message = f"`{place}` must be {rule.be}, got {type(value).__name__}; {rule.remedy}"
        raise TypeError(message)
    if isinstance(value, Mapping):
        for name, field in (rule.fields(value) if rule.fields else {}).items():
            check(value.get(name), field, f"{place}.{name}" if place else name)
    elif rule.items is not None and isinstance(value, Sequence) and not isinstance(value, str):
        for position, item in enumerate(value):
            check(item, rule.items, f"{place}[{position}]")


def list_of(items: Rule | None, be: str, remedy: str = _NONE) -> Rule:
    """Return the rule of a value that must be a list."""
    return Rule(kinds=(list, tuple), be=be, remedy=remedy, items=items)


def item_of(*kinds: type, be: str, fields: Callable[[Object], Mapping[str, Rule]] | None = None) -> Rule:
    """Return the rule of an item of a list, which may not be null."""
    return Rule(kinds=kinds, be=be, remedy="take it out of the list", required=True, fields=fields)


def _part_fields(part: Object) -> Mapping[str, Rule]:
    kind = kind_of(part)
    if kind in TEXT_KINDS:
        return {**_PART, "text": Rule(remedy="give the text of the part", required=True)}
    if kind in CALL_KINDS:
        return {**_PART, **CALL_FIELDS}
    return {**_PART, "tool_use_id": _ANSWERED, "content": CONTENT} if kind == RESULT_KIND else _PART


def _message_fields(message: Object) -> Mapping[str, Rule]:
    # Some APIs name the role of a message by its `type`.
    is_named_by_type = "role" not in message and isinstance(message.get("type"), str)
    return _MESSAGE if is_named_by_type else {"role": ROLE, **_MESSAGE}


def _document_fields(document: Object) -> Mapping[str, Rule]:
    return _DOCUMENT if "text" in document else {"text": _NO_TEXT}


_NO_CALLS = "leave it out where there are no calls"
ROLE = Rule(remedy="name who speaks", be="a string such as user, assistant or tool", required=True)
_ANSWERED = Rule(remedy="give the id of the call that is answered")
_ARGUMENTS = Rule(kinds=(str, Mapping), be="a string or an object", remedy="write the arguments as JSON")
_FUNCTION_FIELDS = {
    "name": Rule(remedy="give the name of the tool"),
    **dict.fromkeys(("arguments", "args", "input"), _ARGUMENTS),
}
_FUNCTION = Rule(
    kinds=(Mapping,),
    be="an object with `name` and `arguments`",
    remedy="give both of them",
    fields=lambda _: _FUNCTION_FIELDS,
)
CALL_FIELDS: Mapping[str, Rule] = {
    **dict.fromkeys(("id", "call_id"), Rule(remedy="give the id that the result names")),
    "type": Rule(),
    **_FUNCTION_FIELDS,
    "function": _FUNCTION,
    "custom": replace(_FUNCTION, be="an object with `name` and `input`"),
}
_PART = {"type": Rule(remedy="name the kind of the part"), "thinking": Rule(), "signature": Rule()}
CONTENT = Rule(
    kinds=(str, list, tuple),
    be="a string or a list of parts",
    remedy="give null where there is none",
    items=item_of(str, Mapping, be="a string or an object with `type`", fields=_part_fields),
)
_FLAT_MESSAGE: Mapping[str, Rule] = {
    "name": Rule(),
    "tool_calls": list_of(None, "a list of calls", _NO_CALLS),
    "function_call": replace(_FUNCTION, remedy=_NO_CALLS, fields=None),
    "tool_call_id": _ANSWERED,
    "refusal": Rule(),
    "reasoning_content": Rule(),
}
FLAT_MESSAGE = Rule(kinds=(Mapping,), be="a mapping", fields=lambda _: _FLAT_MESSAGE)
"""A message whose calls and content are not looked into."""
_MESSAGE: Mapping[str, Rule] = {
    **_FLAT_MESSAGE,
    "tool_calls": list_of(item_of(Mapping, be="a call", fields=lambda _: CALL_FIELDS), "a list of calls", _NO_CALLS),
    "function_call": replace(_FUNCTION, remedy=_NO_CALLS),
    "content": CONTENT,
}
MESSAGE = item_of(Mapping, be="an object with a string `role`", fields=_message_fields)
_DOCUMENT = {
    "text": Rule(remedy="give null where there is none"),
    "score": Rule(kinds=(int, float), be="a number", remedy="map words such as 'HIGH' to numbers first"),
}
_A_DOCUMENT = "a string, or an object with `text` and perhaps `id` and `score`"
_NO_TEXT = Rule(kinds=(), be="there", remedy=f"a document is {_A_DOCUMENT}", required=True)
_TEXT_BLOCK = {"text": Rule(remedy="give the text of the block", required=True)}
_ARGUMENT_FIELDS: Mapping[str, Rule] = {
    **dict.fromkeys(NAME_ARGUMENTS, Rule(remedy="give the id of the model, for example gpt-4o")),
    **dict.fromkeys(SCHEMA_LISTS, list_of(item_of(Mapping, be="an object that describes a tool"), "a list of tools")),
    **dict.fromkeys(RESPONSE_FORMATS, Rule(kinds=(Mapping, str), be="an object or a string")),
    **dict.fromkeys(ANSWER_LIMITS, Rule(kinds=(int,), be="a whole number of tokens")),
    "tool_choice": Rule(kinds=(Mapping, str), be="a string or an object"),
    "query": Rule(kinds=(str, list, tuple), be="a string or a list of strings", items=item_of(str, be="a string")),
    "documents": list_of(item_of(str, Mapping, be=_A_DOCUMENT, fields=_document_fields), "a list of documents"),
    "system": Rule(
        kinds=(str, list, tuple),
        be="a string or a list of text blocks",
        items=item_of(str, Mapping, be="a string or an object with `text`", fields=lambda _: _TEXT_BLOCK),
    ),
    "instructions": Rule(),
}
ARGUMENTS = Rule(kinds=(Mapping,), be="an object", fields=lambda _: _ARGUMENT_FIELDS)
"""What goes with the messages of a request."""
