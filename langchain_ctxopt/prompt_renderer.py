"""The real prompt as the frame of a request: what is counted is what it renders."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.prompts import BasePromptTemplate

from ctxopt_core import ContextRequest, TokenCounter
from ctxopt_core.adapters import (
    TOKENS_PER_REQUEST,
    CountedConversation,
    DocumentRendering,
    Draft,
    kept_items,
    message_tokens,
    schema_tokens,
)
from langchain_ctxopt.component_keys import ComponentKeys
from langchain_ctxopt.documents import with_text
from langchain_ctxopt.message_views import placeholder_item, shortened_item, view_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptInput:
    """The input dict of a prompt, and under which keys its components are.

    Args:
        values: The dict as the caller gave it.
        keys: Under which key each component is.
        history: The messages that the prompt renders: all that were given, or the newest of them.
        as_text: Whether documents leave as one text.
        rendering: How one document is rendered.
    """

    values: Mapping[str, Any]
    keys: ComponentKeys
    history: Sequence[Any]
    as_text: bool
    rendering: DocumentRendering

    def with_parts(self, draft: Draft, sections: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the dict with these parts and entries of sections; what is kept whole stays the identical object."""
        values, keys = dict(self.values), self.keys
        for key, entries in sections.items():
            values[key] = with_newest(values[key], entries)
        if keys.system is not None:
            values[keys.system] = _in_kind(values[keys.system], draft.system)
        if keys.query is not None:
            values[keys.query] = _in_kind(values[keys.query], draft.query)
        if keys.documents is not None:
            values[keys.documents] = self._documents(values[keys.documents], draft)
        if keys.history is not None:
            values[keys.history] = same_kind(values[keys.history], kept_messages(self.history, draft))
        return values

    def rendered_documents(self, draft: Draft) -> str:
        """Return the kept documents as the text that stands in the prompt."""
        return self.rendering.separator.join(self.rendering.render(index, text) for index, text in draft.documents)

    def _documents(self, originals: Sequence[Any], draft: Draft) -> Any:
        if self.as_text:
            return self.rendered_documents(draft)
        return same_kind(originals, [with_text(originals[index], text) for index, text in draft.documents])


def kept_messages(originals: Sequence[Any], draft: Draft) -> list[Any]:
    """Return the kept messages: originals, copies where shortened, and the placeholder where there is one."""
    return kept_items(
        originals,
        draft.trimming,
        shortened=lambda index, cut: shortened_item(originals[index], cut),
        placeholder=lambda text, after: placeholder_item(text, originals[after]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRenderer:
    """A request as a prompt template renders it.

    Args:
        prompt: The template that follows in the chain.
        given: The dict that it will be given.
        counted_as_text: Whether documents are counted as the joined text although they leave as documents, because a
            later step formats them with the same template.
        is_additive: Whether the prompt renders each message of the history as that very message. A template may do
            anything else with them, so that only its rendering tells what they cost.
    """

    prompt: BasePromptTemplate[Any]
    given: PromptInput
    counted_as_text: bool
    is_additive: bool

    @property
    def documents(self) -> DocumentRendering:
        """How one document stands in the prompt."""
        return self.given.rendering

    def system_overhead(self, counter: TokenCounter) -> int:
        """The message around the system text belongs to the template."""
        return 0

    def overhead_tokens(self, request: ContextRequest, counter: TokenCounter) -> int:
        """Return the tokens of the prompt rendered with its sections and empty components, and of tool schemas.

        The query, which is never empty, is rendered and taken off again: a template may say something else without it.
        """
        asked = sum(map(counter.count, request.query_texts))
        rendered = self._rendered(Draft(query=request.query_texts), request, counter)
        return max(0, rendered - asked) + self._beside(request, counter)

    def count(
        self, request: ContextRequest, conversation: CountedConversation, draft: Draft, counter: TokenCounter
    ) -> int:
        """Return the tokens of the prompt rendered with the parts of `draft`."""
        return self._rendered(draft, request, counter) + self._beside(request, counter)

    def _rendered(self, draft: Draft, request: ContextRequest, counter: TokenCounter) -> int:
        values = self.given.with_parts(draft, {section.name: section.entries for section in request.sections})
        if self.counted_as_text and self.given.keys.documents is not None:
            values[self.given.keys.documents] = self.given.rendered_documents(draft)
        messages = self.prompt.format_prompt(**values).to_messages()
        return TOKENS_PER_REQUEST + sum(message_tokens(view_of(message), counter) for message in messages)

    @staticmethod
    def _beside(request: ContextRequest, counter: TokenCounter) -> int:
        return request.fixed_tokens + schema_tokens(request, counter)


def _in_kind(given: Any, texts: tuple[str, ...]) -> Any:
    """Return texts in the form of what was given: a text for a text, a list for a list; itself when unchanged."""
    if isinstance(given, str):
        text = texts[0] if texts else ""
        return given if text == given else text
    unchanged = tuple(given) == texts or not (texts or any(given))
    return given if unchanged else type(given)(texts)


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
