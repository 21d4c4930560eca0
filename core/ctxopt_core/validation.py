"""Checks of numbers: whole numbers, amounts of tokens, percentages."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction
from typing import SupportsIndex

_HUNDRED = 100  # percent: all of it


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


def check_whole(name: str, value: object, *, minimum: int, unit: str) -> None:
    """Check an option.

    Args:
        name: The option's name.
        value: What was given.
        minimum: The least that it may be.
        unit: What it counts.

    Raises:
        ValueError: It is no whole number, or below the minimum.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        message = f"`{name}` must be a whole number of {unit}, {minimum} or more, got {value!r}"
        raise ValueError(message)


def exact_number(value: object) -> Fraction | None:
    """Return the number that the decimal form of `value` means, or None if it is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        return None
    if isinstance(value, float):
        return Fraction(float.__repr__(value)) if math.isfinite(value) else None
    if isinstance(value, Decimal) and not value.is_finite():
        return None
    return Fraction(value)


def exact_percentage(name: str, value: object) -> Fraction:
    """Return a percentage as the exact number that its decimal form means.

    Args:
        name: What the message of an error calls the value.
        value: An int, float, Decimal or Fraction.

    Raises:
        ValueError: `value` is no number from 0 to 100.
    """
    exact = exact_number(value)
    if exact is not None and 0 <= exact <= _HUNDRED:
        return exact
    message = f"`{name}` must be a percentage from 0 to 100, for example 25 or 12.5, got {value!r}"
    raise ValueError(message)
