"""What the playground was given, and the request that is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ctxopt_core.documents.document import Document
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.formats.json_values import as_json
from ctxopt_core.formats.request_files import RequestFile, fitted_content
from ctxopt_core.request import ContextRequest
from ctxopt_playground.readers.documents import document_row
from ctxopt_playground.readers.history import PastedHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedRequest:
    """The request that is compared.

    Args:
        request: The request.
        stored: The same as JSON of a file; None for one that was given in code.
        replaced: How many documents of the history, or of what was given in code, the other box replaces.
    """

    request: ContextRequest
    stored: RequestFile | None = None
    replaced: int = 0

    def fitted_json(self, fitted: FittedContext) -> bytes | None:
        """Return the fitted request as the JSON of a file; None for one that was given in code."""
        return None if self.stored is None else as_json(fitted_content(self.stored, fitted), indent=1)


def combined(
    history: PastedHistory | None, documents: Sequence[Document] | None, given: ContextRequest | None
) -> CombinedRequest:
    """Return one request of what is in the boxes, and of what was given in code where they are empty.

    Args:
        history: The content of the box for the history, perhaps with documents.
        documents: The content of the box for documents; they replace the others.
        given: A request that was given in code, used where there is no history.
    """
    stored = None if history is None else history.stored
    request = given or ContextRequest() if stored is None else stored.request
    if documents is None:
        return CombinedRequest(request=request, stored=stored)
    return CombinedRequest(
        request=replace(request, documents=tuple(documents)),
        stored=None if stored is None else _with_documents(stored, documents),
        replaced=len(request.documents),
    )


def _with_documents(stored: RequestFile, documents: Sequence[Document]) -> RequestFile:
    """Return a stored request with other documents; the line of a batch file keeps its envelope."""
    given: Any = stored.content
    inside: dict[str, Any] = {**stored.arguments, "documents": [document_row(document) for document in documents]}
    if isinstance(given, list):
        inside[stored.messages_key] = given
    content = inside if stored.envelope is None else {**dict(given), stored.envelope: inside}
    return replace(stored, content=content, request=replace(stored.request, documents=tuple(documents)))


@runtime_checkable
class Dumps(Protocol):
    """A message or a document of a framework, such as a pydantic model.

    1. `model_dump(mode="json")` returns its content as JSON values.
    """

    def model_dump(self, *, mode: str) -> Any:
        """Return the content."""


Given: TypeAlias = str | Mapping[str, Any] | Iterable[Mapping[str, Any] | Dumps | Document | str]
"""A string as it would be pasted, a request, or a list of messages or documents."""


def as_pasted(name: str, given: Given | None) -> str:
    """Return what is given as it would be pasted: a string as it is, everything else as JSON.

    Args:
        name: The argument's name, for the message of an error.
        given: A string, a mapping, or a list of mappings, objects with `model_dump` and Documents; None for nothing.

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
        f"`{name}` must be a string, or a list of mappings or of objects with `model_dump`, got {type(given).__name__}"
    )
