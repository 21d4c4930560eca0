"""One request with everything that is needed to measure and to cut it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from ctxopt_core.budget.shares import Component
from ctxopt_core.conversation.conversation import Conversation
from ctxopt_core.conversation.turns import last_user_message
from ctxopt_core.counting.counter_wrappers import CappedCounter
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import Packing
from ctxopt_core.documents.rendering import DocumentRendering
from ctxopt_core.fitting.request_renderer import Draft, Framing
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.request import ContextRequest, Section

_NO_LIMIT = 2**62  # tokens: no request reaches it


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A request, its conversation read lazily, and the limit that it has to keep.

    Args:
        request: The request.
        limit: The input budget, in tokens.
        counter: Counts texts. `capped` is the same, but counts no text further than the limit.
        framing: Renders the request.
    """

    request: ContextRequest
    limit: int
    counter: TokenCounter
    framing: Framing
    capped: TokenCounter = field(init=False)
    conversation: Conversation = field(init=False)
    query: int | None = field(init=False)
    fixed: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "capped", CappedCounter(self.counter, self.limit))
        conversation = Conversation(self.request.history, self.capped)
        object.__setattr__(self, "conversation", conversation)
        object.__setattr__(self, "query", None if self.request.query else last_user_message(conversation))
        object.__setattr__(self, "fixed", self.framing.fixed(self.request, self.counter))

    @property
    def available(self) -> int:
        """Tokens that the four components may share."""
        return self.limit - self.fixed

    @property
    def query_text(self) -> str:
        """The whole query, as one text to rank by."""
        if self.query is None:
            return "\n".join(self.request.query_texts)
        return "\n".join(self.conversation.message(self.query).texts)

    @property
    def only_messages(self) -> bool:
        """Whether the request is a list of messages in a chat frame, so that costs add up exactly."""
        request = self.request
        return not (request.system or request.query or request.documents) and self.framing.adds_up

    def with_sections(self, sections: Sequence[Section]) -> Subject:
        """Return the subject with other sections; what was read of the conversation stays read."""
        changed = copy(self)
        object.__setattr__(changed, "request", replace(self.request, sections=tuple(sections)))
        object.__setattr__(changed, "fixed", self.framing.fixed(changed.request, self.counter))
        return changed

    def whole(self, draft: Draft) -> int:
        """Return the tokens of the request rendered with the parts of `draft`."""
        return self.framing.whole(self.request, self.conversation, draft, self.counter)


def measure_needs(subject: Subject) -> dict[Component, int]:
    """Return what each component has, in tokens; documents and history are counted no further than the budget."""
    request, conversation, count = subject.request, subject.conversation, subject.capped.count
    overhead = subject.framing.system_overhead(subject.counter)
    in_conversation = sum(map(conversation.cost, conversation.systems))
    asked = 0 if subject.query is None else conversation.cost(subject.query)
    return {
        "system": in_conversation + sum(count(text) + overhead for text in request.system_texts),
        "query": asked + sum(map(count, request.query_texts)),
        "documents": documents_need(
            request.documents, subject.framing.documents, subject.counter, max(0, subject.available)
        ),
        "history": _history_need(subject, in_conversation + asked),
    }


def _history_need(subject: Subject, charged_elsewhere: int) -> int:
    """Tokens of the conversation without system messages and query; `available + 1` stands for any larger figure."""
    enough = max(0, subject.available) + charged_elsewhere
    total = subject.conversation.total_up_to(enough)
    return max(0, subject.available) + 1 if total > enough else total - charged_elsewhere


def documents_need(
    documents: Sequence[Document], rendering: DocumentRendering, counter: TokenCounter, most: int
) -> int:
    """Return the tokens of rendered documents, separators included; `most + 1` stands for any figure above `most`."""
    total = 0
    for index, document in enumerate(documents):
        if document.text and not document.text.isspace():
            rendered = rendering.render(index, document.text) + rendering.separator
            if counter.exceeds(rendered, most - total):
                return most + 1
            total += counter.count(rendered)
    return total


def fits(subject: Subject) -> bool:
    """Tell whether the request fits as it is: bytes first, then counts with an early stop, then the rendering."""
    conversation, available = subject.conversation, subject.available
    if subject.only_messages:
        if available < 0:
            return False
        return conversation.bytes_prove_fit(available) or conversation.total_up_to(available) <= available
    if subject.framing.adds_up and conversation.total_up_to(subject.limit) > subject.limit:
        return False
    return subject.whole(as_given(subject)) <= subject.limit


def as_given(subject: Subject) -> Draft:
    """Return the draft that holds the whole request; the conversation is not read."""
    request = subject.request
    documents = tuple((i, document.text or "") for i, document in enumerate(request.documents))
    length = len(subject.conversation)
    return Draft(
        system=request.system_texts,
        query=request.query_texts,
        documents=documents,
        trimming=Trimming(kept=range(length), length=length),
    )


def everything_packed(subject: Subject) -> Packing:
    """Return the packing that keeps every document as it is."""
    return Packing(kept=tuple(range(len(subject.request.documents))))


def count_request(request: ContextRequest, counter: TokenCounter, framing: Framing) -> int:
    """Return what a request counts as it is, rendered, in tokens."""
    subject = Subject(request=request, limit=_NO_LIMIT, counter=counter, framing=framing)
    return subject.whole(as_given(subject))


def describe_costs(costs: Mapping[str, int]) -> str:
    """Return costs by part as one line, for error messages."""
    return ", ".join(f"{name} {tokens:,}" for name, tokens in costs.items())
