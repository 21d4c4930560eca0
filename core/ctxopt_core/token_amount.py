"""Amounts of tokens as people write them: whole numbers, in code or as text in a settings file."""

from __future__ import annotations

import operator
from typing import SupportsIndex


def token_amount(name: str, value: object, *, minimum: int = 1) -> int:
    """Return `value` as a whole number of tokens.

    Args:
        name: What the message of an error calls the value.
        value: A whole number, or its digits as text; blanks around them do not matter.
        minimum: The smallest amount that makes sense.

    Raises:
        ValueError: `value` is no whole number, or is below `minimum`.
    """
    amount = _whole_number(value)
    if amount is None or amount < minimum:
        message = f"`{name}` must be a whole number of tokens, at least {minimum}, got {value!r}"
        raise ValueError(message)
    return amount


def optional_token_amount(name: str, value: object, *, minimum: int = 1) -> int | None:
    """Return None for None, else the same as `token_amount`."""
    return None if value is None else token_amount(name, value, minimum=minimum)


def _whole_number(value: object) -> int | None:
    if isinstance(value, str):
        digits = value.strip()
        return int(digits) if digits.removeprefix("-").isdecimal() else None
    return operator.index(value) if isinstance(value, SupportsIndex) and not isinstance(value, bool) else None
