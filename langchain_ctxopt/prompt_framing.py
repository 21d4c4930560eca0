"""The real prompt as the frame of a request: what is counted is what it renders."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.prompts import BasePromptTemplate

from ctxopt_core.conversation import TOKENS_PER_REQUEST, Conversation, message_tokens
from ctxopt_core.rendering import DocumentRendering, Draft, schema_tokens
from ctxopt_core.request import ContextRequest
from ctxopt_core.tokens import TokenCounter
from langchain_ctxopt.document_rendering import ListedDocuments, with_text
from langchain_ctxopt.message_views import placeholder_item, shortened_item, view_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptInput:
    """The input dict of a prompt, and under which keys its components are.

    Args:
        values: The dict as the caller gave it.
        system_key: Key of the system text, or None.
        query_key: Key of the query, or None.
        documents_key: Key of the documents, or None.
        history_key: Key of the messages, or None.
        as_text: Whether documents leave as one text.
        rendering: How one document is rendered.
    """

    values: Mapping[str, Any]
    system_key: str | None
    query_key: str | None
    documents_key: str | None
    history_key: str | None
    as_text: bool
    rendering: DocumentRendering

    def with_parts(self, draft: Draft) -> dict[str, Any]:
        """Return the dict with the parts of a draft; what the draft keeps whole stays the identical object."""
        values = dict(self.values)
        if self.system_key is not None:
            values[self.system_key] = _in_kind(self.values[self.system_key], draft.system)
        if self.query_key is not None:
            values[self.query_key] = _in_kind(self.values[self.query_key], draft.query)
        if self.documents_key is not None:
            values[self.documents_key] = self._documents(draft)
        if self.history_key is not None:
            values[self.history_key] = self._history(draft)
        return values

    def emptied(self) -> dict[str, Any]:
        """Return the dict with all four components empty."""
        return self.with_parts(Draft())

    def rendered_documents(self, draft: Draft) -> str:
        """Return the kept documents as the text that stands in the prompt."""
        return self.rendering.separator.join(self.rendering.render(index, text) for index, text in draft.documents)

    def _documents(self, draft: Draft) -> Any:  # noqa: ANN401
        if self.as_text:
            return self.rendered_documents(draft)
        originals = self.values[self.documents_key or ""]
        return [with_text(originals[index], text) for index, text in draft.documents]

    def _history(self, draft: Draft) -> list[Any]:
        return kept_messages(self.values[self.history_key or ""], draft)


def kept_messages(originals: Sequence[Any], draft: Draft) -> list[Any]:
    """Return the kept messages: originals, copies where shortened, and the placeholder where there is one."""
    trimming = draft.trimming
    kept = trimming.kept
    found = [originals[i] for i in kept]
    for index, cut in trimming.shortened.items():
        found[bisect_left(kept, index)] = shortened_item(originals[index], cut)
    after = trimming.placeholder_after
    if trimming.placeholder is not None and after is not None:
        found.insert(bisect_left(kept, after) + 1, placeholder_item(trimming.placeholder, originals[after]))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFraming:
    """A request as a prompt template renders it.

    Args:
        prompt: The template that follows in the chain.
        given: The dict that it will be given.
        counted_as_text: Whether documents are counted as the joined text although they leave as documents, because a
            later step formats them with the same template.
    """

    prompt: BasePromptTemplate[Any]
    given: PromptInput
    counted_as_text: bool

    @property
    def documents(self) -> DocumentRendering:
        """How one document stands in the prompt."""
        return self.given.rendering

    @property
    def adds_up(self) -> bool:
        """A template may join anything with anything, so that only its rendering tells."""
        return False

    def system_overhead(self, counter: TokenCounter) -> int:  # noqa: ARG002
        """The message around the system text belongs to the template."""
        return 0

    def fixed(self, request: ContextRequest, counter: TokenCounter) -> int:
        """Return the tokens of the prompt rendered with empty components, and of tool schemas."""
        return self._rendered(self.given.emptied(), counter) + self._beside(request, counter)

    def whole(self, request: ContextRequest, conversation: Conversation, draft: Draft, counter: TokenCounter) -> int:  # noqa: ARG002
        """Return the tokens of the prompt rendered with the parts of `draft`."""
        values = self.given.with_parts(draft)
        if self.counted_as_text and self.given.documents_key is not None:
            values[self.given.documents_key] = self.given.rendered_documents(draft)
        return self._rendered(values, counter) + self._beside(request, counter)

    def _rendered(self, values: Mapping[str, Any], counter: TokenCounter) -> int:
        messages = self.prompt.format_prompt(**values).to_messages()
        return TOKENS_PER_REQUEST + sum(message_tokens(view_of(message), counter) for message in messages)

    @staticmethod
    def _beside(request: ContextRequest, counter: TokenCounter) -> int:
        return request.fixed_tokens + schema_tokens(request, counter)


def default_rendering(documents: Sequence[Any]) -> ListedDocuments:
    """Return how a template prints a list of documents when nothing formats them."""
    return ListedDocuments(originals=documents)


def _in_kind(given: Any, texts: tuple[str, ...]) -> Any:  # noqa: ANN401
    """Return texts in the form of what was given: a text for a text, a list for a list; itself when unchanged."""
    if isinstance(given, str):
        text = texts[0] if texts else ""
        return given if text == given else text
    if given is None:
        return given
    return given if tuple(given) == texts else type(given)(texts)
