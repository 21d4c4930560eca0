"""Ways of trimming that need no package: by recency, with shortened results, and in steps."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from document_evaluation.cases import COUNTER

from history_evaluation.requests import Kept, Request, Row, cost, groups, total, whole

RESULT_TOKENS = 100
_STEP = 2 / 3
_GAP = " … "


def unlimited(request: Request, budget: int) -> Kept:
    """Everything."""
    return whole(request, range(len(request.rows)))


def newest(request: Request, budget: int) -> Kept:
    """The newest messages, as long as they fit."""
    left, start = budget, len(request.rows)
    while start and (tokens := cost(request.rows[start - 1])) <= left:
        left -= tokens
        start -= 1
    return whole(request, range(start, len(request.rows)))


def newest_groups(request: Request, budget: int) -> Kept:
    """System messages, the newest question, and the newest groups as long as they fit: sliding trimming."""
    return _newest_groups(request, budget, request.rows)


def newest_toolcut(request: Request, budget: int) -> Kept:
    """The same with each result cut to its head and its tail."""
    return _newest_groups(request, budget, [cut_result(row) for row in request.rows])


def _newest_groups(request: Request, budget: int, rows: Sequence[Row]) -> Kept:
    kept = set(request.systems)
    if request.newest_question is not None:
        kept.add(request.newest_question)
    left = budget - total(rows[place] for place in kept)
    for group in reversed(groups(rows)):
        new = [place for place in group if place not in kept]
        tokens = total(rows[place] for place in new)
        if tokens > left:
            break
        left -= tokens
        kept.update(new)
    return Kept(rows=[(place, rows[place]) for place in sorted(kept)])


def cut_result(row: Row) -> Row:
    """Return a result cut to its head and its tail; any other message as it is."""
    if row["role"] != "tool":
        return row
    return {**row, "content": head_and_tail(row.get("content") or "")}


@functools.lru_cache(maxsize=8_192)
def head_and_tail(text: str) -> str:
    if not COUNTER.exceeds(text, RESULT_TOKENS):
        return text
    end = COUNTER.suffix_length(text, RESULT_TOKENS // 2)
    return text[: COUNTER.prefix_length(text, RESULT_TOKENS // 2)] + _GAP + text[len(text) - end :]


def newest_groups_of(request: Request, budget: int, cleared: Kept) -> Kept:
    """The newest groups of what an edit made of a request, as long as they fit."""
    rows = dict(cleared.rows)
    return _newest_groups(request, budget, [rows.get(place, row) for place, row in enumerate(request.rows)])


def step_window(request: Request, budget: int) -> Kept:
    """Everything until the window overflows; then groups go from the oldest end until it is two thirds full, and so on.

    The cuts follow from the list alone: it is walked from its start, so that the next request repeats this one's.
    """
    systems = total(request.rows[place] for place in request.systems)
    room = budget - systems
    window: list[list[int]] = []
    sizes: list[int] = []
    for group in groups(request.rows):
        window.append(group)
        sizes.append(total(request.rows[place] for place in group))
        if sum(sizes) > room:
            while len(window) > 1 and sum(sizes) > room * _STEP:
                del window[0], sizes[0]
    kept = [*request.systems, *(place for group in window for place in group)]
    return whole(request, kept) if sum(sizes) <= room else newest_groups(request, budget)
