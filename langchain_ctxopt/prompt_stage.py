"""The stage before the prompt: a dict in, the same dict with cut components out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.prompts import BasePromptTemplate

from ctxopt_core.fitted import FittedContext
from ctxopt_core.rendering import Draft
from ctxopt_core.request import ContextRequest, Document
from langchain_ctxopt.document_rendering import ListedDocuments, TemplatedDocuments, document_views
from langchain_ctxopt.message_views import MessageViews
from langchain_ctxopt.prompt_framing import PromptFraming, PromptInput

if TYPE_CHECKING:
    from langchain_ctxopt.optimizer import ContextOptimizer

QUERY_KEYS = ("question", "query", "input")
DOCUMENT_KEYS = ("context", "documents")
HISTORY_KEYS = ("chat_history", "history", "messages")
SYSTEM_KEYS = ("system", "system_prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptStage:
    """One dict on its way to the prompt.

    Args:
        given: The dict and its keys.
        documents: Views of its documents.
        counted_as_text: Whether documents are counted as formatted text although they leave as documents.
    """

    given: PromptInput
    documents: tuple[Document, ...]
    counted_as_text: bool

    @classmethod
    def of(cls, optimizer: ContextOptimizer, values: Mapping[str, Any]) -> PromptStage:
        """Find the components in a dict.

        Raises:
            ValueError: None of the keys is there, or one that was named is not.
            TypeError: A component is of a type that cannot be cut.
        """
        keys = {
            "query_key": _key(values, "query_key", optimizer.query_key, QUERY_KEYS),
            "documents_key": _key(values, "documents_key", optimizer.documents_key, DOCUMENT_KEYS, list_only=True),
            "history_key": _key(values, "history_key", optimizer.history_key, HISTORY_KEYS, list_only=True),
            "system_key": _key(values, "system_key", optimizer.system_key, SYSTEM_KEYS),
        }
        if not any(keys.values()):
            message = (
                f"none of the input's keys ({', '.join(map(repr, values)) or 'none'}) is known as query, documents, "
                "history or system; name them with `query_key`, `documents_key`, `history_key`, `system_key`"
            )
            raise ValueError(message)
        originals = values[keys["documents_key"]] if keys["documents_key"] else ()
        as_text = optimizer.documents_as == "text"
        formatted = as_text or optimizer.document_prompt is not None or optimizer.document_separator is not None
        separator = "\n\n" if optimizer.document_separator is None else optimizer.document_separator
        rendering = (
            TemplatedDocuments(originals=originals, template=optimizer.document_prompt, separator=separator)
            if formatted
            else ListedDocuments(originals=originals)
        )
        return cls(
            given=PromptInput(values=values, as_text=as_text, rendering=rendering, **keys),
            documents=document_views(originals, optimizer.score),
            counted_as_text=formatted and not as_text,
        )

    def request(self, schemas: Sequence[Mapping[str, Any] | str]) -> ContextRequest:
        """Return the request that the dict and the model's tools make."""
        given, values = self.given, self.given.values
        return ContextRequest(
            system=_texts(values, given.system_key),
            query=_texts(values, given.query_key),
            documents=self.documents,
            history=MessageViews(values[given.history_key] if given.history_key else ()),
            tools=tuple(schemas),
        )

    def framing(self, prompt: BasePromptTemplate[Any]) -> PromptFraming:
        """Return the prompt as the frame of the request."""
        return PromptFraming(prompt=prompt, given=self.given, counted_as_text=self.counted_as_text)

    def output(self, fitted: FittedContext) -> Any:  # noqa: ANN401
        """Return the dict with what fits; the identical dict where nothing had to change."""
        if fitted.untouched and not self.given.as_text:
            return self.given.values
        documents = tuple(zip(fitted.documents.kept, fitted.document_texts(), strict=True))
        draft = Draft(system=fitted.system, query=fitted.query, documents=documents, trimming=fitted.history)
        return self.given.with_parts(draft)


def _key(
    values: Mapping[str, Any], name: str, named: str | None, usual: Sequence[str], *, list_only: bool = False
) -> str | None:
    if named is not None:
        if named not in values:
            message = f"`{name}` is {named!r}, but the input has only {', '.join(map(repr, values)) or 'no keys'}"
            raise ValueError(message)
        return named
    for key in usual:
        if key in values and (not list_only or isinstance(values[key], (list, tuple))):
            return key
    return None


def _texts(values: Mapping[str, Any], key: str | None) -> tuple[str, ...]:
    if key is None or values[key] is None:
        return ()
    value = values[key]
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        message = f"{key!r} of the input must be a text or a list of texts, got {type(value).__name__}"
        raise TypeError(message)
    return tuple(texts)
