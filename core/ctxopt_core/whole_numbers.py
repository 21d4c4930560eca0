"""The check that an option is a whole number in its range."""

from __future__ import annotations


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
