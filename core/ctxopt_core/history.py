"""How a conversation is to be trimmed, and what a trimming keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from ctxopt_core.excerpts import Shortened
from ctxopt_core.relevance import Scorer
from ctxopt_core.scoring import check_scorer

Strategy = Literal["turns", "relevance"]
DropReason = Literal["budget", "orphan", "empty", "superseded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPolicy:
    """How the conversation is trimmed when it is over its allocation.

    Args:
        strategy: What is kept of the earlier turns. Both keep the first user message, a placeholder and whole turns.
            `turns`: the newest ones.
            `relevance`: the newest ones up to `recent_share`, then those that say most about what is asked now, with
            what stands around them. It reads the whole conversation. Without a question it is the same as `turns`.
        recent_share: With `relevance`, the percentage of the history's allocation that the newest turns take first.
        scorer: With `relevance`, tells how relevant a message is; by default BM25 does, see `bm25_scorer`.
        keep_first: Whether the first user message, which usually states the task, is kept.
        first_share: The most that the first message may take, in percent of the history's allocation. A longer one is
            shortened, so that it can never starve the newest turns.
        placeholder: Whether one short message says how many messages were left out.

    Raises:
        ValueError: A value is out of its range.
    """

    strategy: Strategy = "turns"
    keep_first: bool = True
    first_share: float = 10
    placeholder: bool = True
    recent_share: float = 20
    scorer: Scorer | None = None

    def __post_init__(self) -> None:
        if self.strategy not in get_args(Strategy):
            message = f"`strategy` must be one of {', '.join(map(repr, get_args(Strategy)))}, got {self.strategy!r}"
            raise ValueError(message)
        for name in ("first_share", "recent_share"):
            share = getattr(self, name)
            if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 100:
                message = f"`{name}` must be a percentage from 0 to 100, got {share!r}"
                raise ValueError(message)
        check_scorer(self.scorer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimming:
    """What of a conversation is kept, by index into the conversation that was given.

    Args:
        kept: Indices of the messages that stay, ascending; a range where all of them do.
        shortened: New texts of the kept messages that were cut.
        placeholder: The text of the one message that says what was left out; None where there is none.
        placeholder_after: The kept index that the placeholder follows.
        reasons: Why a message was dropped, where it was for another reason than the budget.
        tokens: What is kept counts, the placeholder included.
        turns: How many turns are kept, whole or in part.
        whole_turns: How many of them are whole.
        length: How many messages there were.
    """

    kept: Sequence[int] = ()
    shortened: Mapping[int, Shortened] = field(default_factory=lambda: MappingProxyType({}))
    placeholder: str | None = None
    placeholder_after: int | None = None
    reasons: Mapping[int, DropReason] = field(default_factory=lambda: MappingProxyType({}))
    tokens: int = 0
    turns: int = 0
    whole_turns: int = 0
    length: int = 0

    @property
    def dropped(self) -> tuple[int, ...]:
        """Indices of the messages that went, ascending. Computed when asked for."""
        kept = frozenset(self.kept)
        return tuple(i for i in range(self.length) if i not in kept)

    def reason(self, index: int) -> DropReason:
        """Return why message `index` was dropped."""
        return self.reasons.get(index, "budget")
