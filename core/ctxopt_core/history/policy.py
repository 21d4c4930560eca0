"""`HistoryPolicy`: the settings of how a conversation is trimmed, and the strategies by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from ctxopt_core.history.strategies.custom import CustomStrategy, HistoryStrategy
from ctxopt_core.history.strategies.recent_turns import NewestTurns, SlidingWindow
from ctxopt_core.history.strategies.relevant_turns import Auto, Hybrid, RelevantTurns
from ctxopt_core.history.strategies.stable_prefix import StablePrefix, Summarize
from ctxopt_core.history.strategies.strategy import Strategy
from ctxopt_core.relevance.scorer import Scorer, check_scorer
from ctxopt_core.summaries.summarizer import Summarizer, check_summarizer
from ctxopt_core.validation import check_whole

StrategyName = Literal["auto", "turns", "sliding_window", "relevance", "summarize", "hybrid"]
PlaceholderContent = Literal["identifiers", "excerpts", "count"]
OnSummaryFailure = Literal["turns", "raise"] | Callable[[Exception], "str | None"]
STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "auto": Auto(),
        "turns": NewestTurns(),
        "sliding_window": SlidingWindow(),
        "relevance": RelevantTurns(),
        "summarize": Summarize(NewestTurns()),
        "hybrid": Hybrid(),
    }
)


def strategy_of(strategy: str | Callable[..., Any], *, stable_prefix: bool = False) -> Strategy:
    """Return the strategy with a name or for a user's function; with `stable_prefix`, one whose cut moves in steps."""
    if not isinstance(strategy, str):
        return CustomStrategy(strategy)
    found = STRATEGIES[strategy]
    return StablePrefix(found) if stable_prefix and not found.moves_in_steps else found


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPolicy:
    """How a conversation is trimmed when it is over its allocation: compaction by dropping, pruning or summarizing.

    Args:
        strategy: Which earlier turns are kept, besides the first user message and a placeholder. Turns are kept whole,
            except for the newest that does not fit. Where a tool result is among the newest 64 messages, `auto` and
            `turns` keep the newest turns, and cut results that the model has read to excerpts before they drop a turn.
            `turns`: the newest.
            `sliding_window`: the newest, at most `max_messages` messages in all; without the first message and the
            placeholder.
            `relevance`: the newest up to `recent_percent`, then those most relevant to what is asked now, with the
            turns around them. It reads the whole conversation. Without a question it is the same as `turns`.
            `auto`: `relevance` that looks back at most 4,000,000 characters, about a million tokens, or 8 for each
            token that the earlier turns may have if that is more.
            `summarize`: the newest, and a summary of what is left out in place of the placeholder. The cut moves in
            steps, as with `stable_prefix`, so that the summarizer is called once a step and not at each request.
            `hybrid`: what `relevance` keeps, and a summary of what is left out.
            A function: what it returns of a `HistoryView`, without the first message and the placeholder; see
            `HistoryStrategy`.
        recent_percent: With `auto`, `relevance` and `hybrid`, the percentage of the history's allocation that the
            newest turns get first.
        max_messages: With `sliding_window`, the most messages that are sent, system messages, query and what follows it
            included. Like every other setting it has an effect only on a conversation over its token budget.
        scorer: With `auto`, `relevance` and `hybrid`, scores the relevance of each message. Its scores are added to
            those of the words that a message shares with the question, which alone decide by default.
        keep_first_user_message: Whether the first user message, which usually states the task, is kept.
        first_message_max_percent: The most that the first message may have, in percent of the history's allocation. A
            longer one is shortened, so that it leaves tokens for the newest turns.
        placeholder: Whether one short message says how many messages were left out.
        summarizer: With `summarize` and `hybrid`, writes the summary; see `summarizer`. Nothing else calls a model.
        max_summary_tokens: The most tokens of the summary; it has at most a quarter of the history's allocation.
        on_summary_failure: What is done where the summarizer fails or returns nothing: `turns` keeps the newest turns
            instead, and the report says so; `raise` lets the error through; a function is called with the error and
            returns a summary, or None for the newest turns.
        summary_errors: The errors of the summarizer that are handled as a failure; others are raised. By default all
            but those of a wrong setup: TypeError, AttributeError, NameError and ContextBudgetError.
        placeholder_content: What the placeholder says besides the number of messages that were left out. `identifiers`:
            where tools are at work, the names, numbers, dates and paths of the newest of them that are named nowhere
            else, so that a later call can repeat them. `excerpts`: the beginning of each question and answer. `count`:
            nothing. With `stable_prefix` it says nothing more.
        placeholder_max_percent: The most that this may have, in percent of the history's allocation, and at most 512
            tokens.
        recoverable_tool_results: Whether the marker in a shortened tool result has a reference with which the omitted
            lines can be read; see `omitted_content_tool` of `langchain_ctxopt`.
        stable_prefix: Whether the cut moves in steps, so that a request begins with the one before it for as long as
            possible, and the provider's prompt cache can be used. A step frees a ninth of the history's allocation or
            more, with tools at work half of it: tool results are pruned to 100 tokens each, then the oldest messages
            go. The whole conversation is read for it. It goes with the strategies `auto` and `turns`, and keeps the
            newest turns.
        recall_percent: With `stable_prefix` and the strategy `auto`, the most that one message before the question may
            have, in percent of the history's allocation, in which is recalled what the question needs of what was left
            out. 0 recalls nothing, and neither does a conversation with tool calls.

    Raises:
        ValueError: A value is out of its range.

    Example:
        >>> from ctxopt_core import CallableCounter, HistoryPolicy, Message, trim_history
        >>> messages = [Message(role="user", content=f"Question {n}?") for n in range(9)]
        >>> policy = HistoryPolicy(strategy="turns", keep_first_user_message=False)
        >>> trim_history(messages, 60, CallableCounter(len), policy=policy).kept
        (6, 7, 8)
    """

    strategy: StrategyName | HistoryStrategy = "auto"
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
    recall_percent: float = 15

    def __post_init__(self) -> None:
        if not callable(self.strategy):
            self._check_choice("strategy", get_args(StrategyName), "a function of a view")
        for name in ("first_message_max_percent", "recent_percent", "placeholder_max_percent", "recall_percent"):
            percent = getattr(self, name)
            if isinstance(percent, bool) or not isinstance(percent, (int, float)) or not 0 <= percent <= 100:
                message = f"`{name}` must be a percentage from 0 to 100, got {percent!r}"
                raise ValueError(message)
        self._check_choice("placeholder_content", get_args(PlaceholderContent))
        strategy = strategy_of(self.strategy)
        if self.max_messages is not None:
            if not strategy.takes_max_messages:
                message = f"`max_messages` goes with the strategy 'sliding_window', got it with {self.strategy!r}"
                raise ValueError(message)
            check_whole("max_messages", self.max_messages, minimum=1, unit="messages")
        check_scorer(self.scorer)
        if self.stable_prefix and not strategy.may_be_stable:
            message = f"`stable_prefix` goes with the strategies 'auto' and 'turns', got it with {self.strategy!r}"
            raise ValueError(message)
        check_summarizer(self.summarizer)
        check_whole("max_summary_tokens", self.max_summary_tokens, minimum=1, unit="tokens")
        if not callable(self.on_summary_failure):
            self._check_choice("on_summary_failure", ("turns", "raise"), "a function of the error")
        if self.summarizes and self.summarizer is None:
            message = f"`summarizer` must be given with the strategy {self.strategy!r}, for example summarizer(model)"
            raise ValueError(message)
        if self.summarizes and not (self.keep_first_user_message and self.placeholder):
            message = (
                f"`keep_first_user_message` and `placeholder` must be on with the strategy {self.strategy!r}: the "
                "summary follows the first message, in place of the placeholder"
            )
            raise ValueError(message)

    @property
    def moves_in_steps(self) -> bool:
        """Whether the cut stays where it is for several requests."""
        return strategy_of(self.strategy, stable_prefix=self.stable_prefix).moves_in_steps

    @property
    def summarizes(self) -> bool:
        """Whether a summarizer says what was left out."""
        return strategy_of(self.strategy).summarizes

    @property
    def recalls(self) -> bool:
        """Whether what the question needs of what was left out is recalled before it."""
        return self.stable_prefix and self.strategy == "auto" and self.recall_percent > 0

    def _check_choice(self, name: str, choices: tuple[str, ...], *others: str) -> None:
        value = getattr(self, name)
        if value not in choices:
            known = " or ".join((", ".join(map(repr, choices)), *others))
            message = f"`{name}` must be one of {known}, got {value!r}"
            raise ValueError(message)
