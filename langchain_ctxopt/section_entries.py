"""The entries of an extra section, such as saved memories, as texts, and the kept ones in the caller's own objects."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document

from langchain_ctxopt.document_rendering import with_text


def entry_texts(key: str, value: object) -> tuple[str, ...]:
    """Return the texts of a section; a text of its own is its one entry.

    Raises:
        TypeError: It is neither a text nor a list or tuple of texts and documents.
    """
    if isinstance(value, str):
        return (value,) if value else ()
    if not isinstance(value, (list, tuple)):
        message = (
            f"section {key!r} of the input must be a text or a list of texts or documents, got {type(value).__name__}"
        )
        raise TypeError(message)
    return tuple(_text_of(key, position, entry) for position, entry in enumerate(value))


def with_newest(given: Any, texts: Sequence[str]) -> Any:
    """Return a section with its newest entries, of which the very last may be shortened.

    Args:
        given: The section as the caller gave it.
        texts: The texts of the entries that stay, oldest first.
    """
    if isinstance(given, str):
        text = texts[0] if texts else ""
        return given if text == given else text
    kept = list(given[len(given) - len(texts) :])
    if kept:
        kept[-1] = with_text(kept[-1], texts[-1]) if isinstance(kept[-1], Document) else texts[-1]
    return same_kind(given, kept)


def same_kind(given: Any, items: list[Any]) -> Any:
    """Return items as a list or a tuple, as they were given; the very object given when they are all of it."""
    if len(items) == len(given) and all(map(operator.is_, items, given)):
        return given
    return tuple(items) if isinstance(given, tuple) else items


def _text_of(key: str, position: int, entry: object) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, Document):
        return entry.page_content
    message = (
        f"item {position} of section {key!r} must be a text or a langchain_core Document, got {type(entry).__name__}; "
        "pass the text that the prompt shall show"
    )
    raise TypeError(message)
