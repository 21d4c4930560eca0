"""What goes with the messages of a request in a file: documents, tools, the model and the limit of its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ctxopt_core.json_fields import Field, check_fields, checked_objects, refuse, text_field
from ctxopt_core.model_settings import ANSWER_LIMITS, NAME_ARGUMENTS, RESPONSE_FORMATS, SCHEMA_LISTS, schemas_in
from ctxopt_core.request import Document

_LIST = (list, tuple)
_NONE = "leave it out where there is none"
_ARGUMENTS: Mapping[str, Field] = MappingProxyType(
    {
        **dict.fromkeys(NAME_ARGUMENTS, text_field("give the id of the model, for example gpt-4o")),
        **dict.fromkeys(SCHEMA_LISTS, Field(kinds=_LIST, rule="a list of tools", remedy=_NONE)),
        **dict.fromkeys(RESPONSE_FORMATS, Field(kinds=(Mapping, str), rule="an object or a text", remedy=_NONE)),
        "tool_choice": Field(kinds=(Mapping, str), rule="a text or an object", remedy=_NONE),
        "query": Field(kinds=(str, *_LIST), rule="a text or a list of texts", remedy=_NONE),
        "documents": Field(kinds=_LIST, rule="a list of documents", remedy=_NONE),
        "system": Field(kinds=(str, *_LIST), rule="a text or a list of text blocks", remedy=_NONE),
        "instructions": text_field(),
    }
)
_DOCUMENT = "a text, or an object with `text` and perhaps `id` and `score`"
_DOCUMENT_FIELDS: Mapping[str, Field] = MappingProxyType(
    {
        "text": text_field("give null where there is none"),
        "score": Field(kinds=(int, float), rule="a number", remedy="map words such as 'HIGH' to numbers first"),
    }
)


def check_arguments(beside: Mapping[str, Any]) -> None:
    """Check what goes with the messages of a request.

    Raises:
        TypeError: An argument that is read is something else than it must be.
    """
    check_fields(beside, _ARGUMENTS, "")
    for name in SCHEMA_LISTS:
        checked_objects(beside.get(name) or (), "an object that describes a tool", name)
    for name in ANSWER_LIMITS:
        limit = beside.get(name)
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            refuse(name, "a whole number of tokens", limit, _NONE)
    _check_texts(beside.get("query"), "query")
    _check_blocks(beside.get("system"))


def schemas_of(beside: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the tools, the choice of one and the formats of the answer: what is counted as the provider counts it."""
    written = beside.get("text")
    form = written.get("format") if isinstance(written, Mapping) else None
    formats = [form] if isinstance(form, Mapping) and form.get("type") != "text" else []
    return (*schemas_in(beside), *formats)


def documents_of(beside: Mapping[str, Any]) -> tuple[Document, ...]:
    """Return the documents of a request.

    Raises:
        TypeError: One is neither a text nor an object with `text`, or has a score that is no number.
    """
    return tuple(_document(item, position) for position, item in enumerate(beside.get("documents") or ()))


def _document(item: object, position: int) -> Document:
    place = f"documents[{position}]"
    if isinstance(item, str):
        return Document(text=item)
    if not isinstance(item, Mapping):
        refuse(place, _DOCUMENT, item, "take it out of the list")
    if "text" not in item:
        refuse(f"{place}.text", "there", None, f"a document is {_DOCUMENT}")
    check_fields(item, _DOCUMENT_FIELDS, place)
    identity, source, score = item.get("id"), item.get("source"), item.get("score")
    if isinstance(score, bool):
        refuse(f"{place}.score", "a number", score, _DOCUMENT_FIELDS["score"].remedy)
    return Document(
        text=item["text"],
        id=None if identity is None else str(identity),
        score=score,
        source=source if isinstance(source, str) else None,
    )


def _check_texts(found: object, name: str) -> None:
    for position, text in _items(found):
        if not isinstance(text, str):
            refuse(f"{name}[{position}]", "a text", text, "take it out of the list")


def _check_blocks(found: object) -> None:
    for position, block in _items(found):
        text = block.get("text") if isinstance(block, Mapping) else block
        if not isinstance(text, str):
            refuse(f"system[{position}]", "a text or an object with `text`", block, "give the text of the block")


def _items(found: object) -> Iterator[tuple[int, object]]:
    return enumerate(() if found is None or isinstance(found, str) or not isinstance(found, Sequence) else found)
