"""A conversation in any form that the core reads, and the requests that were sent as it grew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.formats.request_files import EXPECTED, request_file
from ctxopt_core.messages.message import Message
from ctxopt_core.messages.message_views import LazyMessages
from ctxopt_core.request import ContextRequest
from ctxopt_core.sweeps.run_sweep import read_whole

_FORMS = "a ContextRequest, Messages, message mappings of OpenAI or Anthropic, or an object with `messages` or `input`"


def read_conversation(given: object) -> ContextRequest:
    """Return the conversation as one request, with its query as the last message and its messages read.

    Raises:
        TypeError: It is of no form that is known.
        ValueError: It has no message.
    """
    request = _as_request(given)
    if asked := "\n".join(text for text in request.query_texts if text):
        history = [*request.history, Message(role="user", content=asked)]  # type: ignore[misc]  # it was read whole
        request = replace(request, history=history, query=())
    if not len(request.history):
        message = "`conversation` must have at least one message, got none"
        raise ValueError(message)
    return request


def _as_request(given: object) -> ContextRequest:
    if isinstance(given, ContextRequest):
        return read_whole(given)
    if isinstance(given, LazyMessages):
        return read_whole(ContextRequest(history=given))
    if isinstance(given, Sequence) and given and all(isinstance(item, Message) for item in given):
        return ContextRequest(history=list(given))
    is_json = isinstance(given, Mapping) or (
        isinstance(given, Sequence) and all(isinstance(item, Mapping) for item in given)
    )
    if not is_json:
        what = type(given).__name__
        if isinstance(given, Sequence) and given and not isinstance(given, str):
            what += f" of {type(given[0]).__name__}"
        message = (
            f"`conversation` must be {_FORMS}, got {what}; messages of LangChain and LlamaIndex go to the `replay` of "
            "`langchain_ctxopt` and `llamaindex_ctxopt`"
        )
        raise TypeError(message)
    stored = request_file(list(given) if isinstance(given, Sequence) else given)
    if stored is None:
        message = f"`conversation` must hold messages: {EXPECTED}"
        raise ValueError(message)
    return read_whole(stored.request)


def request_lengths(conversation: CountedConversation) -> Iterator[int]:
    """Yield how many messages each request had that a model was sent.

    One was sent before each answer of the assistant, thus after each user message and after each round of tool results.
    Messages of the assistant in a row are one answer. What comes before the first user message was not asked for.
    """
    asked = answered = False
    for index in range(len(conversation)):
        role = conversation.role(index)
        answers = role not in ("user", "system", "developer", "tool", "function")
        if answers and not answered and asked:
            yield index
        asked = asked or role == "user"
        answered = answers
    if asked and not answered:
        yield len(conversation)


def requests_of(request: ContextRequest, counter: TokenCounter) -> list[ContextRequest]:
    """Return the requests that were sent as a conversation grew, the oldest first.

    Raises:
        ValueError: There is none, since no user asks for anything.
    """
    messages = list(request.history)  # type: ignore[arg-type]  # it was read whole
    lengths = list(request_lengths(CountedConversation(messages, counter)))
    if not lengths:
        message = f"`conversation` must have a user message, got {len(messages)} messages without one"
        raise ValueError(message)
    return [replace(request, history=messages[:length]) for length in lengths]
