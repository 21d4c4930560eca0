"""The one interface of all history strategies: those that have a name, and the function of a user."""

from __future__ import annotations

from typing import ClassVar, Protocol

from ctxopt_core.history.draft import HistoryDraft


class Strategy(Protocol):
    """Decides which messages of a conversation are kept. `CustomStrategy` wraps a user's function in this interface.

    1. `apply` is called once for a draft in which nothing is kept yet, and only if the conversation is over its budget.
    2. It keeps what follows the query (`draft.add_current_exchange`) before any earlier turn.
    3. It keeps messages with the methods of the draft alone, and never more than `draft.left` tokens of earlier turns.
    4. It keeps units whole: a call with all its results. What is kept starts with a user message, or as the
       conversation itself does.
    5. It sets `draft.strategy` to the name that the report shows; and `draft.fallback` where it had to do something
       else than it is asked for.
    6. The class attributes are facts about the strategy, from which the policy is checked. They never change.
    """

    summarizes: ClassVar[bool] = False
    """Whether a summarizer is needed, which says what was left out."""
    moves_in_steps: ClassVar[bool] = False
    """Whether the cut stays where it is for several requests."""
    may_be_stable: ClassVar[bool] = False
    """Whether it goes with `stable_prefix`."""
    prunes_results: ClassVar[bool] = False
    """Whether tool results that the model has read are cut to excerpts before a turn is dropped."""
    searches: ClassVar[bool] = False
    """Whether it looks for messages further back than the newest that fit, so that most are read in any case."""
    takes_max_messages: ClassVar[bool] = False
    """Whether it goes with `max_messages`."""

    def apply(self, draft: HistoryDraft) -> None:
        """Keep what fits of a conversation."""
