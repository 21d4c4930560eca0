"""Reads pasted or loaded documents: JSON of several kinds, or plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxopt_core.documents.document import Document
from ctxopt_playground.readers.framework_dumps import constructed
from ctxopt_playground.readers.json import UnreadablePasteError, opens_json, read_json

_RULE = re.compile(r"^[ \t]*-{3,}[ \t]*$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
_RESOURCE = "text_resource"
_TEXTS = ("text", "page_content", "content", _RESOURCE)
_IDS = ("id", "id_", "doc_id")
_SCORES = ("score", "relevance_score")
_LISTS = ("documents", "nodes", "source_nodes", "context")
_PAIR = 2  # items: a document and its score, as LangChain's `similarity_search_with_score` returns them

EXPECTED = (
    "a document is a string, or an object with `text`, `page_content` or `content`, and perhaps `id`, `score` and "
    "`metadata`"
)


def read_documents(text: str) -> tuple[Document, ...]:
    """Return the documents of what was pasted, in their order.

    It is JSON: a list, an object with a list under `documents`, one document, or lines of these. Each is a string; an
    object with `text`, `page_content` or `content`; a Document of LangChain, also in a pair with its score; or a node
    of LlamaIndex, also in a NodeWithScore. Or it is plain text: documents are then separated by lines of `---`, where
    there are any, else by blank lines.

    Returns:
        The documents; none for a blank string.

    Raises:
        UnreadablePasteError: It is JSON of another shape. The message says where.
    """
    if not opens_json(text):
        return documents_of(_plain_documents(text.removeprefix("\ufeff").replace("\r\n", "\n")))
    pasted = read_json(text)
    if pasted.lines is not None:
        return documents_of(pasted.values)
    return documents_of(_items(pasted.values[0]))


def documents_of(items: Iterable[Any]) -> tuple[Document, ...]:
    """Return the documents of JSON values, in their order.

    The id of one without an id is its number, from 1, unless another has that id: two with one id are duplicates.

    Raises:
        UnreadablePasteError: A value is not a document.
    """
    found = [_document(item, number) for number, item in enumerate(items, 1)]
    taken = {document.id for document in found}
    return tuple(
        document if document.id is not None or str(number) in taken else replace(document, id=str(number))
        for number, document in enumerate(found, 1)
    )


def document_row(document: Document) -> dict[str, Any]:
    """Return a document as the JSON object that `documents_of` reads, without its metadata."""
    fields = {"id": document.id, "score": document.score, "source": document.source, "text": document.text or ""}
    return {name: value for name, value in fields.items() if value is not None}


def _plain_documents(text: str) -> list[str]:
    split = _RULE if _RULE.search(text) else _BLANK_LINES
    return [part.strip() for part in split.split(text) if part.strip()]


def _items(value: Any) -> Sequence[Any]:
    if isinstance(value, list):
        return value
    found = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
    return [value] if found is None else found


def _document(item: Any, number: int) -> Document:
    found, score = _with_score(item)
    fields = {"text": found} if isinstance(found, str) else constructed(found) or found
    if not isinstance(fields, Mapping) or (key := _text_key(fields)) is None:
        kind = "an object without any of them" if isinstance(fields, Mapping) else f"a {type(fields).__name__}"
        message = f"document {number}: {EXPECTED}, got {kind}"
        raise UnreadablePasteError(message)
    resource = fields[key]
    text = resource.get("text") if key == _RESOURCE and isinstance(resource, Mapping) else resource
    try:
        return _made_of(fields, text, score)
    except TypeError as error:
        message = f"document {number}: {error}"
        raise UnreadablePasteError(message) from error


def _with_score(item: Any) -> tuple[Any, Any]:
    """Return a document, and the score beside it if there is one."""
    if isinstance(item, list) and len(item) == _PAIR:
        return item[0], item[1]
    if isinstance(item, Mapping) and isinstance(item.get("node"), Mapping):
        return item["node"], item.get("score")
    return item, None


def _text_key(fields: Mapping[str, Any]) -> str | None:
    return next((key for key in _TEXTS if key in fields), None)


def _made_of(fields: Mapping[str, Any], text: Any, score: Any) -> Document:
    metadata = fields.get("metadata")
    beside: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    said = (score, *(fields.get(key) for key in _SCORES), *(_number(beside.get(key)) for key in _SCORES))
    identity = next((fields[key] for key in _IDS if fields.get(key) not in (None, "")), None)
    source = beside.get("source", fields.get("source"))
    return Document(
        text=text,
        id=None if identity is None else str(identity),
        score=next((one for one in said if one is not None), None),
        source=source if isinstance(source, str) else None,
        metadata=beside,
    )


def _number(value: object) -> float | None:
    """Return a score of the metadata if it is a number."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
