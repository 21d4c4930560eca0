"""The stage before the prompt: a dict in, the same dict with cut components out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage
from langchain_core.prompts import BasePromptTemplate

from ctxopt_core import ContextRequest, Document, FittedContext, Section
from ctxopt_core.adapters import DocumentRendering, Draft
from langchain_ctxopt.component_keys import ComponentKeys, component_keys, most_messages, stand_alone
from langchain_ctxopt.documents import ListedDocuments, TemplatedDocuments, document_views
from langchain_ctxopt.message_views import LangChainMessages
from langchain_ctxopt.prompt_renderer import PromptInput, PromptRenderer, entry_texts

if TYPE_CHECKING:
    from langchain_ctxopt.optimizer import ContextOptimizer


@dataclass(frozen=True, slots=True, kw_only=True)
class DictInput:
    """One dict on its way to the prompt.

    Args:
        given: The dict and its keys.
        documents: Views of its documents.
        sections: Its extra sections.
        renderer: The prompt as the frame of the request.
    """

    given: PromptInput
    documents: tuple[Document, ...]
    sections: tuple[Section, ...]
    renderer: PromptRenderer

    @classmethod
    def of(cls, optimizer: ContextOptimizer, prompt: BasePromptTemplate[Any], values: Mapping[str, Any]) -> DictInput:
        """Find the components in a dict.

        Raises:
            ValueError: A variable of the prompt or a key that was named is missing, or there is no component at all.
            TypeError: A component or a section is of a type that cannot be cut.
        """
        named = {
            "system": optimizer.system_key,
            "query": optimizer.query_key,
            "documents": optimizer.documents_key,
            "history": optimizer.history_key,
        }
        as_text = optimizer.documents_as == "text"
        limits = optimizer.sections or {}
        keys = component_keys(named, prompt, values, joined_documents=as_text, sections=limits)
        originals = values[keys.documents] if keys.documents is not None else ()
        rendering = _rendering(optimizer, originals)
        given = PromptInput(
            values=values, keys=keys, history=_history(prompt, keys, values), as_text=as_text, rendering=rendering
        )
        renderer = PromptRenderer(
            prompt=prompt,
            given=given,
            counted_as_text=isinstance(rendering, TemplatedDocuments) and not as_text,
            is_additive=_are_messages(given.history) and stand_alone(prompt, keys.history),
        )
        sections = tuple(
            Section(name=key, entries=entry_texts(key, values[key]), max_tokens=limits[key]) for key in keys.sections
        )
        documents = document_views(originals, optimizer.score_key)
        return cls(given=given, documents=documents, sections=sections, renderer=renderer)

    def request(self, schemas: Sequence[Mapping[str, Any] | str]) -> ContextRequest:
        """Return the request that the dict and the model's tools make."""
        given = self.given
        return ContextRequest(
            system=_texts(given.values, given.keys.system),
            query=_texts(given.values, given.keys.query),
            documents=self.documents,
            history=LangChainMessages(given.history),
            tools=tuple(schemas),
            sections=self.sections,
        )

    def output(self, fitted: FittedContext) -> Any:
        """Return the dict with what fits; the identical dict where nothing had to change."""
        joined = self.given.as_text and self.given.keys.documents is not None
        if fitted.unchanged and not joined:
            return self.given.values
        documents = tuple(zip(fitted.documents.kept, fitted.document_texts(), strict=True))
        draft = Draft(system=fitted.system, query=fitted.query, documents=documents, trimming=fitted.history)
        return self.given.with_parts(draft, dict(zip(self.given.keys.sections, fitted.sections, strict=True)))


def _rendering(optimizer: ContextOptimizer, originals: Sequence[Any]) -> DocumentRendering:
    """Documents are joined text where a template or a separator says so, else what Python prints of a list of them."""
    template, separator = optimizer.document_prompt, optimizer.document_separator
    if optimizer.documents_as == "documents" and template is None and separator is None:
        return ListedDocuments(originals=originals)
    return TemplatedDocuments(
        originals=originals, template=template, separator="\n\n" if separator is None else separator
    )


def _history(prompt: BasePromptTemplate[Any], keys: ComponentKeys, values: Mapping[str, Any]) -> Sequence[Any]:
    if keys.history is None:
        return ()
    messages: Sequence[Any] = values[keys.history]
    newest = most_messages(prompt, keys.history)
    return messages if newest is None else messages[-newest:]


def _are_messages(history: Sequence[Any]) -> bool:
    return all(issubclass(kind, BaseMessage) for kind in set(map(type, history)))


def _texts(values: Mapping[str, Any], key: str | None) -> tuple[str, ...]:
    if key is None:
        return ()
    value = values[key]
    return (value,) if isinstance(value, str) else tuple(value)
