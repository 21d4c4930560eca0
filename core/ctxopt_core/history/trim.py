"""Trimming a conversation: the current exchange, the first message, and the earlier turns that the strategy keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.history.draft import HistoryDraft
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.history.pruning_draft import PruningDraft, holds_tool_results
from ctxopt_core.history.strategies.custom import add_chosen
from ctxopt_core.history.strategies.recent_turns import add_newest_turns, add_window
from ctxopt_core.history.strategies.relevant_turns import add_relevant_turns, look_back
from ctxopt_core.history.strategies.stable_prefix import add_stable
from ctxopt_core.history.summary_placeholder import summary_room, with_summary
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.messages.message import Message
from ctxopt_core.messages.message_views import MessageViews


def trim_history(
    messages: tuple[Message, ...] | list[Message] | MessageViews,
    budget: int,
    counter: TokenCounter,
    *,
    policy: HistoryPolicy | None = None,
    ranking_query: str = "",
) -> Trimming:
    """Trim a conversation to `budget` tokens, framing included.

    System messages stay in place and count towards the budget. The newest turn is shortened inside before it is lost.
    Nothing is changed when the conversation fits.

    Args:
        messages: The conversation, oldest first.
        budget: The most that is kept, in tokens.
        counter: Counts the texts.
        policy: How to trim.
        ranking_query: What is asked now, for the strategy `relevance`; without it the newest turns are kept.

    Returns:
        Indices into `messages` and the texts that were shortened. A budget too small for anything keeps nothing.
    """
    conversation = CountedConversation(messages, counter)
    if conversation.total_up_to(budget) <= budget:
        return unchanged(conversation)
    systems = sum(conversation.cost(i) for i in conversation.systems)
    chosen, room = policy or HistoryPolicy(), max(0, budget - systems)

    def trim_by(policy: HistoryPolicy) -> Trimming:
        return trim(conversation, room, counter, policy=policy, ranking_query=ranking_query)

    trimming = summarized(trim_by(chosen), conversation, counter, policy=chosen, trim_again=trim_by)
    if systems > budget:
        return trimming
    return _with_systems(trimming, conversation.systems, systems)


def unchanged(conversation: CountedConversation) -> Trimming:
    """Return the trimming that keeps everything."""
    length = len(conversation)
    return Trimming(kept=tuple(range(length)), tokens=conversation.total_up_to(2**62), length=length)


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
    """Trim all but the system messages and the query, which are charged elsewhere, to `budget` tokens.

    Args:
        conversation: The whole conversation.
        budget: The most that is kept, in tokens.
        counter: Counts the texts.
        policy: How to trim.
        query: Index of the message that is the query; what follows it is the current exchange.
        ranking_query: What is asked now.
        stable_limit: With a stable prefix, the most that the conversation may ever count, its query included, in
            tokens; by default `budget` and what the query counts.

    Returns:
        The trimming, without system messages and without the query. `tokens` is above `budget` only when the current
        exchange cannot be made to fit.
    """
    draft = _draft_for(conversation, budget, counter, policy, ranking_query)
    if policy.moves_in_steps:
        limit = budget + (0 if query is None else conversation.cost(query)) if stable_limit is None else stable_limit
        draft.placeholder.summary_room = summary_room(policy, limit, counter) if policy.strategy == "summarize" else 0
        if add_stable(draft, limit, query):
            draft.strategy = "summarize" if policy.strategy == "summarize" else "turns"
            return draft.trimming()
        draft.placeholder.summary_room = 0
        draft.fallback = "turns"
        draft.notes.append("the prefix could not be kept stable within the budget")
    if query is not None:
        draft.add_current_exchange(query + 1)
        draft.end = query
    _add_earlier_turns(draft, ranking_query)
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
    """Return a trimming with the summary for which it keeps room, or where there is none to be had, one without.

    A summarizer is asked here and nowhere else, so that it is asked once for a fit.

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


def _draft_for(
    conversation: CountedConversation, budget: int, counter: TokenCounter, policy: HistoryPolicy, ranking_query: str
) -> HistoryDraft:
    """Return a draft that lowers what tools returned, where it may and there is any."""
    lowers = policy.strategy in ("auto", "turns") and not policy.stable_prefix and holds_tool_results(conversation)
    if lowers:
        return PruningDraft(conversation, budget, counter, policy, ranking_query)
    return HistoryDraft(conversation, budget, counter, policy)


def _add_earlier_turns(draft: HistoryDraft, ranking_query: str) -> None:
    policy, stop = draft.policy, draft.end
    if not isinstance(policy.strategy, str):
        add_chosen(draft, stop, ranking_query, policy.strategy)
    elif policy.strategy == "sliding_window":
        add_window(draft, stop)
    elif policy.strategy == "hybrid":
        draft.placeholder.summary_room = summary_room(policy, draft.budget, draft.counter)
        _add_most_relevant(draft, ranking_query, stop)
        draft.strategy = "hybrid"
    elif policy.strategy in ("auto", "relevance"):
        _add_most_relevant(draft, ranking_query, stop)
    else:
        draft.strategy = "turns"
        add_newest_turns(draft, stop)


def _add_most_relevant(draft: HistoryDraft, ranking_query: str, stop: int) -> None:
    strategy = draft.policy.strategy
    if ranking_query.strip() and not isinstance(draft, PruningDraft):
        draft.strategy = "relevance"
        most = look_back(draft.left) if strategy == "auto" else None
        add_relevant_turns(draft, stop, ranking_query, most_characters=most)
    else:
        draft.strategy = "turns"
        draft.fallback = "turns" if strategy == "relevance" else None
        add_newest_turns(draft, stop)


def _with_systems(trimming: Trimming, indices: Sequence[int], tokens: int) -> Trimming:
    return replace(trimming, kept=tuple(sorted((*trimming.kept, *indices))), tokens=trimming.tokens + tokens)
