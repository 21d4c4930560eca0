"""Trims a conversation that a provider has compacted.

The compaction stands for all messages before it, which the provider ignores. So it is the start of what is kept: it has
no age, and the messages before it go first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import Unit, Units, units_of
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.history.draft import ALL_FOLLOWS
from ctxopt_core.history.shrink_turn import Shrunk, shrink
from ctxopt_core.history.trimming import DropReason, Trimming

TrimRest: TypeAlias = Callable[[CountedConversation, int, int | None, int, int], Trimming]
"""Trims a conversation to a budget; its query, and the tokens and messages that are kept before it, come last."""
_SHARES = (2, 4)  # of the budget, a half and a quarter, go to what was called beside a compaction, if all does not fit


def trim_compacted(
    conversation: CountedConversation,
    budget: int,
    counter: TokenCounter,
    *,
    query: int | None,
    rest: TrimRest,
    searches: bool,
) -> Trimming | None:
    """Keep the message with the last compaction whole, with the results of its calls, and trim what follows it.

    Args:
        conversation: The whole conversation.
        budget: The most that is kept, in tokens.
        counter: Counts the texts.
        query: Index of the message that is the query.
        rest: Trims what follows the compaction.
        searches: Whether `rest` reads most of the messages, which are then read at once here.

    Returns:
        None where there is no compaction, or where it is in a message whose calls are not answered. `tokens` is above
        `budget` only where the compaction and the current exchange cannot be made to fit.
    """
    compaction = conversation.last_compaction(reading=searches)
    if compaction is None or compaction == query:
        return None
    stop = next((i for i in range(compaction + 1, len(conversation)) if conversation.opens_turn(i)), len(conversation))
    units = units_of(conversation, compaction, stop)
    start = next((unit for unit in units.kept if unit.compacts), None)
    if start is None:
        return None
    conversation, end = units.conversation, start.indices[-1] + 1
    after = conversation.starting_at(end)
    asked = query if query is None else query - end if query >= end else ALL_FOLLOWS
    for left in _attempts(conversation, start, budget, counter):
        places = len(left.kept) + sum(i < end for i in conversation.systems)
        trimming = rest(after, max(0, budget - left.tokens), asked, left.tokens, places)
        if left.tokens + trimming.tokens <= budget:
            break
    gone = {i: _COMPACTED for i in range(compaction) if i != query and not conversation.is_system(i)}
    return _joined(left, _moved(trimming, end), {**gone, **_strays(units, end)})


_COMPACTED: DropReason = "compacted"


def _attempts(conversation: CountedConversation, unit: Unit, budget: int, counter: TokenCounter) -> Iterator[Shrunk]:
    """Yield the unit whole, then shorter: results and words beside the compaction may be cut, it may not."""
    whole = Shrunk(kept=unit.indices, shortened={}, tokens=unit.tokens)
    shorter = [shrink(conversation, [unit], budget // share, counter) for share in (1, *_SHARES)]
    yield from (whole, *(left for left in shorter if left is not None and left.tokens < unit.tokens))


def _strays(units: Units, end: int) -> dict[int, DropReason]:
    reasons: tuple[tuple[DropReason, tuple[int, ...]], ...] = (
        ("orphan", units.orphans),
        ("empty", units.blanks),
        ("superseded", units.superseded),
    )
    return {i: reason for reason, indices in reasons for i in indices if i < end}


def _moved(trimming: Trimming, start: int) -> Trimming:
    """Return a trimming of a conversation without its first `start` messages as one of the whole conversation."""
    after = trimming.placeholder_after
    return replace(
        trimming,
        kept=tuple(i + start for i in trimming.kept),
        shortened={i + start: cut for i, cut in trimming.shortened.items()},
        reasons={i + start: reason for i, reason in trimming.reasons.items()},
        summarized=tuple(i + start for i in trimming.summarized),
        placeholder_after=None if after is None else after + start,
        length=trimming.length + start,
    )


def _joined(left: Shrunk, trimming: Trimming, reasons: Mapping[int, DropReason]) -> Trimming:
    reused = trimming.reused_prefix_tokens
    return replace(
        trimming,
        kept=(*left.kept, *trimming.kept),
        shortened=MappingProxyType({**left.shortened, **trimming.shortened}),
        reasons=MappingProxyType({**reasons, **trimming.reasons}),
        tokens=left.tokens + trimming.tokens,
        reused_prefix_tokens=None if reused is None else left.tokens + reused,
    )
