"""How a conversation is to be trimmed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from ctxopt_core.history.history_view import HistoryStrategy
from ctxopt_core.history.trimming import DropReason, Trimming
from ctxopt_core.relevance.scorer import Scorer, check_scorer
from ctxopt_core.summaries.summarizer import Summarizer, check_summarizer
from ctxopt_core.validation import check_whole

__all__ = ["DropReason", "HistoryPolicy", "Strategy", "Trimming"]

Strategy = Literal["auto", "turns", "sliding_window", "relevance", "summarize", "hybrid"]
PlaceholderContent = Literal["identifiers", "excerpts", "count"]
OnSummaryFailure = Literal["turns", "raise"] | Callable[[Exception], "str | None"]
_STABLE: tuple[Strategy, ...] = ("auto", "turns", "summarize")
SUMMARIZING: tuple[Strategy, ...] = ("summarize", "hybrid")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPolicy:
    """How the conversation is trimmed when it is over its allocation.

    Args:
        strategy: What is kept of the earlier turns, besides the first user message and a placeholder. Only whole turns
            are, except for what is left of the newest that does not fit. Where a tool result stands among the newest
            64 messages, `auto` and `turns` keep the newest turns, and cut results that the model has read to excerpts
            before any turn goes.
            `turns`: the newest ones.
            `sliding_window`: the newest ones, at most `max_messages` messages in all; without the first message and the
            placeholder.
            `relevance`: the newest ones up to `recent_percent`, then those that say most about what is asked now, with
            what stands around them. It reads the whole conversation. Without a question it is the same as `turns`.
            `auto`: `relevance` that looks back no further than 160,000 characters, or than 8 for each token that the
            earlier turns may take, so that its cost does not grow with the conversation.
            `summarize`: the newest ones, and a summary of what is left out in place of the placeholder. The cut moves
            in steps, as with `stable_prefix`, so that the summarizer is asked once a step and not at each request.
            `hybrid`: what `relevance` keeps, and a summary of what is left out.
            A function: what it returns of a `HistoryView`, without the first message and the placeholder; see
            `HistoryStrategy`.
        recent_percent: With `auto`, `relevance` and `hybrid`, the percentage of the history's allocation that the
            newest turns take first.
        max_messages: With `sliding_window`, the most messages that are sent; system messages, the query and what
            follows it count, too. Like everything else, it cuts only what is over its budget in tokens.
        scorer: With `auto`, `relevance` and `hybrid`, tells how relevant a message is; its scores count beside
            the words that it shares with the question, which alone decide by default.
        keep_first_user_message: Whether the first user message, which usually states the task, is kept.
        first_message_max_percent: The most that the first message may take, in percent of the history's allocation. A
            longer one is shortened, so that it can never starve the newest turns.
        placeholder: Whether one short message says how many messages were left out.
        summarizer: With `summarize` and `hybrid`, writes the summary; see `summarizer`. Nothing else asks a model.
        max_summary_tokens: The most that the summary may count, in tokens; at most a quarter of the history's room.
        on_summary_failure: What is done where the summarizer fails or says nothing: `turns` keeps the newest turns
            instead, and the report says so; `raise` lets the error through; a function is called with the error and
            returns a summary of its own, or None for the newest turns.
        summary_errors: The errors of the summarizer that count as a failure; others come through. By default all but
            those of a wrong setup: TypeError, AttributeError, NameError and ContextBudgetError.
        placeholder_content: What the placeholder says beside the number of messages that were left out. `identifiers`:
            where tools are at work, the names, numbers, dates and paths of the newest of them that are named nowhere
            else, so that a later call can repeat them. `excerpts`: the beginning of each question and answer. `count`:
            nothing. With `stable_prefix` it says nothing more.
        placeholder_max_percent: The most that this may take, in percent of the history's allocation, and at most 512
            tokens.
        recoverable_tool_results: Whether the note in a shortened tool result carries a reference with which the omitted
            lines can be read; see `omitted_content_tool` of `langchain_ctxopt`.
        stable_prefix: Whether the cut moves in steps, so that a request begins with the one before it for as long as
            possible, and the provider's prompt cache finds that again. A step frees a ninth of the history's room or
            more, with tools at work half of it: what they returned is lowered to 100 tokens each, then the oldest
            messages go. The whole conversation is read for it. It goes with the strategies `auto` and `turns`, and
            keeps the newest.

    Raises:
        ValueError: A value is out of its range.
    """

    strategy: Strategy | HistoryStrategy = "auto"
    keep_first_user_message: bool = True
    first_message_max_percent: float = 10
    placeholder: bool = True
    recent_percent: float = 20
    max_messages: int | None = None
    scorer: Scorer | None = None
    summarizer: Summarizer | None = None
    max_summary_tokens: int = 512
    on_summary_failure: OnSummaryFailure = "turns"
    summary_errors: tuple[type[Exception], ...] | None = None
    placeholder_content: PlaceholderContent = "identifiers"
    placeholder_max_percent: float = 20
    recoverable_tool_results: bool = False
    stable_prefix: bool = False

    def __post_init__(self) -> None:
        if self.strategy not in get_args(Strategy) and not callable(self.strategy):
            names = ", ".join(map(repr, get_args(Strategy)))
            message = f"`strategy` must be one of {names}, or a function of a view, got {self.strategy!r}"
            raise ValueError(message)
        for name in ("first_message_max_percent", "recent_percent", "placeholder_max_percent"):
            share = getattr(self, name)
            if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 100:
                message = f"`{name}` must be a percentage from 0 to 100, got {share!r}"
                raise ValueError(message)
        if self.placeholder_content not in get_args(PlaceholderContent):
            names = ", ".join(map(repr, get_args(PlaceholderContent)))
            message = f"`placeholder_content` must be one of {names}, got {self.placeholder_content!r}"
            raise ValueError(message)
        if self.max_messages is not None:
            self._check_max_messages(self.max_messages)
        check_scorer(self.scorer)
        if self.stable_prefix and self.strategy not in _STABLE:
            message = f"`stable_prefix` goes with the strategies 'auto' and 'turns', got it with {self.strategy!r}"
            raise ValueError(message)
        self._check_summary()

    @property
    def moves_in_steps(self) -> bool:
        """Whether the cut stands still for several requests."""
        return self.stable_prefix or self.strategy == "summarize"

    def _check_summary(self) -> None:
        check_summarizer(self.summarizer)
        check_whole("max_summary_tokens", self.max_summary_tokens, minimum=1, unit="tokens")
        if self.on_summary_failure not in ("turns", "raise") and not callable(self.on_summary_failure):
            message = (
                f"`on_summary_failure` must be 'turns', 'raise' or a function of the error, got "
                f"{self.on_summary_failure!r}"
            )
            raise ValueError(message)
        if self.strategy in SUMMARIZING and self.summarizer is None:
            message = f"`summarizer` must be given with the strategy {self.strategy!r}, for example summarizer(model)"
            raise ValueError(message)
        if self.strategy in SUMMARIZING and not (self.keep_first_user_message and self.placeholder):
            message = (
                f"`keep_first_user_message` and `placeholder` must be on with the strategy {self.strategy!r}: the "
                "summary follows the first message, in place of the placeholder"
            )
            raise ValueError(message)

    def _check_max_messages(self, number: object) -> None:
        if self.strategy != "sliding_window":
            message = f"`max_messages` goes with the strategy 'sliding_window', got it with {self.strategy!r}"
            raise ValueError(message)
        check_whole("max_messages", number, minimum=1, unit="messages")
