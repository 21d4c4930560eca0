"""The rows of a report, one for each part of a request: counts, ids and reasons, no content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

State = Literal["kept", "partial", "dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentReport:
    """One component of the budget.

    Args:
        budget: Tokens that it was allowed; None when nothing was cut.
        before: Tokens that it had.
        after: Tokens that it has.
    """

    budget: int | None
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReport:
    """The outcome of one document.

    Args:
        id: The document's id, or its index.
        score: The score it came with.
        state: Kept whole, in part, or dropped.
        reason: Why it was dropped; None for a kept one.
        outranked: Whether it was dropped although it ranks above one that is kept: too big, not too bad.
    """

    id: str
    score: float | None
    state: State
    reason: str | None = None
    outranked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryReport:
    """The outcome of the conversation.

    Args:
        messages: Messages that were given.
        kept: Messages that are kept, whole or shortened.
        shortened: Messages that are kept in part.
        summarized: Messages that a summary replaces.
        turns: Turns that are kept, whole or in part, without the current one.
        placeholder: Whether a placeholder says what was left out.
        recalled: Messages that are left out where they stood, and recalled before the question, whole or in part.
        reasons: How many messages were dropped for which reason.
        system_scan_bounded: Whether the conversation was so long that only its two ends were searched for system
            messages.
    """

    messages: int = 0
    kept: int = 0
    shortened: int = 0
    summarized: int = 0
    turns: int = 0
    placeholder: bool = False
    recalled: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    system_scan_bounded: bool = False

    @property
    def dropped(self) -> int:
        """Messages that are neither kept nor summarized."""
        return self.messages - self.kept - self.summarized


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionReport:
    """The outcome of one section.

    Args:
        name: The section's name.
        entries: Entries that were given.
        kept: Entries that are kept, the newest one perhaps in part.
    """

    name: str
    entries: int
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A stretch of neighboring turns (or messages) of a conversation: how many of them had which outcome."""

    kept: int = 0
    shortened: int = 0
    summarized: int = 0
    dropped: int = 0

    @property
    def counts(self) -> Mapping[str, int]:
        """How many turns there are of each state."""
        return {name: getattr(self, name) for name in ("kept", "shortened", "summarized", "dropped")}

    @property
    def size(self) -> int:
        """How many turns there are."""
        return self.kept + self.shortened + self.summarized + self.dropped

    @property
    def state(self) -> str:
        """The outcome of all of them; `mixed` where they differ."""
        found = [name for name, count in self.counts.items() if count]
        return found[0] if len(found) == 1 else "mixed"
