"""What is left of a long message: its head, a mark that says how much is missing, and its tail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.messages.message import Message
from ctxopt_core.runtime.pickling import reduced
from ctxopt_core.shortening.call_arguments import arguments_are_sealed, level_arguments
from ctxopt_core.shortening.omission_notes import is_omitted_mark, results_by_text
from ctxopt_core.shortening.referenced_excerpts import referring_excerpt
from ctxopt_core.shortening.token_limits import level_down, rooms_of_texts, silences
from ctxopt_core.shortening.truncate import truncate

OMITTED = "[omitted]"
ATTACHMENT_OMITTED = "[attachment omitted]"
_MARKS = (OMITTED, "…")
_TEXT_FLOOR = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """The new texts of a shortened message.

    Args:
        texts: One text for each text part that the message had; an empty one means that the part goes.
        attachments_omitted: Whether its attachments are replaced by one text part, `[attachment omitted]`.
        results_omitted: Whether the results in it are left out whole, since no call is there that they answer; `texts`
            has none of theirs then.
        arguments: Shorter arguments of calls, as JSON, by the position of the call in the message.
        tokens: What the message counts now.
    """

    texts: tuple[str, ...]
    attachments_omitted: bool = False
    results_omitted: bool = False
    arguments: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    tokens: int

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the fields; views that cannot be pickled as plain mappings."""
        return reduced(self)


def excerpt(
    text: str, budget: int, counter: TokenCounter, *, reference: str | None = None, lines_before: int = 0
) -> str:
    """Return head, marker and tail of `text` in at most `budget` tokens, or the shortest mark if no more fits.

    Args:
        text: The text to shorten.
        budget: The most that the result may count, in tokens.
        counter: Counts the result.
        reference: The tool result that the text is of: the marker says how the omitted lines can be read. See
            `ctxopt_core.omitted_content.results_by_text`.
        lines_before: The lines of that result before this text.

    Returns:
        The text itself when it fits; an empty text only when nothing at all fits.
    """
    if not counter.exceeds(text, budget):
        return text
    if reference is not None:
        referring = referring_excerpt(text, budget, counter, reference=reference, lines_before=lines_before)
        if referring is not None:
            return referring
    found = truncate(text, budget, counter, side="middle")
    if found.strip():
        return found
    return next((mark for mark in _MARKS if not counter.exceeds(mark, budget)), "")


def shorten_message(
    message: Message,
    cost: int,
    target: int,
    counter: TokenCounter,
    *,
    marks_suffice: bool = True,
    arguments_may_go: bool = False,
    references: bool = False,
) -> Shortened | None:
    """Return the texts with which a message counts at most `target` tokens.

    Attachments go first, since they are whole or nothing; then the texts are cut, the longest first, and those of
    results before those that a user says beside them. Arguments of calls are cut last.

    Args:
        message: The message to shorten.
        cost: What it counts now, in tokens.
        target: What it may count, in tokens.
        counter: Counts the result.
        marks_suffice: Whether a mark may be all that is left of the texts.
        arguments_may_go: Whether arguments may be shortened where shorter texts do not suffice. They never are where
            reasoning is beside them.
        references: Whether the markers in results say how the omitted lines can be read.

    Returns:
        None when the message cannot be made that short without becoming empty.
    """
    texts = message.texts
    removable = message.removable
    if removable:
        without = cost - sum(attachment.cost for attachment in removable) + counter.count(ATTACHMENT_OMITTED)
        if without <= target:
            return Shortened(texts=texts, attachments_omitted=True, tokens=without)
        cost = without
    counts = [counter.count(text) for text in texts]
    framing = cost - sum(counts)
    allowed = rooms_of_texts(message, counts, target - framing)
    shortened = _excerpts(message, allowed, counter, references=references)
    tokens = framing + sum(counter.count(text) for text in shortened)
    if tokens <= target:
        if not _still_speaks(message, shortened, marks_suffice=marks_suffice):
            return None
        return Shortened(texts=shortened, attachments_omitted=bool(removable), tokens=tokens)
    return _with_short_arguments(message, cost, target, counter) if arguments_may_go else None


def _excerpts(message: Message, rooms: Sequence[int], counter: TokenCounter, *, references: bool) -> tuple[str, ...]:
    known = results_by_text(message) if references else {}
    found: list[str] = []
    for position, (text, room) in enumerate(zip(message.texts, rooms, strict=True)):
        reference, before = known.get(position, (None, 0))
        found.append(excerpt(text, room, counter, reference=reference, lines_before=before))
    return tuple(found)


def _still_speaks(message: Message, texts: Sequence[str], *, marks_suffice: bool) -> bool:
    if not marks_suffice and not any(text.strip() and not _is_mark(text) for text in texts):
        return False
    if silences(message, texts, _MARKS):
        return False
    return bool(message.tool_calls or message.attachments or message.verbatim or any(text.strip() for text in texts))


def _is_mark(text: str) -> bool:
    return text in _MARKS or is_omitted_mark(text)


def _with_short_arguments(message: Message, cost: int, target: int, counter: TokenCounter) -> Shortened | None:
    """Return a message whose texts are short, and whose arguments make up for the rest."""
    calls = message.tool_calls
    if not calls or arguments_are_sealed(message):
        return None
    counts = [counter.count(text) for text in message.texts]
    beside = cost - sum(counts) - sum(counter.count(call.arguments) for call in calls)
    for floor in dict.fromkeys((min(_TEXT_FLOOR, sum(counts)), 0)):
        rooms = level_down(counts, floor)
        texts = tuple(excerpt(text, room, counter) for text, room in zip(message.texts, rooms, strict=True))
        said = beside + sum(counter.count(text) for text in texts)
        arguments = level_arguments(calls, target - said, counter)
        if arguments is not None:
            left = (arguments.get(i, call.arguments) for i, call in enumerate(calls))
            tokens = said + sum(counter.count(text) for text in left)
            omitted = bool(message.removable)
            return Shortened(texts=texts, attachments_omitted=omitted, arguments=arguments, tokens=tokens)
    return None
