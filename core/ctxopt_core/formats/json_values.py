"""Read JSON strictly: duplicate keys, NaN and lone surrogates are errors that name their place."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ctxopt_core.text.display_text import preview

_LONGEST_KEY = 40


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


class RefusedJSONError(ValueError):
    """JSON that could be read, but not by all readers alike."""


def parsed(text: str) -> Any:
    """Return the value that a JSON text stands for; a byte order mark before it is passed over.

    Raises:
        RefusedJSONError: It holds a number that not all readers of JSON can read, or names a key of an object twice,
            of which one would be lost.
        ValueError: It is not JSON, or is nested too deeply.
    """
    try:
        return json.loads(
            text.removeprefix("\ufeff"), parse_float=_finite, parse_constant=_no_number, object_pairs_hook=_object
        )
    except RefusedJSONError:
        raise
    except json.JSONDecodeError as error:
        message = f"not JSON: {error}"
        raise ValueError(message) from error
    except RecursionError as error:
        message = "the JSON is nested too deeply to be read"
        raise ValueError(message) from error
    except ValueError as error:
        message = "the JSON holds a number that is too large for other readers of JSON; write it as a text"
        raise RefusedJSONError(message) from error


def _finite(literal: str) -> float:
    number = float(literal)
    if math.isinf(number):
        raise ValueError(literal)
    return number


def _no_number(literal: str) -> NoReturn:
    message = f"the JSON holds {literal}, which is no number in JSON; write null or a text in its place"
    raise RefusedJSONError(message)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        message = (
            f"the JSON names the key {preview(twice, _LONGEST_KEY)!r} of one object twice, "
            "and readers of JSON do not agree which counts; leave one out"
        )
        raise RefusedJSONError(message)
    return found
