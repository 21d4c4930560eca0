"""LangChain documents: how the prompt renders them, and the views of them that the core selects from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document as LangChainDocument
from langchain_core.prompts import BasePromptTemplate, format_document

from ctxopt_core import Document

SCORE_KEYS = ("relevance_score", "score")
ScoreOf = Callable[[LangChainDocument], float | None]

_LIST_SEPARATOR = ", "


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplatedDocuments:
    """Documents formatted by a template and joined, as `create_stuff_documents_chain` does.

    Args:
        originals: The documents as they were given.
        template: Formats one document; None for its text alone.
        separator: What joins two documents.
    """

    originals: Sequence[LangChainDocument]
    template: BasePromptTemplate[str] | None = None
    separator: str = "\n\n"

    def render(self, index: int, text: str) -> str:
        """Return document `index` as the prompt holds it when its text is `text`."""
        if self.template is None:
            return text
        return format_document(with_text(self.originals[index], text), self.template)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDocuments:
    """Documents as a template prints a list of them: their Python representation.

    Args:
        originals: The documents as they were given.
    """

    originals: Sequence[LangChainDocument]

    @property
    def separator(self) -> str:
        """What Python prints between two items of a list."""
        return _LIST_SEPARATOR

    def render(self, index: int, text: str) -> str:
        """Return document `index` as the prompt holds it when its text is `text`."""
        return repr(with_text(self.originals[index], text))


def with_text(document: LangChainDocument, text: str) -> LangChainDocument:
    """Return the document itself when `text` is its text, else a copy with it and the same id and metadata."""
    if document.page_content == text:
        return document
    return document.model_copy(update={"page_content": text, "metadata": dict(document.metadata)})


def document_views(documents: Sequence[Any], score_of: ScoreOf | str | None) -> tuple[Document, ...]:
    """Return views of LangChain documents, in the same order.

    Args:
        documents: The documents.
        score_of: Where the score is: a metadata key, a function, or None to look for `relevance_score` and `score`.
            A key whose value is no number is taken as missing; a function must return a number or None.

    Raises:
        TypeError: An item is not a LangChain document, or a score function returned something else than a number.
    """
    views: list[Document] = []
    for position, document in enumerate(documents):
        if not isinstance(document, LangChainDocument):
            message = (
                f"item {position} of the documents must be a langchain_core Document, got {type(document).__name__}; "
                "wrap strings as Document(page_content=...)"
            )
            raise TypeError(message)
        source = document.metadata.get("source")
        views.append(
            Document(
                text=document.page_content,
                id=document.id,
                score=_score(document, score_of),
                source=source if isinstance(source, str) else None,
                from_pipeline=True,
            )
        )
    return tuple(views)


def _score(document: LangChainDocument, score_of: ScoreOf | str | None) -> float | None:
    if callable(score_of):
        found = score_of(document)
        number = _number(found)
        return found if number is None else number
    keys = SCORE_KEYS if score_of is None else (score_of,)
    numbers = (_number(document.metadata.get(key)) for key in keys)
    return next((number for number in numbers if number is not None), None)


def _number(value: object) -> float | None:
    if value is None or isinstance(value, (bool, str, bytes)):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number
