"""Cutting the system prompt and the query, which are cut at sentence borders and never reordered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ctxopt_core.fitting.measured_request import MeasuredRequest
from ctxopt_core.shortening.shorten_message import ATTACHMENT_OMITTED, Shortened, shorten_message
from ctxopt_core.shortening.token_limits import level_down
from ctxopt_core.shortening.truncate import truncate, truncate_entries


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentCut:
    """What is left of the system prompt or of the query.

    Args:
        texts: The texts that the request gives itself, in order; a text that did not fit at all is empty.
        shortened: New texts of messages of the conversation.
        lost: Messages of the conversation of which nothing is left.
        emptied: Whether nothing is left of a text that said something.
        tokens: What it has, with the overhead of its messages.
    """

    texts: tuple[str, ...] = ()
    shortened: Mapping[int, Shortened] = field(default_factory=lambda: MappingProxyType({}))
    lost: frozenset[int] = frozenset()
    emptied: bool = False
    tokens: int = 0


def cut_system(measured: MeasuredRequest, allowed: int) -> ComponentCut:
    """Truncate the longest system texts, so that all together count at most `allowed` tokens; short ones stay whole."""
    conversation, count = measured.conversation, measured.capped.count
    own = measured.request.system_texts
    overhead = measured.renderer.system_overhead(measured.capped)
    messages = {i: conversation.message(i).texts for i in conversation.systems}
    total = sum(count(text) + overhead for text in own) + sum(map(conversation.cost, messages))
    blank = frozenset(i for i in messages if conversation.is_blank(i))
    if total <= allowed:
        return ComponentCut(texts=own, lost=blank, tokens=total - sum(map(conversation.cost, blank)))
    entries = [*own, *(text for texts in messages.values() for text in texts)]
    counts = list(map(count, entries))
    without = {i: _without_attachments(measured, i) for i in messages}
    around = total - sum(map(conversation.cost, messages)) + sum(without.values()) - sum(counts)
    rooms = level_down(counts, allowed - around)
    cut = [truncate(text, room, measured.capped) for text, room in zip(entries, rooms, strict=True)]
    emptied = any(text.strip() and not left.strip() for text, left in zip(entries, cut, strict=True))
    kept = tuple(cut[: len(own)])
    shortened = _shortened_messages(measured, messages, without, iter(cut[len(own) :]))
    silent = [i for i, message in shortened.items() if not any(map(str.strip, message.texts))]
    lost = blank | frozenset(i for i in silent if around > allowed or not shortened[i].attachments_omitted)
    left = {i: message for i, message in shortened.items() if i not in lost}
    tokens = sum(count(text) + overhead for text in kept if text) + sum(message.tokens for message in left.values())
    return ComponentCut(texts=kept, shortened=MappingProxyType(left), lost=lost, emptied=emptied, tokens=tokens)


def _shortened_messages(
    measured: MeasuredRequest, messages: Mapping[int, tuple[str, ...]], without: Mapping[int, int], cut: Iterator[str]
) -> dict[int, Shortened]:
    count = measured.capped.count
    shortened: dict[int, Shortened] = {}
    for index, texts in messages.items():
        new = tuple(next(cut) for _ in texts)
        tokens = without[index] - sum(map(count, texts)) + sum(map(count, new))
        omitted = bool(measured.conversation.message(index).removable)
        shortened[index] = Shortened(texts=new, attachments_omitted=omitted, tokens=tokens)
    return shortened


def _without_attachments(measured: MeasuredRequest, index: int) -> int:
    """Return what a message counts when a mark stands for its attachments."""
    removable, cost = measured.conversation.message(index).removable, measured.conversation.cost(index)
    if not removable:
        return cost
    return cost - sum(attachment.cost for attachment in removable) + measured.capped.count(ATTACHMENT_OMITTED)


def cut_query(measured: MeasuredRequest, allowed: int) -> ComponentCut | None:
    """Truncate the query so that it counts at most `allowed` tokens.

    A query that the request gives itself is cut to its longest prefix of whole sentences, its entries in proportion. A
    query that is a message keeps its head and its tail around a marker, since the question often stands at the end.

    Returns:
        None when nothing of the query would be left: an empty query is never sent.
    """
    count = measured.capped.count
    if measured.query is None:
        entries = measured.request.query_texts
        texts = entries
        if sum(map(count, entries)) > allowed:
            texts = tuple(truncate_entries(entries, max(0, allowed), measured.capped))
            if any(map(str.strip, entries)) and not any(map(str.strip, texts)):
                return None
        return ComponentCut(texts=texts, tokens=sum(map(count, texts)))
    cost = measured.conversation.cost(measured.query)
    if cost <= allowed:
        return ComponentCut(tokens=cost)
    message = measured.conversation.message(measured.query)
    cut = shorten_message(message, cost, allowed, measured.capped, marks_suffice=False)
    if cut is None:
        return None
    return ComponentCut(shortened=MappingProxyType({measured.query: cut}), tokens=cut.tokens)
