"""Shortens a message to a token budget: head, a marker that says how much is missing, and tail of its texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.messages.message import Message
from ctxopt_core.runtime.pickling import reduced
from ctxopt_core.shortening.call_arguments import arguments_are_sealed, level_arguments
from ctxopt_core.shortening.omission_notes import is_omitted_mark, referring_excerpt, results_by_text
from ctxopt_core.shortening.text_shares import shares_of_texts, sources_that_go, tokens_beside
from ctxopt_core.shortening.truncate import level_down, truncate

OMITTED = "[omitted]"
ATTACHMENT_OMITTED = "[attachment omitted]"
_MARKS = (OMITTED, "…")
_TEXT_FLOOR = 24  # tokens of texts beside calls, as in a shrunk turn: arguments are cut before less is left of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """What is left of a shortened message.

    Args:
        texts: One string for each text part that the message had; an empty one means that the part goes.
        attachments_omitted: Whether attachments are replaced by one text part, `[attachment omitted]`.
        omitted_first: How many of them are, the first ones, where the others stay; None where all of them are.
        results_omitted: Whether the tool results in it are left out, since the calls that they answer are not there;
            `texts` has none of theirs then.
        arguments: Shorter arguments of calls, as JSON, by the position of the call in the message.
        tokens: The tokens of the shortened message.
    """

    texts: tuple[str, ...]
    attachments_omitted: bool = False
    omitted_first: int | None = None
    results_omitted: bool = False
    arguments: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    tokens: int

    def omits_attachment(self, before: int) -> bool:
        """Return whether the next attachment that may be left out is, after `before` of them were."""
        return self.attachments_omitted and (self.omitted_first is None or before < self.omitted_first)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the fields; views that cannot be pickled as plain mappings."""
        return reduced(self)


def excerpt(
    text: str, budget: int, counter: TokenCounter, *, reference: str | None = None, lines_before: int = 0
) -> str:
    """Return head, marker and tail of `text` in at most `budget` tokens, or the shortest mark if no more fits.

    With a `reference` to a tool result, which has `lines_before` before this string, the marker says how the omitted
    lines can be read.

    Returns:
        The string itself when it fits; an empty string only when nothing at all fits.
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
    """Return what is left of a message when it has at most `target` tokens.

    Attachments go first, one by one from the first on, since each is whole or nothing. Then the texts are cut, the
    longest first, and those of results and sources before what is said beside them. Arguments of calls are cut last.

    Args:
        message: The message to shorten.
        cost: The tokens that it has now.
        target: The tokens that it may have.
        counter: Counts the result.
        marks_suffice: Whether a mark may be all that is left of the texts.
        arguments_may_go: Whether arguments may be shortened where shorter texts do not suffice. They never are where
            reasoning is beside them.
        references: Whether the markers in results say how the omitted lines can be read.

    Returns:
        None when the message cannot be made that short without becoming empty.
    """
    removable = message.removable
    if removable:
        without = cost + counter.count(ATTACHMENT_OMITTED)
        for first, attachment in enumerate(removable, start=1):
            without -= attachment.cost
            if without <= target:
                some = first if first < len(removable) else None
                return Shortened(texts=message.texts, attachments_omitted=True, omitted_first=some, tokens=without)
        cost = without
    counts = [counter.count(text) for text in message.texts]
    framing = cost - sum(counts)
    gone = sources_that_go(message, framing, target, counter) if message.sources else []
    framing -= sum(tokens_beside(message, source, counter) for source in gone)
    for position in (i for source in gone for i in source.texts):
        counts[position] = 0
    known = results_by_text(message) if references else {}
    texts: list[str] = []
    for position, limit in enumerate(shares_of_texts(message, counts, target - framing)):
        reference, before = known.get(position, (None, 0))
        text = message.texts[position] if counts[position] else ""
        texts.append(excerpt(text, limit, counter, reference=reference, lines_before=before))
    tokens = framing + sum(map(counter.count, texts))
    if tokens <= target:
        if not _still_speaks(message, texts, marks_suffice=marks_suffice):
            return None
        return Shortened(texts=tuple(texts), attachments_omitted=bool(removable), tokens=tokens)
    return _with_short_arguments(message, cost, target, counter) if arguments_may_go else None


def _still_speaks(message: Message, texts: Sequence[str], *, marks_suffice: bool) -> bool:
    """Return whether enough is left of a message: of its texts, of what a user says beside results, of each result."""
    if not marks_suffice and not any(t.strip() and t not in _MARKS and not is_omitted_mark(t) for t in texts):
        return False
    before = message.texts
    if message.tool_results:
        spoken = [i for i in message.spoken if before[i].strip()]
        if spoken and not any(texts[i].strip() and (texts[i] == before[i] or texts[i] not in _MARKS) for i in spoken):
            return False
        for result in message.tool_results:
            if any(before[i].strip() for i in result.texts) and not any(texts[i].strip() for i in result.texts):
                return False
    beside = bool(message.tool_calls or message.attachments or (message.verbatim and not message.sources))
    return beside or any(text.strip() for text in texts)


def _with_short_arguments(message: Message, cost: int, target: int, counter: TokenCounter) -> Shortened | None:
    """Return a message with short texts, in which shorter arguments save the rest."""
    calls = message.tool_calls
    if not calls or arguments_are_sealed(message):
        return None
    counts = [counter.count(text) for text in message.texts]
    beside = cost - sum(counts) - sum(counter.count(call.arguments) for call in calls)
    for floor in dict.fromkeys((min(_TEXT_FLOOR, sum(counts)), 0)):
        limits = level_down(counts, floor)
        texts = tuple(excerpt(text, limit, counter) for text, limit in zip(message.texts, limits, strict=True))
        said = beside + sum(map(counter.count, texts))
        arguments = level_arguments(calls, target - said, counter)
        if arguments is not None:
            tokens = said + sum(counter.count(arguments.get(i, call.arguments)) for i, call in enumerate(calls))
            omitted = bool(message.removable)
            return Shortened(texts=texts, attachments_omitted=omitted, arguments=arguments, tokens=tokens)
    return None
