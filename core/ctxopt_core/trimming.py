"""What a trimming keeps of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from ctxopt_core.displayed import Displayed
from ctxopt_core.excerpts import Shortened
from ctxopt_core.plain_pickles import reduced

if TYPE_CHECKING:
    from ctxopt_core.sheet import Sheet

DropReason = Literal["budget", "orphan", "empty", "superseded", "summarized"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimming(Displayed):
    """What of a conversation is kept, by index into the conversation that was given.

    Args:
        kept: Indices of the messages that stay, ascending; a range where all of them do.
        shortened: New texts of the kept messages that were cut.
        placeholder: The text of the one message that says what was left out; None where there is none.
        placeholder_after: The kept index that the placeholder follows.
        reasons: Why a message was dropped, where it was for another reason than the budget: it answers nothing
            (`orphan`), says nothing (`empty`), is the note of an earlier fit (`superseded`), or a summary stands for it
            (`summarized`).
        tokens: What is kept counts, the placeholder included.
        turns: How many turns are kept, whole or in part.
        whole_turns: How many of them are whole.
        length: How many messages there were.
        strategy: The strategy that chose.
        fell_back_to: What was used where the strategy that was asked for failed or had nothing to go by.
        notes: What else the caller should know of, without content.
        repeated_tokens: With a stable prefix, how many tokens of messages repeat the start of the request before.
        summary_room: Tokens that are kept free for a summary in the placeholder's text; 0 once it is there.
        summarized: Indices of the messages that a summary stands for.
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
    strategy: str = "turns"
    fell_back_to: str | None = None
    notes: tuple[str, ...] = ()
    repeated_tokens: int | None = None
    summary_room: int = 0
    summarized: Sequence[int] = ()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the fields; views that cannot be pickled as plain mappings."""
        return reduced(self)

    @property
    def dropped(self) -> tuple[int, ...]:
        """Indices of the messages that went, ascending. Computed when asked for."""
        kept = frozenset(self.kept)
        return tuple(i for i in range(self.length) if i not in kept)

    def reason(self, index: int) -> DropReason:
        """Return why message `index` was dropped."""
        return self.reasons.get(index, "budget")

    def _sheet(self) -> Sheet:
        from ctxopt_core.part_sheets import sheet_of_trimming

        return sheet_of_trimming(self)
