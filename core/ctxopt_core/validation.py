"""Checks of numbers: whole numbers, numbers of tokens, percentages."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import SupportsIndex, TypeGuard

_HUNDRED = 100  # percent: all of it


def token_amount(name: str, value: object, *, minimum: int = 1) -> int:
    """Return `value` as a whole number of tokens.

    Args:
        name: The name of the value in error messages.
        value: A whole number, or a string of its digits with or without blanks around them.
        minimum: The smallest valid number.

    Raises:
        ValueError: `value` is no whole number, or is below `minimum`.
    """
    amount = None
    if isinstance(value, str):
        digits = value.strip()
        amount = int(digits) if digits.removeprefix("-").isdecimal() else None
    elif isinstance(value, SupportsIndex) and not isinstance(value, bool):
        amount = operator.index(value)
    if amount is None or amount < minimum:
        message = f"`{name}` must be a whole number of tokens, at least {minimum}, got {value!r}"
        raise ValueError(message)
    return amount


def optional_token_amount(name: str, value: object, *, minimum: int = 1) -> int | None:
    """Return None for None, else the same as `token_amount`."""
    return None if value is None else token_amount(name, value, minimum=minimum)


def is_whole_number(value: object, *, minimum: int = 0) -> TypeGuard[int]:
    """Return whether `value` is an int of at least `minimum`; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= minimum


def check_whole(name: str, value: object, *, minimum: int, unit: str) -> None:
    """Check an option that is a whole number.

    Args:
        name: The name of the option.
        value: What was given.
        minimum: The smallest valid number.
        unit: What is counted, in the plural.

    Raises:
        ValueError: It is no whole number, or below the minimum.
    """
    if not is_whole_number(value, minimum=minimum):
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
        name: The name of the value in error messages.
        value: An int, float, Decimal or Fraction.

    Raises:
        ValueError: `value` is no number from 0 to 100.
    """
    exact = exact_number(value)
    if exact is not None and 0 <= exact <= _HUNDRED:
        return exact
    message = f"`{name}` must be a percentage from 0 to 100, for example 25 or 12.5, got {value!r}"
    raise ValueError(message)


_OTHER_NAMES = {
    "max_tokens": ("max_input_tokens", "target_tokens"),
    "token_limit": ("max_input_tokens", "max_tokens"),
    "max_context_tokens": ("context_window",),
    "num_ctx": ("context_window",),
    "max_output_tokens": ("output_reserve",),
    "max_completion_tokens": ("output_reserve",),
    "tokenizer": ("token_counter", "counter"),
    "memory": ("history",),
}
"""What other libraries call a setting, and what it is called here, the likeliest first."""


def unknown_settings(given: Iterable[object], known: Iterable[str], owner: str) -> str | None:
    """Return what is said about settings that do not exist, with the nearest name of each; None where all do."""
    names = sorted(known)
    unknown = sorted({str(name) for name in given}.difference(names))
    if not unknown:
        return None
    from difflib import get_close_matches  # only an error needs it

    hints = []
    for name in unknown:
        renamed = [other for other in _OTHER_NAMES.get(name, ()) if other in names]
        if near := renamed or get_close_matches(name.lower(), names, n=1):
            hints.append(f"`{near[0]}` for `{name}`" if len(unknown) > 1 else f"`{near[0]}`")
    hint = f"; did you mean {', '.join(hints)}?" if hints else ""
    listed = ", ".join(f"`{name:.80}`" for name in unknown)
    return f"{owner} has no setting {listed}; it has {', '.join(names)}{hint}"
