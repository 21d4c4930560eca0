"""Fields of JSON objects that must have a certain type, and the error that says where one has not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """What a field of an object must be, where it is there at all and not null.

    Args:
        kinds: The types that it may have.
        rule: The same in words, as in "must be a text".
        remedy: What to do where it is something else.
    """

    kinds: tuple[type, ...]
    rule: str
    remedy: str = "leave it out where there is none"


def text_field(remedy: str = "leave it out where there is none") -> Field:
    """Return what a field must be that is a text."""
    return Field(kinds=(str,), rule="a text", remedy=remedy)


def check_fields(found: Mapping[str, Any], fields: Mapping[str, Field], place: str) -> None:
    """Check the fields of an object.

    Args:
        found: The object.
        fields: What they must be, by their names. One that is missing or null is passed over.
        place: Where the object stands, as in `messages[3]`; empty for the whole.

    Raises:
        TypeError: A field is something else.
    """
    for name, field in fields.items():
        value = found.get(name)
        if value is not None and not isinstance(value, field.kinds):
            refuse(f"{place}.{name}" if place else name, field.rule, value, field.remedy)


def checked_objects(found: Sequence[object], rule: str, place: str) -> Sequence[Mapping[str, Any]]:
    """Return the items of a list, each of which must be an object.

    Raises:
        TypeError: One is something else.
    """
    objects: list[Mapping[str, Any]] = []
    for position, item in enumerate(found):
        if not isinstance(item, Mapping):
            refuse(f"{place}[{position}]", rule, item, "take it out of the list")
        objects.append(item)
    return objects


def refuse(place: str, rule: str, value: object, remedy: str) -> NoReturn:
    """Refuse something of a wrong type: where it stands, what it must be, what it is, what to do.

    Raises:
        TypeError: Always.
    """
    message = f"`{place}` must be {rule}, got {type(value).__name__}; {remedy}"
    raise TypeError(message)
