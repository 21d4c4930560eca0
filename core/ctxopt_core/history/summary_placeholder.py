"""The summary of what a trimming drops, which replaces the text of the placeholder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import units_of
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.history.placeholder_note import summary_text
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.shortening.truncate import truncate
from ctxopt_core.summaries.summarizer import summarize

if TYPE_CHECKING:
    from ctxopt_core.history.policy import HistoryPolicy

# A summarizer that is set up wrongly fails at every call: that must be seen, and not taken for a model that is down.
_OWN_FAULTS = (TypeError, AttributeError, NameError, ContextBudgetError)


def with_summary(
    trimming: Trimming,
    conversation: CountedConversation,
    counter: TokenCounter,
    policy: HistoryPolicy,
    *,
    query: int | None = None,
) -> Trimming:
    """Replace the placeholder's text by a summary of what is left out, in the tokens that were set aside for it.

    Args:
        trimming: A trimming; one that set nothing aside for a summary is returned as it is.
        conversation: The whole conversation.
        counter: Counts the texts.
        policy: Has the summarizer, and says what is done where it fails.
        query: Index of the query, which is not among what is kept.

    Returns:
        The trimming with the summary. Where the summarizer failed, `fallback` and `summary_room` are set, and the
        caller trims again without a summary.

    Raises:
        Exception: What the summarizer raises, if the policy lets it through.
    """
    after, summarizer = trimming.placeholder_after, policy.summarizer
    if summarizer is None or not policy.summarizes or trimming.fallback:
        return trimming
    if not trimming.summary_room or after is None:
        missing = trimming.length - len(trimming.kept) - len(conversation.systems) - (query is not None)
        return replace(trimming, notes=(*trimming.notes, "there was no room for a summary")) if missing else trimming
    units = units_of(conversation, after + 1, len(conversation))
    gone = frozenset((*trimming.kept, *trimming.reasons, query))
    left_out = tuple(i for unit in units.kept for i in unit.indices if i not in gone)
    failures = policy.summary_errors or (Exception,)
    own_faults = () if policy.summary_errors else _OWN_FAULTS
    most = trimming.summary_room - counter.count(summary_text(len(left_out), ""))
    try:
        summary = summarize(
            [units.conversation.message(index) for index in left_out],
            counter,
            summarizer=summarizer,
            max_summary_tokens=max(1, most),
        )
    except failures as error:
        # This module loads logging, so it is not imported before something has failed.
        from concurrent.futures import CancelledError

        if isinstance(error, (*own_faults, CancelledError)):
            raise
        if policy.on_summary_failure == "raise":
            raise
        replacement = None if policy.on_summary_failure == "turns" else policy.on_summary_failure(error)
        if replacement is None:
            note = f"the summarizer failed with {type(error).__name__}"
            return replace(trimming, fallback="turns", notes=(*trimming.notes, note))
        summary = replacement
    text = _fitted_text(len(left_out), summary, trimming.summary_room, counter)
    unused = trimming.summary_room - counter.count(text)
    return replace(
        trimming,
        placeholder=text,
        tokens=trimming.tokens - unused,
        reused_prefix_tokens=_without_unused(trimming, conversation, after, unused),
        reasons={**dict.fromkeys(units.orphans, "orphan"), **trimming.reasons, **dict.fromkeys(left_out, "summarized")},
        summarized=left_out,
        summary_room=0,
    )


def _without_unused(trimming: Trimming, conversation: CountedConversation, after: int, unused: int) -> int | None:
    """Return the reused tokens without those that the summary did not need, if the placeholder is among the reused."""
    reused = trimming.reused_prefix_tokens
    if reused is None:
        return None
    cut = trimming.shortened.get(after)
    before = conversation.cost(after) if cut is None else cut.tokens
    before += sum(conversation.cost(i) for i in conversation.systems if i < after)
    # What is reused goes beyond the placeholder, or ends before it.
    return reused - unused if reused > before else reused


def _fitted_text(messages: int, summary: str, room: int, counter: TokenCounter) -> str:
    """Return the placeholder's text in at most `room` tokens."""
    allowed = room - counter.count(summary_text(messages, ""))
    while True:
        text = summary_text(messages, truncate(summary, max(0, allowed), counter).strip())
        over = counter.count(text) - room
        if over <= 0 or allowed <= 0:
            return text
        # Counts of parts need not add up to that of their join.
        allowed -= over
