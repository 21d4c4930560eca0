"""JSON texts as values, where what is read is what other readers would read, and comes out again as it was."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, NoReturn

from ctxopt_core.visible_text import beginning

_LONGEST_KEY = 40


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
            f"the JSON names the key {beginning(twice, _LONGEST_KEY)!r} of one object twice, "
            "and readers of JSON do not agree which counts; leave one out"
        )
        raise RefusedJSONError(message)
    return found
