"""Cut one component of a request to an allowance in tokens: system prompt, query, documents, history.

System prompt and query are cut at sentence borders and never reordered; of the query head and tail stay. Everything
here returns a new value; `ComponentCuts` decides which component is cut, and to how much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ctxopt_core.budget.shares import COMPONENTS, Allocation, Component, Shares, allocate
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.packing import Packing, pack_documents
from ctxopt_core.fitting.measured_request import MeasuredRequest
from ctxopt_core.fitting.options import FitOptions
from ctxopt_core.fitting.request_renderer import Draft
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.history.trim import trim
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.shortening.shorten_message import ATTACHMENT_OMITTED, Shortened, shorten_message
from ctxopt_core.shortening.truncate import level_down, truncate, truncate_entries


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The outcome of a cut.

    Args:
        measured: What was cut, its sections already being what is left of them.
        draft: What the request holds now.
        packing: The documents' part of it.
        allocation: Tokens that each component was allowed.
        used: Tokens that each component uses.
        whole: Tokens of the rendered request.
    """

    measured: MeasuredRequest
    draft: Draft
    packing: Packing
    allocation: Allocation
    used: Mapping[Component, int]
    whole: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCut:
    """What is left of the system prompt or of the query.

    Args:
        texts: The strings that the request gives itself, in order; one that did not fit at all is empty.
        shortened: New content of messages of the conversation.
        lost: Messages of the conversation of which nothing is left.
        emptied: Whether nothing is left of a string that was not blank.
        tokens: What it has, with the overhead of its messages.
    """

    texts: tuple[str, ...] = ()
    shortened: Mapping[int, Shortened] = field(default_factory=lambda: MappingProxyType({}))
    lost: frozenset[int] = frozenset()
    emptied: bool = False
    tokens: int = 0


def cut_system(measured: MeasuredRequest, allowed: int) -> TextCut:
    """Truncate the longest system strings until all together have at most `allowed` tokens; short ones stay whole."""
    conversation, count = measured.conversation, measured.capped.count
    own = measured.request.system_texts
    overhead = measured.renderer.system_overhead(measured.capped)
    messages = {i: conversation.message(i).texts for i in conversation.systems}
    total = sum(count(text) + overhead for text in own) + sum(map(conversation.cost, messages))
    blank = frozenset(i for i in messages if conversation.is_blank(i))
    if total <= allowed:
        return TextCut(texts=own, lost=blank, tokens=total - sum(map(conversation.cost, blank)))
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
    return TextCut(texts=kept, shortened=MappingProxyType(left), lost=lost, emptied=emptied, tokens=tokens)


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
    """Return the tokens of a message when a mark replaces its attachments."""
    removable, cost = measured.conversation.message(index).removable, measured.conversation.cost(index)
    if not removable:
        return cost
    return cost - sum(attachment.cost for attachment in removable) + measured.capped.count(ATTACHMENT_OMITTED)


def cut_query(measured: MeasuredRequest, allowed: int) -> TextCut | None:
    """Truncate the query to at most `allowed` tokens.

    It keeps its head and its tail around a marker, since the question often stands at the end; of several entries each
    does, in proportion.

    Returns:
        None when nothing of the query would be left: an empty query is never sent.
    """
    count = measured.capped.count
    if measured.query is None:
        entries = measured.request.query_texts
        texts = entries
        if sum(map(count, entries)) > allowed:
            texts = tuple(truncate_entries(entries, max(0, allowed), measured.capped, side="middle"))
            if any(map(str.strip, entries)) and not any(map(str.strip, texts)):
                return None
        return TextCut(texts=texts, tokens=sum(map(count, texts)))
    cost = measured.conversation.cost(measured.query)
    if cost <= allowed:
        return TextCut(tokens=cost)
    message = measured.conversation.message(measured.query)
    cut = shorten_message(message, cost, allowed, measured.capped, marks_suffice=False)
    if cut is None:
        return None
    return TextCut(shortened=MappingProxyType({measured.query: cut}), tokens=cut.tokens)


def pack(measured: MeasuredRequest, allowed: int, options: FitOptions) -> Packing:
    """Pack the documents into at most `allowed` tokens, ranked by what is asked."""
    request = measured.request
    return pack_documents(
        request.documents,
        max(0, allowed),
        measured.capped,
        query=options.ranking_query or measured.query_text,
        policy=options.documents,
        rendering=measured.renderer.documents,
    )


def trim_to(
    measured: MeasuredRequest,
    allowed: int,
    policy: HistoryPolicy,
    ranking_query: str,
    needs: Mapping[Component, int],
    shares: Shares,
    summary_tokens: int | None = None,
) -> Trimming:
    """Trim the conversation to at most `allowed` tokens, its system messages and the query aside.

    `needs` and `shares` say what a stable prefix may always use, whatever the other components need at this request;
    `summary_tokens`, what the placeholder with the summary has, where it is written.
    """
    return trim(
        measured.conversation,
        max(0, allowed),
        measured.capped,
        policy=policy,
        query=measured.query,
        ranking_query=ranking_query,
        stable_limit=_stable_limit(measured, needs, shares) if policy.moves_in_steps or policy.summarizes else None,
        summary_tokens=summary_tokens,
    )


def _stable_limit(measured: MeasuredRequest, needs: Mapping[Component, int], shares: Shares) -> int:
    """Return what the conversation may use at every request, whatever the other components need at this one."""
    available = measured.available
    if measured.only_messages:
        return available - needs["system"]
    # What is not there leaves its share to the history; what is may need all of its own at another request.
    wanted = dict.fromkeys(COMPONENTS, available)
    wanted["system"] = needs["system"]
    wanted["query"] = int(available * float(shares.query) / 100)
    wanted["documents"] = available if measured.request.documents else 0
    return allocate(available, wanted, shares).history


def tokens_awaited(trimming: Trimming, counter: TokenCounter) -> int:
    """Return the tokens by which a summary that is still to come may be longer than the placeholder in its place."""
    return max(0, trimming.summary_room - counter.count(trimming.placeholder or ""))
