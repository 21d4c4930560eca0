"""LangChain documents as the prompt will hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document as LangChainDocument
from langchain_core.prompts import BasePromptTemplate, PromptTemplate, format_document

from ctxopt_core.request import Document

SCORE_KEYS = ("relevance_score", "score")
ScoreOf = Callable[[LangChainDocument], float | None]

_LIST_SEPARATOR = ", "


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplatedDocuments:
    """Documents formatted by a template and joined, as `create_stuff_documents_chain` does.

    Args:
        originals: The documents as they were given.
        template: Formats one document; None for its bare text.
        separator: What stands between two documents.
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
    """Return the document itself when that is its text, else a copy with the text; id and metadata stay."""
    if document.page_content == text:
        return document
    return document.model_copy(update={"page_content": text, "metadata": dict(document.metadata)})


def document_views(documents: Sequence[Any], score_of: ScoreOf | str | None) -> tuple[Document, ...]:
    """Return views of LangChain documents, in the same order.

    Args:
        documents: The documents.
        score_of: Where the score is: a metadata key, a function, or None to look for `relevance_score` and `score`.
            Scores that are no numbers count as missing.

    Raises:
        TypeError: An item is not a LangChain document.
    """
    views: list[Document] = []
    for position, document in enumerate(documents):
        if not isinstance(document, LangChainDocument):
            message = (
                f"item {position} of the documents must be a langchain_core Document, got {type(document).__name__}; "
                "wrap texts as Document(page_content=...)"
            )
            raise TypeError(message)
        source = document.metadata.get("source")
        views.append(
            Document(
                text=document.page_content,
                id=document.id,
                score=_score(document, score_of),
                source=source if isinstance(source, str) else None,
            )
        )
    return tuple(views)


def checked_template(template: object) -> BasePromptTemplate[str] | None:
    """Return a document template, a text being taken as a template of it.

    Raises:
        ValueError: It is neither a prompt template nor a text.
    """
    if template is None or isinstance(template, BasePromptTemplate):
        return template
    if isinstance(template, str):
        return PromptTemplate.from_template(template)
    message = f"`document_prompt` must be a prompt template or its text, got {type(template).__name__}"
    raise ValueError(message)


def _score(document: LangChainDocument, score_of: ScoreOf | str | None) -> float | None:
    if callable(score_of):
        return _number(score_of(document))
    keys = SCORE_KEYS if score_of is None else (score_of,)
    return next((_number(document.metadata[key]) for key in keys if key in document.metadata), None)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or isinstance(value, (str, bytes, Mapping)) or value is None:
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
