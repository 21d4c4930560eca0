"""Trimming a conversation: the current exchange, the first message, and the earlier turns that the strategy keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxopt_core.conversation import Conversation
from ctxopt_core.history import HistoryPolicy, Trimming
from ctxopt_core.message_views import MessageViews
from ctxopt_core.newest_turns import add_newest_turns
from ctxopt_core.relevant_turns import add_relevant_turns, worth_to
from ctxopt_core.request import Message
from ctxopt_core.tokens import TokenCounter
from ctxopt_core.turn_draft import TurnDraft


def trim_history(
    messages: tuple[Message, ...] | list[Message] | MessageViews,
    budget: int,
    counter: TokenCounter,
    *,
    policy: HistoryPolicy | None = None,
    task: str = "",
) -> Trimming:
    """Trim a conversation to `budget` tokens, framing included.

    System messages stay in place and count towards the budget. The newest turn is shortened inside before it is lost.
    Nothing is changed when the conversation fits.

    Args:
        messages: The conversation, oldest first.
        budget: The most that is kept, in tokens.
        counter: Counts the texts.
        policy: How to trim.
        task: What is asked now, for the strategy `relevance`; without it the newest turns are kept.

    Returns:
        Indices into `messages` and the texts that were shortened. A budget too small for anything keeps nothing.
    """
    conversation = Conversation(messages, counter)
    if conversation.total_up_to(budget) <= budget:
        return untouched(conversation)
    systems = sum(conversation.cost(i) for i in conversation.systems)
    trimming = trim(conversation, max(0, budget - systems), counter, policy=policy or HistoryPolicy(), task=task)
    if systems > budget:
        return trimming
    return _with_systems(trimming, conversation.systems, systems)


def untouched(conversation: Conversation) -> Trimming:
    """Return the trimming that keeps everything."""
    length = len(conversation)
    return Trimming(kept=tuple(range(length)), tokens=conversation.total_up_to(2**62), length=length)


def trim(
    conversation: Conversation,
    budget: int,
    counter: TokenCounter,
    *,
    policy: HistoryPolicy,
    query: int | None = None,
    task: str = "",
) -> Trimming:
    """Trim all but the system messages and the query, which are charged elsewhere, to `budget` tokens.

    Args:
        conversation: The whole conversation.
        budget: The most that is kept, in tokens.
        counter: Counts the texts.
        policy: How to trim.
        query: Index of the message that is the query; what follows it is the current exchange.
        task: What is asked now.

    Returns:
        The trimming, without system messages and without the query. `tokens` is above `budget` only when the current
        exchange cannot be made to fit.
    """
    draft = TurnDraft(conversation, budget, counter, policy)
    end = len(conversation)
    if query is not None:
        draft.add_current_exchange(query + 1)
        end = query
    draft.end = end
    if policy.strategy == "relevance" and task.strip():
        add_relevant_turns(draft, end, worth_to(task, conversation, policy.scorer))
    else:
        add_newest_turns(draft, end)
    return draft.trimming()


def _with_systems(trimming: Trimming, indices: Sequence[int], tokens: int) -> Trimming:
    return replace(trimming, kept=tuple(sorted((*trimming.kept, *indices))), tokens=trimming.tokens + tokens)
