"""How a request is rendered, so that everything is counted as it will be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.message_tokens import TOKENS_PER_MESSAGE, TOKENS_PER_REQUEST
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.rendering import DocumentRendering, PlainDocuments, attachment_tokens
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.messages.message_views import SYSTEM_ROLES
from ctxopt_core.providers.rules import rules_of
from ctxopt_core.providers.tool_schemas import WITH_SYSTEM, json_tokens
from ctxopt_core.request import ContextRequest
from ctxopt_core.shortening.shorten_message import Shortened


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A request on its way to fitting: what each component holds at the moment.

    Args:
        system: The strings of the system prompt.
        query: The entries of the query; empty when the query is a message of the conversation.
        documents: (index, text) of the kept documents in reading order.
        trimming: What is kept of the conversation, system messages and query included.
    """

    system: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    documents: tuple[tuple[int, str], ...] = ()
    trimming: Trimming = field(default_factory=Trimming)

    @property
    def shortened(self) -> Mapping[int, Shortened]:
        """New content of shortened messages."""
        return self.trimming.shortened


@runtime_checkable
class RequestRenderer(Protocol):
    """How the whole request is rendered around its four components.

    1. `documents` says how one document is rendered into the prompt.
    2. `overhead_tokens(request, counter)` is the tokens of the request with all four components empty, tool schemas and
       the entries of its sections included;
       `system_overhead(counter)` is what each text of `request.system` costs beside its own count.
    3. `count(request, conversation, draft, counter)` is the tokens of the request as it will be sent with the parts of
       `draft`. It is what the guarantee rests on, so it renders; it does not add up estimates.
    4. `is_additive` is True when the tokens of a request of nothing but messages are exactly `overhead_tokens` plus the
       cost of each message, so that no rendering is needed to know them, and messages beside other components cost no
       less.
    5. Everything is pure.

    Example:
        >>> from ctxopt_core import ChatRenderer, RequestRenderer
        >>> isinstance(ChatRenderer(), RequestRenderer)
        True
    """

    @property
    def documents(self) -> DocumentRendering:
        """How one document is rendered into the prompt."""
        ...

    @property
    def is_additive(self) -> bool:
        """Whether messages alone need no rendering to be counted."""
        ...

    def overhead_tokens(self, request: ContextRequest, counter: TokenCounter) -> int:
        """Return the tokens of the request with empty components."""
        ...

    def system_overhead(self, counter: TokenCounter) -> int:
        """Return the tokens that each system text costs beside its own count."""
        ...

    def count(
        self, request: ContextRequest, conversation: CountedConversation, draft: Draft, counter: TokenCounter
    ) -> int:
        """Return the tokens of the request with the parts of `draft`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRenderer:
    """A chat request: a system message for each system text and each section, the conversation, one user message.

    The entries of a section are joined by newlines. The user message holds the documents, a blank line, and the entries
    of the query.

    Args:
        documents: How one document is rendered into the prompt.

    Example:
        >>> from ctxopt_core import CallableCounter, ChatRenderer, ContextRequest
        >>> renderer, counter = ChatRenderer(), CallableCounter(len)
        >>> renderer.overhead_tokens(ContextRequest(query="Why?"), counter)  # 3 a request, 3 a message, its role
        10
    """

    documents: DocumentRendering = field(default_factory=PlainDocuments)

    @property
    def is_additive(self) -> bool:
        """Special tokens separate messages, so their costs add up."""
        return True

    def overhead_tokens(self, request: ContextRequest, counter: TokenCounter) -> int:
        """Return the tokens of tool schemas, sections, the request's own framing and the caller's fixed text."""
        opening = opening_system_text(request, request.system_texts) if request.tools else None
        return schema_tokens(request, counter, system=opening) + self._frame(request, counter)

    def system_overhead(self, counter: TokenCounter) -> int:
        """Return the framing of one system message."""
        return _message(counter, "system", "")

    def count(
        self, request: ContextRequest, conversation: CountedConversation, draft: Draft, counter: TokenCounter
    ) -> int:
        """Return the tokens of the assembled chat request."""
        opening = opening_system_text(request, draft.system, draft.trimming) if request.tools else None
        tokens = schema_tokens(request, counter, system=opening) + self._frame(request, counter)
        tokens += counter.count(self.user_text(draft))
        tokens += sum(attachment_tokens(request.documents[index], counter) for index, _ in draft.documents)
        tokens += sum(_message(counter, "system", text) for text in draft.system if text)
        return tokens + conversation_tokens(conversation, draft.trimming, counter)

    def user_text(self, draft: Draft) -> str:
        """Return the text of the user message that carries documents and query."""
        rendered = [self.documents.render(index, text) for index, text in draft.documents]
        return "\n\n".join(part for part in (self.documents.separator.join(rendered), *draft.query) if part)

    def _frame(self, request: ContextRequest, counter: TokenCounter) -> int:
        beside = request.fixed_tokens + sum(
            _message(counter, "system", section.text) for section in request.sections if section.text
        )
        user = _message(counter, "user", "") if request.query or request.documents else 0
        return TOKENS_PER_REQUEST + beside + user


def schema_tokens(request: ContextRequest, counter: TokenCounter, *, system: str | None = None) -> int:
    """Return the tokens of the tool schemas by the rules of the counter's model.

    Args:
        request: The request that they belong to.
        counter: Counts strings, and knows how the model's provider counts schemas.
        system: The system message that opens the request. Some providers add the tools to it, which is cheaper than a
            message of their own; None where it is not known.
    """
    return rules_of(counter).schema_tokens(request.tools, counter.count, system) if request.tools else 0


def schema_reserve(request: ContextRequest, counter: TokenCounter) -> int:
    """Return the tokens that a fit keeps free for tool schemas in addition to their count.

    How a provider renders them is known from reports and not promised. A fit therefore leaves room for them as the JSON
    that is sent, where that is more.
    """
    if not request.tools or rules_of(counter).counts_json:
        return 0
    counted = rules_of(counter).schema_tokens(request.tools, counter.count, WITH_SYSTEM)
    return max(0, json_tokens(request.tools, counter.count) - counted)


def opening_system_text(
    request: ContextRequest, system: tuple[str, ...], trimming: Trimming | None = None
) -> str | None:
    """Return the system message that opens a chat request; None where it opens with another.

    Args:
        request: The request.
        system: Its system strings as they are now.
        trimming: What is kept of its conversation; None for all of it.
    """
    texts = [text for text in (*system, *(section.text for section in request.sections)) if text]
    history = request.history
    if texts or not len(history) or (trimming is not None and not (trimming.kept and trimming.kept[0] == 0)):
        return texts[0] if texts else None
    if not isinstance(history, (tuple, list)) and not history.system_indices(0, 1):
        return None
    first = history[0]
    cut = None if trimming is None else trimming.shortened.get(0)
    said = first.texts if cut is None else cut.texts
    return said[-1] or None if first.role in SYSTEM_ROLES and said else None


def conversation_tokens(conversation: CountedConversation, trimming: Trimming, counter: TokenCounter) -> int:
    """Return the tokens of what is kept of a conversation, placeholder included."""
    shortened = trimming.shortened
    tokens = 0
    for index in trimming.kept:
        cut = shortened.get(index)
        tokens += conversation.cost(index) if cut is None else cut.tokens
    return tokens + sum(_message(counter, message.role, message.text) for message in trimming.added)


def _message(counter: TokenCounter, role: str, text: str) -> int:
    return TOKENS_PER_MESSAGE + counter.count(role) + counter.count(text)
