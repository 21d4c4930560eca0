"""The input dict of a prompt: the components and sections in it, and the same dict with what fits of them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document as LangChainDocument
from langchain_core.prompts import BasePromptTemplate

from ctxopt_core import ContextRequest, Document, FittedContext, Section
from ctxopt_core.adapters import DocumentRendering, Draft
from langchain_ctxopt.component_keys import ComponentKeys, component_keys, most_messages
from langchain_ctxopt.documents import ListedDocuments, ScoreOf, TemplatedDocuments, document_views, with_text
from langchain_ctxopt.message_input import kept_messages
from langchain_ctxopt.message_views import LangChainMessages


@dataclass(frozen=True, slots=True, kw_only=True)
class DictInput:
    """An input dict and the components in it.

    Args:
        values: The dict as the caller gave it.
        keys: Under which key each component is.
        documents: Views of its documents.
        history: The messages that the prompt renders: all that were given, or the newest of them.
        sections: Its extra sections.
        rendering: How one document is rendered.
        as_text: Whether documents leave as one string.
    """

    values: Mapping[str, Any]
    keys: ComponentKeys
    documents: tuple[Document, ...]
    history: Sequence[Any]
    sections: tuple[Section, ...]
    rendering: DocumentRendering
    as_text: bool

    @classmethod
    def of(
        cls,
        values: Mapping[str, Any],
        prompt: BasePromptTemplate[Any],
        *,
        named: Mapping[str, str | None],
        section_limits: Mapping[str, int],
        score_key: str | ScoreOf | None,
        as_text: bool,
        template: BasePromptTemplate[str] | None,
        separator: str | None,
    ) -> DictInput:
        """Find the components in a dict.

        Args:
            values: The dict.
            prompt: The prompt that it is for.
            named: The key that the caller named for each component, or None.
            section_limits: The limit of each extra section in tokens, by its key.
            score_key: Where a document's score is.
            as_text: Whether documents leave as one string.
            template: Formats one document, or None.
            separator: What joins two documents, or None.

        Raises:
            ValueError: A variable of the prompt or a key that was named is missing, or there is no component at all.
            TypeError: A component or a section is of a type that cannot be cut.
        """
        keys = component_keys(named, prompt, values, joined_documents=as_text, sections=section_limits)
        originals = values[keys.documents] if keys.documents is not None else ()
        newest = most_messages(prompt, keys.history) if keys.history is not None else None
        history = values[keys.history] if keys.history is not None else ()
        rendering: DocumentRendering
        if as_text or template is not None or separator is not None:
            joined_by = "\n\n" if separator is None else separator
            rendering = TemplatedDocuments(originals=originals, template=template, separator=joined_by)
        else:
            # Nothing says how a later step formats them: a template prints the list as Python does.
            rendering = ListedDocuments(originals=originals)
        return cls(
            values=values,
            keys=keys,
            documents=document_views(originals, score_key),
            history=history if newest is None else history[-newest:],
            sections=tuple(
                Section(name=key, entries=_entries(key, values[key]), max_tokens=section_limits[key])
                for key in keys.sections
            ),
            rendering=rendering,
            as_text=as_text,
        )

    def request(self, schemas: Sequence[Mapping[str, Any] | str]) -> ContextRequest:
        """Return the request that the dict and the model's tools make."""
        return ContextRequest(
            system=_strings(self.values, self.keys.system),
            query=_strings(self.values, self.keys.query),
            documents=self.documents,
            history=LangChainMessages(self.history),
            tools=tuple(schemas),
            sections=self.sections,
        )

    def output(self, fitted: FittedContext) -> Any:
        """Return the dict with what fits; the identical dict where nothing had to change."""
        if fitted.unchanged and not (self.as_text and self.keys.documents is not None):
            return self.values
        documents = tuple(zip(fitted.documents.kept, fitted.document_texts(), strict=True))
        draft = Draft(system=fitted.system, query=fitted.query, documents=documents, trimming=fitted.history)
        sections = dict(zip(self.keys.sections, fitted.sections, strict=True))
        return self.with_parts(draft, sections, joined=self.as_text)

    def with_parts(self, draft: Draft, sections: Mapping[str, Sequence[str]], *, joined: bool) -> dict[str, Any]:
        """Return the dict with other parts; what is kept whole stays the identical object.

        Args:
            draft: What is kept of the components.
            sections: The entries that are kept of each section, by its key.
            joined: Whether documents are rendered and joined to one string.
        """
        values, keys = dict(self.values), self.keys
        for key, entries in sections.items():
            values[key] = _with_newest(values[key], entries)
        if keys.system is not None:
            values[keys.system] = _in_kind(values[keys.system], draft.system)
        if keys.query is not None:
            values[keys.query] = _in_kind(values[keys.query], draft.query)
        if keys.documents is not None and joined:
            rendered = (self.rendering.render(index, text) for index, text in draft.documents)
            values[keys.documents] = self.rendering.separator.join(rendered)
        elif keys.documents is not None:
            originals = values[keys.documents]
            kept = [with_text(originals[index], text) for index, text in draft.documents]
            values[keys.documents] = _same_kind(originals, kept)
        if keys.history is not None:
            values[keys.history] = _same_kind(values[keys.history], kept_messages(self.history, draft.trimming))
        return values


def _strings(values: Mapping[str, Any], key: str | None) -> tuple[str, ...]:
    if key is None:
        return ()
    value = values[key]
    return (value,) if isinstance(value, str) else tuple(value)


def _entries(key: str, value: object) -> tuple[str, ...]:
    """Return the entries of a section as strings; a string is its one entry."""
    if isinstance(value, str):
        return (value,) if value else ()
    if not isinstance(value, (list, tuple)):
        message = (
            f"section {key!r} of the input must be a string or a list of strings or documents, got "
            f"{type(value).__name__}"
        )
        raise TypeError(message)
    for position, entry in enumerate(value):
        if not isinstance(entry, (str, LangChainDocument)):
            message = (
                f"item {position} of section {key!r} must be a string or a langchain_core Document, got "
                f"{type(entry).__name__}; pass the string that the prompt shall show"
            )
            raise TypeError(message)
    return tuple(entry if isinstance(entry, str) else entry.page_content for entry in value)


def _with_newest(given: Any, entries: Sequence[str]) -> Any:
    """Return a section with its newest entries, of which the very last may be shortened."""
    if isinstance(given, str):
        return _in_kind(given, tuple(entries))
    kept = list(given[len(given) - len(entries) :])
    if kept:
        kept[-1] = with_text(kept[-1], entries[-1]) if isinstance(kept[-1], LangChainDocument) else entries[-1]
    return _same_kind(given, kept)


def _in_kind(given: Any, strings: tuple[str, ...]) -> Any:
    """Return strings as what was given: one for a string, a list for a list; what was given when it is unchanged."""
    if isinstance(given, str):
        kept = strings[0] if strings else ""
        return given if kept == given else kept
    unchanged = tuple(given) == strings or not (strings or any(given))
    return given if unchanged else type(given)(strings)


def _same_kind(given: Any, items: list[Any]) -> Any:
    """Return items as a list or a tuple, as they were given; the very object given when they are all of it."""
    if len(items) == len(given) and all(map(operator.is_, items, given)):
        return given
    return tuple(items) if isinstance(given, tuple) else items
