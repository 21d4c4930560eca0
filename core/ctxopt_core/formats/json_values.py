"""Reads JSON strictly, so that duplicate keys, NaN and numbers that are too large are errors; and writes it."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, NoReturn

from ctxopt_core.text.display_text import preview

_LONGEST_KEY = 40  # characters of a key that a message shows: it keeps to a line of a terminal


class RefusedJSONError(ValueError):
    """JSON that not all readers read alike."""


def parsed(text: str) -> Any:
    """Return the value of a JSON string; a byte order mark before it is skipped.

    Raises:
        RefusedJSONError: It has a number that not all readers of JSON can read, or a key of an object twice, of which
            one would be lost.
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
        message = "the JSON holds a number that is too large for other readers of JSON; write it as a string"
        raise RefusedJSONError(message) from error


def as_json(value: Any, *, indent: int | None = None) -> bytes:
    """Return a value as JSON in UTF-8; strings with lone surrogates are written with escapes, and read back the same.

    Raises:
        ValueError: It is nested too deeply.
    """
    separators = (",", ":") if indent is None else None
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent, separators=separators).encode()
    except RecursionError as error:
        message = "the JSON is nested too deeply to be written"
        raise ValueError(message) from error


def _finite(literal: str) -> float:
    number = float(literal)
    if math.isinf(number):
        raise ValueError(literal)
    return number


def _no_number(literal: str) -> NoReturn:
    message = f"the JSON holds {literal}, which is no number in JSON; write null or a string in its place"
    raise RefusedJSONError(message)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        message = (
            f"the JSON names the key {preview(twice, _LONGEST_KEY)!r} of one object twice, "
            "and readers of JSON do not agree which one to take; leave one out"
        )
        raise RefusedJSONError(message)
    return found
