"""Reads pasted JSON: one value, or one on each line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any

from ctxopt_core.errors import CtxoptError
from ctxopt_core.formats.json_values import parsed

# A bracket alone opens other texts as well, as in "[10:32] User: good morning" or "{{name}} says".
_OPENS_JSON = re.compile(r"\s*(?:\[\s*(?:[\"\[{]|\]\s*\Z)|\{\s*(?:[\"']|\}\s*\Z))")


class UnreadablePasteError(CtxoptError, ValueError):
    """Something pasted cannot be read. The message says where and what is expected, without its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastedJson:
    """The values of pasted JSON.

    Args:
        values: One, or one for each line that is not blank.
        lines: The number of the line of each value, from 1; None where all of it is one value.
    """

    values: tuple[Any, ...]
    lines: tuple[int, ...] | None = None


def opens_json(text: str) -> bool:
    """Return whether a string begins as JSON lists and objects do."""
    return _OPENS_JSON.match(text.removeprefix("\ufeff")) is not None


def read_json(text: str) -> PastedJson:
    """Return the values of a string, which is one JSON value or has one on each line.

    Raises:
        UnreadablePasteError: It is not JSON.
    """
    try:
        return PastedJson(values=(parsed(text),))
    except ValueError as error:
        rows = [
            (number, line) for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1) if line.strip()
        ]
        if not rows or not _is_json(rows[0][1]):
            raise UnreadablePasteError(_refusal(error)) from error
    return PastedJson(values=tuple(_of_line(*row) for row in rows), lines=tuple(number for number, _ in rows))


def _refusal(error: ValueError) -> str:
    if not isinstance(error.__cause__, JSONDecodeError):
        return str(error)
    return f"{error}; paste JSON as a program writes it, with double quotes and `null`"


def _is_json(line: str) -> bool:
    try:
        parsed(line)
    except ValueError:
        return False
    return True


def _of_line(number: int, line: str) -> Any:
    try:
        return parsed(line)
    except ValueError as error:
        message = f"line {number}: {error}; each line must hold one JSON value"
        raise UnreadablePasteError(message) from error
