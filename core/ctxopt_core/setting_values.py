"""Settings that may be given as a frozen value or as a mapping of its fields, as a form or a file gives it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from ctxopt_core.budget import Shares
from ctxopt_core.document_policy import DocumentPolicy
from ctxopt_core.history import HistoryPolicy

Settings: TypeAlias = Shares | DocumentPolicy | HistoryPolicy
T = TypeVar("T", bound=Settings)


def as_value(kind: type[T], given: object, *, name: str = "") -> T:
    """Return an instance of `kind` as it is, and one made of a mapping of its fields.

    Args:
        kind: What the setting is.
        given: What the caller gave.
        name: What the message of an error calls it, where the caller does not say it.

    Raises:
        ValueError: It is neither, or a field is unknown or out of its range.
        TypeError: A field has a type that it cannot have.
    """
    if isinstance(given, kind):
        return given
    prefix = f"`{name}`: " if name else ""
    names = {field.name for field in fields(kind) if field.init}
    if not isinstance(given, Mapping):
        message = f"{prefix}expected {kind.__name__} or a mapping of its fields, got {type(given).__name__}"
        raise ValueError(message)  # noqa: TRY004 - frameworks gather ValueErrors of all settings
    if unknown := sorted(map(str, set(given) - names)):
        message = f"{prefix}{kind.__name__} has no {', '.join(unknown)}; it has {', '.join(sorted(names))}"
        raise ValueError(message)
    return kind(**given)


def reject_unknown_settings(given: Mapping[str, object], known: Iterable[str], owner: str) -> None:
    """Refuse settings that there are not.

    Args:
        given: What the caller gave, by name.
        known: The settings that there are.
        owner: Whose settings they are, for the message of the error.

    Raises:
        TypeError: There is no such setting.
    """
    if unknown := sorted(set(given).difference(known)):
        message = f"{owner} has no setting {', '.join(unknown)}; it has {', '.join(sorted(known))}"
        raise TypeError(message)


def plain_fields(value: Settings) -> dict[str, Any]:
    """Return the fields that make a value, ready to be stored as JSON."""
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value) if field.init}


def _plain(value: object) -> object:
    return float(value) if isinstance(value, (Decimal, Fraction)) else value
