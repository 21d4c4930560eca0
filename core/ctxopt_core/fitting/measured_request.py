"""One request with everything that is needed to measure and to cut it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from ctxopt_core.budget.shares import Component
from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import last_user_message
from ctxopt_core.counting.counter_wrappers import CappedCounter
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.document import Document, is_blank
from ctxopt_core.documents.packing import Packing
from ctxopt_core.documents.rendering import DocumentRendering, attachment_tokens
from ctxopt_core.fitting.request_renderer import Draft, RequestRenderer
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.request import ContextRequest, Section

NO_LIMIT = 2**62
"""More tokens than any request has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRequest:
    """A request, its conversation read lazily, and the limit that it has to keep.

    Args:
        request: The request.
        limit: The input budget, in tokens.
        counter: Counts strings. `capped` is the same, but counts no string further than the limit.
        renderer: Renders the request.
    """

    request: ContextRequest
    limit: int
    counter: TokenCounter
    renderer: RequestRenderer
    capped: TokenCounter = field(init=False)
    conversation: CountedConversation = field(init=False)
    query: int | None = field(init=False)
    overhead: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "capped", CappedCounter(self.counter, self.limit))
        conversation = CountedConversation(self.request.history, self.capped)
        object.__setattr__(self, "conversation", conversation)
        object.__setattr__(self, "query", None if self.request.query else last_user_message(conversation))
        object.__setattr__(self, "overhead", self.renderer.overhead_tokens(self.request, self.counter))

    @property
    def available(self) -> int:
        """Tokens that the four components may share."""
        return self.limit - self.overhead

    @property
    def query_text(self) -> str:
        """The whole query, as one text to rank by."""
        if self.query is None:
            return "\n".join(self.request.query_texts)
        message = self.conversation.message(self.query)
        # What is sent with the question is not what is asked, unless there is nothing else.
        positions = message.own if message.sources else range(len(message.texts))
        return "\n".join(message.texts[i] for i in positions or range(len(message.texts)))

    @property
    def only_messages(self) -> bool:
        """Whether the request is a list of messages in a chat frame, so that costs add up exactly."""
        request = self.request
        return not (request.system or request.query or request.documents) and self.renderer.is_additive

    def with_sections(self, sections: Sequence[Section]) -> MeasuredRequest:
        """Return the measured request with other sections; what was read of the conversation stays read."""
        changed = copy(self)
        object.__setattr__(changed, "request", replace(self.request, sections=tuple(sections)))
        object.__setattr__(changed, "overhead", self.renderer.overhead_tokens(changed.request, self.counter))
        return changed

    def with_limit(self, limit: int) -> MeasuredRequest:
        """Return the measured request with a smaller limit; what was read of the conversation stays read."""
        changed = copy(self)
        object.__setattr__(changed, "limit", limit)
        return changed

    def without_results_in_query(self) -> MeasuredRequest:
        """Return the measured whose query has no tool results beside it; their calls are not part of the query."""
        changed = copy(self)
        if self.query is not None:
            object.__setattr__(changed, "conversation", self.conversation.without_results([self.query]))
        return changed

    def count(self, draft: Draft) -> int:
        """Return the tokens of the request rendered with the parts of `draft`."""
        return self.renderer.count(self.request, self.conversation, draft, self.counter)


def measure_needs(measured: MeasuredRequest) -> dict[Component, int]:
    """Return what each component has, in tokens; documents and history are counted no further than the budget."""
    request, conversation, count = measured.request, measured.conversation, measured.capped.count
    overhead = measured.renderer.system_overhead(measured.counter)
    in_conversation = sum(map(conversation.cost, conversation.systems))
    asked = 0 if measured.query is None else conversation.cost(measured.query)
    return {
        "system": in_conversation + sum(count(text) + overhead for text in request.system_texts),
        "query": asked + sum(map(count, request.query_texts)),
        "documents": documents_need(
            request.documents, measured.renderer.documents, measured.counter, max(0, measured.available)
        ),
        "history": _history_need(measured, in_conversation + asked),
    }


def _history_need(measured: MeasuredRequest, charged_elsewhere: int) -> int:
    """Tokens of the conversation without system messages and query; `available + 1` stands for any larger figure."""
    enough = max(0, measured.available) + charged_elsewhere
    total = measured.conversation.total_up_to(enough)
    return max(0, measured.available) + 1 if total > enough else total - charged_elsewhere


def documents_need(
    documents: Sequence[Document], rendering: DocumentRendering, counter: TokenCounter, most: int
) -> int:
    """Return the tokens of rendered documents, separators included; `most + 1` stands for any figure above `most`."""
    total = 0
    for index, document in enumerate(documents):
        if not is_blank(document):
            rendered = rendering.render(index, document.text or "") + rendering.separator
            total += attachment_tokens(document, counter)
            if total > most or counter.exceeds(rendered, most - total):
                return most + 1
            total += counter.count(rendered)
    return total


def fits(measured: MeasuredRequest) -> bool:
    """Tell whether the request fits as it is: bytes first, then counts with an early stop, then the rendering."""
    conversation, available = measured.conversation, measured.available
    if measured.only_messages:
        if available < 0:
            return False
        return conversation.bytes_prove_fit(available) or conversation.total_up_to(available) <= available
    if measured.renderer.is_additive and conversation.total_up_to(measured.limit) > measured.limit:
        return False
    return measured.count(as_given(measured)) <= measured.limit


def as_given(measured: MeasuredRequest) -> Draft:
    """Return the draft that holds the whole request; the conversation is not read."""
    request = measured.request
    documents = tuple((i, document.text or "") for i, document in enumerate(request.documents))
    length = len(measured.conversation)
    return Draft(
        system=request.system_texts,
        query=request.query_texts,
        documents=documents,
        trimming=Trimming(kept=range(length), length=length),
    )


def everything_packed(measured: MeasuredRequest) -> Packing:
    """Return the packing that keeps every document as it is."""
    return Packing(kept=tuple(range(len(measured.request.documents))))


def count_request(request: ContextRequest, counter: TokenCounter, renderer: RequestRenderer) -> int:
    """Return the tokens of a request as it is, rendered."""
    measured = MeasuredRequest(request=request, limit=NO_LIMIT, counter=counter, renderer=renderer)
    return measured.count(as_given(measured))


def describe_costs(costs: Mapping[str, int]) -> str:
    """Return costs by part as one line, for error messages; `tools`, which are a part of `fixed`, say so."""
    parts = [
        f"of which tools {tokens:,}" if name == "tools" else f"{name} {tokens:,}" for name, tokens in costs.items()
    ]
    return ", ".join(parts)
