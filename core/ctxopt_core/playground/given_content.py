"""A chat history and documents as they are given in code, as the text that a box of the playground holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ctxopt_core.fitted_files import as_json
from ctxopt_core.playground.pasted_documents import document_row
from ctxopt_core.request import Document


@runtime_checkable
class Dumps(Protocol):
    """A message or a document of a framework, such as those that are models of pydantic.

    1. `model_dump(mode="json")` returns what it holds as values that JSON knows.
    """

    def model_dump(self, *, mode: str) -> Any:
        """Return what it holds."""


Given: TypeAlias = str | Mapping[str, Any] | Iterable[Mapping[str, Any] | Dumps | Document | str]
"""A text as it would be pasted, a request, or a list of messages or documents."""


def as_pasted(name: str, given: Given | None) -> str:
    """Return the text that stands for what is given: a text as it is, everything else as JSON.

    Args:
        name: What the message of an error calls it.
        given: A text, a mapping, or mappings, objects with `model_dump` and Documents in a list; None for nothing.

    Raises:
        TypeError: It is of another type, or holds what JSON has no value for.
        ValueError: It is nested too deeply.
    """
    if given is None or isinstance(given, str):
        return given or ""
    value = given if isinstance(given, Mapping) else [_plain(name, item) for item in _items(name, given)]
    try:
        return as_json(value, indent=1).decode()
    except TypeError as error:
        message = f"`{name}` must hold values that JSON knows: {error}"
        raise TypeError(message) from error


def _items(name: str, given: object) -> Iterable[Any]:
    if isinstance(given, Iterable) and not isinstance(given, (bytes, Dumps)):
        return given
    raise _wrong(name, given)


def _plain(name: str, item: object) -> Any:
    if isinstance(item, Document):
        return document_row(item)
    if isinstance(item, Dumps):
        return item.model_dump(mode="json")
    if isinstance(item, (Mapping, str)):
        return item
    raise _wrong(name, item)


def _wrong(name: str, given: object) -> TypeError:
    return TypeError(
        f"`{name}` must be a text, or a list of mappings or of objects with `model_dump`, got {type(given).__name__}"
    )
