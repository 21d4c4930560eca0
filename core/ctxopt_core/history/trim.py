"""Trims a conversation to a token budget: chooses the strategy, and has the summary written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import Units, units_of
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.history.compacted import trim_compacted
from ctxopt_core.history.draft import HistoryDraft
from ctxopt_core.history.policy import HistoryPolicy, strategy_of
from ctxopt_core.history.pruning_draft import PruningDraft, holds_tool_results
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.messages.message import Message
from ctxopt_core.messages.message_views import MessageViews
from ctxopt_core.messages.placeholder import summary_text
from ctxopt_core.shortening.truncate import truncate
from ctxopt_core.summaries.summarizer import summarize

_NO_LIMIT = 2**62  # tokens: no conversation reaches it
_WORTH_TRIMMING = 16  # tokens: less is about one short sentence, and the history is not trimmed again for it
# A summarizer that is set up wrongly fails at every call: that must be seen, and not taken for a model that is down.
_OWN_FAULTS = (TypeError, AttributeError, NameError, ContextBudgetError)


def trim_history(
    messages: tuple[Message, ...] | list[Message] | MessageViews,
    budget: int,
    counter: TokenCounter,
    *,
    policy: HistoryPolicy | None = None,
    ranking_query: str = "",
) -> Trimming:
    """Trim a conversation to `budget` tokens, the framing of its messages included.

    This is compaction without a model call, unless the policy has a summarizer. System messages are kept and use tokens
    of the budget. The newest turn is shortened inside before it is dropped. A conversation that fits is not changed.

    Args:
        messages: The conversation, oldest first.
        budget: The most that is kept, in tokens.
        counter: Counts the texts.
        policy: How to trim.
        ranking_query: What is asked now, for the strategies that keep what is relevant to it; without it the newest
            turns are kept.

    Returns:
        Indices into `messages` and the texts that were shortened. A budget too small for anything keeps nothing.

    Example:
        >>> from ctxopt_core import CallableCounter, Message, trim_history
        >>> roles = ["user", "assistant"] * 20
        >>> messages = [Message(role=role, content=f"Message {n}.") for n, role in enumerate(roles)]
        >>> trimming = trim_history(messages, 200, CallableCounter(len))
        >>> trimming.kept, trimming.placeholder, trimming.tokens
        ((0, 34, 35, 36, 37, 38, 39), '[33 earlier messages omitted]', 181)
    """
    conversation = CountedConversation(messages, counter)
    if conversation.total_up_to(budget) <= budget:
        length = len(conversation)
        return Trimming(kept=tuple(range(length)), tokens=conversation.total_up_to(_NO_LIMIT), length=length)
    systems = sum(conversation.cost(i) for i in conversation.systems)
    chosen, left = policy or HistoryPolicy(), max(0, budget - systems)

    def trim_by(policy: HistoryPolicy, summary_tokens: int | None = None) -> Trimming:
        return trim(
            conversation, left, counter, policy=policy, ranking_query=ranking_query, summary_tokens=summary_tokens
        )

    trimming = summarized(trim_by(chosen), conversation, counter, policy=chosen, trim_again=trim_by)
    if systems > budget:
        return trimming
    kept = tuple(sorted((*trimming.kept, *conversation.systems)))
    return replace(trimming, kept=kept, tokens=trimming.tokens + systems)


def trim(
    conversation: CountedConversation,
    budget: int,
    counter: TokenCounter,
    *,
    policy: HistoryPolicy,
    query: int | None = None,
    ranking_query: str = "",
    stable_limit: int | None = None,
    summary_tokens: int | None = None,
) -> Trimming:
    """Trim all but the system messages and the query, which are counted elsewhere, to `budget` tokens.

    Args:
        conversation: The whole conversation.
        budget: The most that is kept, in tokens.
        counter: Counts the texts.
        policy: How to trim.
        query: Index of the message that is the query, None where it is no message; the current exchange follows it.
        ranking_query: What is asked now.
        stable_limit: With a stable prefix, the most that the conversation may ever have, its query included, in
            tokens; by default `budget` and the tokens of the query.
        summary_tokens: The tokens of the placeholder with the summary, where it is written already.

    Returns:
        The trimming, without system messages and without the query. `tokens` is above `budget` only when the current
        exchange cannot be made to fit.
    """
    strategy = strategy_of(policy.strategy, stable_prefix=policy.stable_prefix)

    def rest(after: CountedConversation, budget: int, query: int | None, tokens: int, places: int) -> Trimming:
        limit = None if stable_limit is None else max(0, stable_limit - tokens)
        most = policy.max_messages
        bounded = policy if most is None else replace(policy, max_messages=max(1, most - places))
        draft_type = PruningDraft if strategy.prunes_results and holds_tool_results(after) else HistoryDraft
        draft = draft_type(after, budget, counter, bounded, query, ranking_query, limit, summary_tokens)
        strategy.apply(draft)
        return draft.trimming()

    compacted = trim_compacted(conversation, budget, counter, query=query, rest=rest, searches=strategy.searches)
    return rest(conversation, budget, query, 0, 0) if compacted is None else compacted


def summarized(
    trimming: Trimming,
    conversation: CountedConversation,
    counter: TokenCounter,
    *,
    policy: HistoryPolicy,
    trim_again: Callable[[HistoryPolicy, int | None], Trimming],
    query: int | None = None,
) -> Trimming:
    """Replace the placeholder's text by a summary of what is left out, in the tokens that were set aside for it.

    A summarizer is called here and nowhere else, so that it is called once for a fit. Where the summary is shorter, the
    conversation is trimmed again, and the tokens go to some of the summarized messages. Where the summarizer fails, it
    is trimmed again by `turns`, without a summary. A trimming without a placeholder for a summary stays as it is.

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
    left_out = _left_out(units, trimming, query)
    failures = policy.summary_errors or (Exception,)
    own_faults = () if policy.summary_errors else _OWN_FAULTS
    most = trimming.summary_room - counter.count(summary_text(len(left_out), ""))
    try:
        summary = summarize(
            # The placeholder of an earlier fit says what was left out then.
            [units.conversation.message(index) for index in sorted((*left_out, *units.superseded))],
            counter,
            summarizer=summarizer,
            max_summary_tokens=max(1, most),
        )
    except failures as error:
        # This module loads logging, so it is not imported before something has failed.
        from concurrent.futures import CancelledError

        if isinstance(error, (*own_faults, CancelledError)) or policy.on_summary_failure == "raise":
            raise
        replacement = None if policy.on_summary_failure == "turns" else policy.on_summary_failure(error)
        if replacement is None:
            again = trim_again(replace(policy, strategy="turns"), None)
            note = f"the summarizer failed with {type(error).__name__}"
            return replace(again, fallback="turns", notes=(*trimming.notes, note, *again.notes))
        summary = replacement
    text = _fitted_text(len(left_out), summary, trimming.summary_room, counter)
    if trimming.summary_room - counter.count(text) >= _WORTH_TRIMMING:
        again = trim_again(policy, counter.count(text))
        fewer = _left_out(units, again, query)
        # A strategy that chooses anew may leave out what the summary does not speak of.
        if again.summary_room and fewer and set(fewer) <= set(left_out):
            trimming, left_out = again, fewer
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


def _left_out(units: Units, trimming: Trimming, query: int | None) -> tuple[int, ...]:
    """Return the messages of some units that a trimming drops for its budget."""
    gone = frozenset((*trimming.kept, *trimming.reasons, query))
    return tuple(i for unit in units.kept for i in unit.indices if i not in gone)


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
    text = summary_text(messages, summary)
    if not counter.exceeds(text, room):
        return text
    allowed = room - counter.count(summary_text(messages, ""))
    while True:
        text = summary_text(messages, truncate(summary, max(0, allowed), counter).strip())
        over = counter.count(text) - room
        if over <= 0 or allowed <= 0:
            return text
        # Counts of parts need not add up to that of their join.
        allowed -= over
