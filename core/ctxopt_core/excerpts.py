"""What is left of a long message: its head, a mark that says how much is missing, and its tail."""

from __future__ import annotations

from dataclasses import dataclass

from ctxopt_core.messages import Message
from ctxopt_core.result_rooms import rooms_of_texts, silences
from ctxopt_core.tokens import TokenCounter
from ctxopt_core.truncation import truncate

OMITTED = "[omitted]"
ATTACHMENT_OMITTED = "[attachment omitted]"
_MARKS = (OMITTED, "…")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """The new texts of a shortened message.

    Args:
        texts: One text for each text part that the message had; an empty one means that the part goes.
        attachments_omitted: Whether its attachments are replaced by one text part, `[attachment omitted]`.
        results_omitted: Whether the results in it are left out whole, since no call is there that they answer; `texts`
            has none of theirs then.
        tokens: What the message counts now.
    """

    texts: tuple[str, ...]
    attachments_omitted: bool = False
    results_omitted: bool = False
    tokens: int


def excerpt(text: str, budget: int, counter: TokenCounter) -> str:
    """Return head, marker and tail of `text` in at most `budget` tokens, or the shortest mark if no more fits.

    Args:
        text: The text to shorten.
        budget: The most that the result may count, in tokens.
        counter: Counts the result.

    Returns:
        The text itself when it fits; an empty text only when nothing at all fits.
    """
    if not counter.exceeds(text, budget):
        return text
    found = truncate(text, budget, counter, side="middle")
    if found.strip():
        return found
    return next((mark for mark in _MARKS if not counter.exceeds(mark, budget)), "")


def shorten_message(
    message: Message, cost: int, target: int, counter: TokenCounter, *, marks_suffice: bool = True
) -> Shortened | None:
    """Return the texts with which a message counts at most `target` tokens.

    Attachments go first, since they are whole or nothing; then the texts are cut, the longest first, and those of
    results before those that a user says beside them.

    Args:
        message: The message to shorten.
        cost: What it counts now, in tokens.
        target: What it may count, in tokens.
        counter: Counts the result.
        marks_suffice: Whether a mark may be all that is left of the texts.

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
    shortened = tuple(excerpt(text, room, counter) for text, room in zip(texts, allowed, strict=True))
    if not marks_suffice and not any(text.strip() and text not in _MARKS for text in shortened):
        return None
    if silences(message, shortened, _MARKS):
        return None
    speaks = message.tool_calls or message.attachments or message.verbatim or any(text.strip() for text in shortened)
    tokens = framing + sum(counter.count(text) for text in shortened)
    if not speaks or tokens > target:
        return None
    return Shortened(texts=shortened, attachments_omitted=bool(removable), tokens=tokens)
