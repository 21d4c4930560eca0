"""Find which input row each row of a trimmed request was made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortened_copies import is_copy
from tool_exchanges import call_keys, find_exchanges

Row = dict[str, Any]
IDENTICAL, SHORTENED = 1001, 1000


def align(before: Sequence[Row], after: Sequence[Row]) -> list[int | None]:
    """Return for each row of `after` the index of its origin, None where there is none in order.

    As many rows as possible are matched, identical ones rather than shortened ones, late ones rather than early ones.
    """
    worth = _worths(before, after)
    best = _best_sums(worth, len(before), len(after))
    origins: list[int | None] = []
    old = 0
    for new in range(len(after)):
        while old < len(before) and best[new][old + 1] == best[new][old]:
            old += 1
        taken = old < len(before) and best[new][old] == worth[new][old] + best[new + 1][old + 1] and worth[new][old] > 0
        origins.append(old if taken else None)
        old += int(taken)
    return origins


def _worths(before: Sequence[Row], after: Sequence[Row]) -> list[list[int]]:
    answered = answered_calls(before)
    worth = [[0] * len(before) for _ in after]
    for new, row in enumerate(after):
        for old, source in enumerate(before):
            if row.get("role") == source.get("role"):
                same = row == source
                copied = same or is_copy(source, row, answered.get(old))
                worth[new][old] = IDENTICAL if same else SHORTENED if copied else 0
    return worth


def _best_sums(worth: list[list[int]], old_count: int, new_count: int) -> list[list[int]]:
    best = [[0] * (old_count + 1) for _ in range(new_count + 1)]
    for new in reversed(range(new_count)):
        for old in reversed(range(old_count)):
            match = worth[new][old] + best[new + 1][old + 1] if worth[new][old] else 0
            best[new][old] = max(match, best[new][old + 1], best[new + 1][old])
    return best


def answered_calls(rows: Sequence[Row]) -> dict[int, tuple[str | None, ...]]:
    """Return the calls that were answered, for each row whose exchange is incomplete."""
    found = {}
    for exchange in find_exchanges(rows):
        if exchange.unanswered:
            keys = call_keys(rows[exchange.call])
            found[exchange.call] = tuple(key for key in keys if key not in exchange.unanswered)
    return found
