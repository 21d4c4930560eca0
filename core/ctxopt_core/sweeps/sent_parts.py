"""A fitted request as the parts in which it is sent, and how much of it repeats the request before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ctxopt_core.conversation.message_tokens import TOKENS_PER_MESSAGE, TOKENS_PER_NAME, message_tokens
from ctxopt_core.counting.split_points import cut_before
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.fitting.fitted_context import FittedContext, shortened_message
from ctxopt_core.fitting.request_renderer import ChatRenderer, Draft, opening_system_text, schema_tokens
from ctxopt_core.history.trimming import kept_items
from ctxopt_core.messages.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPart:
    """One part of a request: its tool schemas, or a message.

    Args:
        message: The message; None for the tool schemas.
        index: Its index in the conversation; None for one that is not in it.
        tokens: Its tokens.
    """

    message: Message | None
    index: int | None
    tokens: int

    def repeats(self, other: SentPart) -> bool:
        """Whether it is sent as the same bytes as the other one.

        What is attached is known by its index only: the bytes of images and files are not read.
        """
        if self.message is other.message:
            return True
        if self.message is None or other.message is None or self.message != other.message:
            return False
        return self.index == other.index or not self.message.attachments


def sent_parts(fitted: FittedContext, cost: Callable[[int], int], counter: TokenCounter) -> list[SentPart]:
    """Return the parts of a request in the order in which providers cache them: tools, system messages, messages.

    Args:
        fitted: The fitted request, rendered as `ChatRenderer` renders it.
        cost: Returns the tokens of a message of the conversation by its index.
        counter: Counts tokens.
    """
    request, trimming = fitted.request, fitted.history
    parts: list[SentPart] = []
    if request.tools or request.fixed_tokens:
        opening = opening_system_text(request, fitted.system, trimming)
        fixed = schema_tokens(request, counter, system=opening) + request.fixed_tokens
        parts.append(SentPart(message=None, index=None, tokens=fixed))
    parts += (_added("system", text, counter) for text in fitted.system if text)
    entries = fitted.sections if fitted.sections else [section.entries for section in request.sections]
    parts += (_added("system", text, counter) for text in map("\n".join, entries) if text)
    shortened = {
        index: SentPart(message=shortened_message(request.history[index], cut), index=index, tokens=cut.tokens)
        for index, cut in trimming.shortened.items()
    }
    parts += kept_items(
        _Whole(fitted, cost),
        trimming,
        shortened=lambda index, _: shortened[index],
        added=lambda message: _added(message.role, message.text, counter),
    )
    kept = zip(fitted.documents.kept, fitted.document_texts(), strict=True)
    user_text = ChatRenderer().user_text(Draft(query=fitted.query, documents=tuple(kept)))
    return [*parts, *([_added("user", user_text, counter)] if user_text else [])]


class _Whole:
    """The messages of a conversation as parts, each made when it is read."""

    def __init__(self, fitted: FittedContext, cost: Callable[[int], int]) -> None:
        self._history, self._cost = fitted.request.history, cost

    def __getitem__(self, index: int) -> SentPart:
        return SentPart(message=self._history[index], index=index, tokens=self._cost(index))


def _added(role: str, text: str, counter: TokenCounter) -> SentPart:
    message = Message(role=role, content=text)
    return SentPart(message=message, index=None, tokens=message_tokens(message, counter))


def common_tokens(
    before: Sequence[SentPart], now: Sequence[SentPart], counter: TokenCounter, *, whole_messages: bool
) -> int:
    """Return how many tokens at the start of a request repeat the one before.

    Args:
        before: The parts of the request before.
        now: The parts of this one.
        counter: Counts tokens.
        whole_messages: Whether nothing of the first message that differs is added.
    """
    tokens = 0
    for part, earlier in zip_longest(now, before):
        if part is None or earlier is None:
            break
        if not part.repeats(earlier):
            if not whole_messages and part.message is not None and earlier.message is not None:
                tokens += _common_start(part.message, earlier.message, counter)
            break
        tokens += part.tokens
    return tokens


def _common_start(one: Message, other: Message, counter: TokenCounter) -> int:
    """Return the tokens at the start of two messages that differ, up to a place where both are tokenized alike."""
    if (one.role, one.name, one.tool_call_id) != (other.role, other.name, other.tool_call_id):
        return 0
    tokens = TOKENS_PER_MESSAGE + counter.count(one.role)
    tokens += TOKENS_PER_NAME + counter.count(one.name) if one.name else 0
    tokens += counter.count(one.tool_call_id) if one.tool_call_id else 0
    for text, earlier in zip(one.texts, other.texts, strict=False):
        if text != earlier:
            same = next((i for i, (a, b) in enumerate(zip(text, earlier, strict=False)) if a != b), -1)
            same = min(len(text), len(earlier)) if same < 0 else same
            return tokens + counter.count(text[: cut_before(text, same, within=same)])
        tokens += counter.count(text)
    return tokens
