"""Say which part of the promise a fitted conversation breaks, by the numbers that its rows have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxopt_core.messages.placeholder import is_recalled
from independent_recount import recount
from must_stay_rows import SYSTEM_ROLES
from shape_rows import Row


def promise_faults(before: Sequence[Row], after: Sequence[Row], *, budget: int, tools: Sequence[Row]) -> Iterator[str]:
    """Yield what is wrong with `after`, which was made of the numbered rows of `before`."""
    total = recount(after, tools)
    if total > budget:
        yield f"over budget by {total - budget}"
    if list(before) == list(after):
        return
    numbers = [row["number"] for row in after if "number" in row]
    if any(earlier >= later for earlier, later in pairwise(numbers)):
        yield "a row is repeated or out of order"
    by_number = {row["number"]: row for row in before}
    for row in after:
        if "number" in row:
            yield from _edits(by_number[row["number"]], row)
    asked = max(row["number"] for row in before if row["role"] == "user" and _says(row))
    yield from _added(after, asked)
    if asked not in numbers:
        yield "the question is lost"
    elif by_number[asked] not in after:
        in_flight = [row for row in after if row.get("number", 0) > asked]
        if recount([by_number[asked], *in_flight], tools) <= budget // 2:
            yield "the question is cut though half of the budget holds it and what follows it"
    yield from _pairs(after)


def _added(after: Sequence[Row], asked: int) -> Iterator[str]:
    """Yield what is wrong with the rows that were not there before."""
    added = [place for place, row in enumerate(after) if "number" not in row]
    recalled = [place for place in added if is_recalled(str(after[place]["content"]))]
    if len(added) - len(recalled) > 1 or len(recalled) > 1:
        yield "more than one placeholder"
    if any(after[place]["role"] != "user" or after[place + 1].get("number") != asked for place in recalled):
        yield "what is recalled does not stand before the question"


def _says(row: Row) -> bool:
    content = row.get("content")
    return bool(content.strip() if isinstance(content, str) else content)


def _edits(old: Row, new: Row) -> Iterator[str]:
    ids = [[call["id"] for call in row.get("tool_calls", ())] for row in (old, new)]
    if {**old, "content": None, "tool_calls": None} != {**new, "content": None, "tool_calls": None}:
        yield "a key of a row was changed"
    if new.get("tool_calls") and ids[0] != ids[1]:
        yield "calls of a row were changed"
    if old.get("content") != new.get("content") and not _says(new) and not new.get("tool_calls"):
        yield "a row is emptied"


def _pairs(rows: Sequence[Row]) -> Iterator[str]:
    """Yield calls without all their results, unless they end the conversation, and results without their call."""
    spoken = [row for row in rows if row["role"] not in SYSTEM_ROLES]
    place = 0
    while place < len(spoken):
        row = spoken[place]
        place += 1
        if row["role"] == "tool":
            yield "a result without its call"
        elif row.get("tool_calls"):
            start = place
            while place < len(spoken) and spoken[place]["role"] == "tool":
                place += 1
            asked = Counter(call["id"] for call in row["tool_calls"])
            given = Counter(result["tool_call_id"] for result in spoken[start:place])
            if given - asked:
                yield "a result without its call"
            if asked - given and place < len(spoken):
                yield "a call without its results"
