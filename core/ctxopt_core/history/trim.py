"""Trims a conversation to a token budget: chooses the strategy, and has the summary written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.history.draft import HistoryDraft
from ctxopt_core.history.policy import HistoryPolicy, strategy_of
from ctxopt_core.history.pruning_draft import PruningDraft, holds_tool_results
from ctxopt_core.history.summary_placeholder import with_summary
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.messages.message import Message
from ctxopt_core.messages.message_views import MessageViews

_NO_LIMIT = 2**62  # tokens: no conversation reaches it


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

    def trim_by(policy: HistoryPolicy) -> Trimming:
        return trim(conversation, left, counter, policy=policy, ranking_query=ranking_query)

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
) -> Trimming:
    """Trim all but the system messages and the query, which are counted elsewhere, to `budget` tokens.

    Args:
        conversation: The whole conversation.
        budget: The most that is kept, in tokens.
        counter: Counts the texts.
        policy: How to trim.
        query: Index of the message that is the query; what follows it is the current exchange.
        ranking_query: What is asked now.
        stable_limit: With a stable prefix, the most that the conversation may ever have, its query included, in
            tokens; by default `budget` and the tokens of the query.

    Returns:
        The trimming, without system messages and without the query. `tokens` is above `budget` only when the current
        exchange cannot be made to fit.
    """
    strategy = strategy_of(policy.strategy, stable_prefix=policy.stable_prefix)
    draft_type = PruningDraft if strategy.prunes_results and holds_tool_results(conversation) else HistoryDraft
    draft = draft_type(
        conversation,
        budget,
        counter,
        policy,
        query=query,
        ranking_query=ranking_query,
        stable_limit=stable_limit,
    )
    strategy.apply(draft)
    return draft.trimming()


def summarized(
    trimming: Trimming,
    conversation: CountedConversation,
    counter: TokenCounter,
    *,
    policy: HistoryPolicy,
    trim_again: Callable[[HistoryPolicy], Trimming],
    query: int | None = None,
) -> Trimming:
    """Return a trimming with the summary for which it set tokens aside, or one without if the summarizer fails.

    A summarizer is called here and nowhere else, so that it is called once for a fit.

    Args:
        trimming: What `trim` returned last.
        conversation: The whole conversation.
        counter: Counts the texts.
        policy: How it was trimmed.
        trim_again: Trims by another policy.
        query: Index of the message that is the query.
    """
    found = with_summary(trimming, conversation, counter, policy, query=query)
    if not found.summary_room:
        return found
    again = trim_again(replace(policy, strategy="turns"))
    return replace(again, fallback="turns", notes=(*found.notes, *again.notes))
