"""A chat history as people have it at hand, pasted or loaded: as JSON of several kinds, or as plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ctxopt_core.messages import Message
from ctxopt_core.openai_messages import message_from_openai
from ctxopt_core.playground.langchain_dumps import constructed, is_langchain_message, openai_message
from ctxopt_core.playground.pasted_json import PastedJson, UnreadablePasteError, opens_json, read_json
from ctxopt_core.playground.plain_transcripts import read_transcript
from ctxopt_core.request import ContextRequest
from ctxopt_core.request_files import EXPECTED, StoredRequest, stored_request

HistoryFormat = Literal["OpenAI JSON", "Anthropic JSON", "LangChain messages", "transcript", "plain text"]
"""What a pasted history was recognised as; messages that all chat APIs share are those of OpenAI."""

NOTHING_PASTED = "the text is empty; paste messages as JSON, or as lines such as `User: ...` and `Assistant: ...`"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastedHistory:
    """A chat history that was read.

    Args:
        stored: The request, and the JSON value that stands for it: what `fitted_files.fitted_content` cuts. Messages
            of LangChain and of plain text are in the shape of OpenAI's chat API there.
        format: What the text was recognised as.
        notes: What was assumed or passed over, for whoever pasted it.
    """

    stored: StoredRequest
    format: HistoryFormat
    notes: tuple[str, ...] = ()

    @property
    def request(self) -> ContextRequest:
        """What is fitted: the messages in their order, and what goes with them. The last user message is the query."""
        return self.stored.request


def read_history(text: str) -> PastedHistory:
    """Return the chat history of a text.

    It is JSON for OpenAI's or Anthropic's chat API or of LangChain messages: a list of messages, a request with
    `messages`, one message, or lines of these. Or it is a plain text; see `read_transcript`. No message is lost, and
    their order is kept.

    Raises:
        UnreadablePasteError: It is none of these. The message says where.
    """
    if not text.strip("\ufeff \t\r\n"):
        raise UnreadablePasteError(NOTHING_PASTED)
    if opens_json(text):
        return _of_json(read_json(text))
    transcript = read_transcript(text)
    found = history_of(list(transcript.rows))
    return replace(found, format="transcript" if transcript.spoken else "plain text", notes=transcript.notes)


def history_of(value: Any) -> PastedHistory:
    """Return the chat history that a JSON value holds. It is not changed.

    Args:
        value: A list of messages, a request with `messages`, or one message.

    Raises:
        UnreadablePasteError: It is none of these.
    """
    content = _with_openai_messages(_request_in(value))
    try:
        stored = stored_request(content)
    except (TypeError, ValueError) as error:
        raise UnreadablePasteError(str(error)) from error
    if stored is None:
        raise UnreadablePasteError(EXPECTED)
    views = stored.request.history
    whole = replace(stored.request, history=tuple(views[index] for index in range(len(views))))
    return PastedHistory(
        stored=replace(stored, request=whole),
        format=_format(value, stored),
    )


def _of_json(pasted: PastedJson) -> PastedHistory:
    first, *others = pasted.values
    if pasted.lines is None:
        return history_of(first)
    if _is_message(first):
        for number, value in zip(pasted.lines, pasted.values, strict=True):
            if not _is_message(value):
                message = f"line {number}: the lines before hold one message each, so this one must hold one, too"
                raise UnreadablePasteError(message)
        return history_of(list(pasted.values))
    found = history_of(first)
    note = f"only the first of {len(pasted.values):,} requests is read" if others else ""
    return replace(found, notes=(*found.notes, note)) if note else found


def _request_in(value: Any) -> Any:
    """Return a list of messages or a request; one message becomes a list, and a dumped prompt its arguments."""
    if _is_message(value):
        return [value]
    arguments = constructed(value)
    return value if arguments is None else dict(arguments)


def _is_message(value: object) -> bool:
    if is_langchain_message(value):
        return True
    return isinstance(value, Mapping) and isinstance(value.get("role"), str) and "messages" not in value


def _with_openai_messages(content: Any) -> Any:
    """Return a list of messages or a request with LangChain's messages in the shape of OpenAI's, each one checked."""
    if isinstance(content, list):
        return _openai_messages(content)
    if isinstance(content, Mapping) and isinstance(content.get("messages"), list):
        return {**content, "messages": _openai_messages(content["messages"])}
    return content


def _openai_messages(rows: Sequence[Any]) -> list[Any]:
    return [_openai_message(row, number) for number, row in enumerate(rows, 1)]


def _openai_message(row: Any, number: int) -> Any:
    try:
        found = openai_message(row) if is_langchain_message(row) else row
        _check(message_from_openai(found))
    except (TypeError, ValueError) as error:
        message = f"message {number}: {error}"
        raise UnreadablePasteError(message) from error
    return found


def _check(message: Message) -> None:
    for name in ("name", "tool_call_id"):
        given = getattr(message, name)
        if given is not None and not isinstance(given, str):
            wrong = f"`{name}` must be a text, got {type(given).__name__}"
            raise TypeError(wrong)


def _format(value: Any, stored: StoredRequest) -> HistoryFormat:
    inside = _request_in(value)
    rows = inside if isinstance(inside, list) else inside.get("messages") or ()
    if any(map(is_langchain_message, rows)):
        return "LangChain messages"
    return "Anthropic JSON" if stored.shape == "anthropic" else "OpenAI JSON"
