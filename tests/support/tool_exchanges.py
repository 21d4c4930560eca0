"""Pair calls and results of OpenAI-shaped rows by position: a call is answered by the tool rows right behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A row that calls, the rows that answer it, and what nothing answered."""

    call: int
    results: tuple[int, ...]
    unanswered: tuple[str | None, ...]
    end: int

    @property
    def rows(self) -> tuple[int, ...]:
        return (self.call, *self.results)


def call_keys(row: Row) -> list[str | None]:
    """Return what each call of the row must be answered by: its id, or the name of a legacy function."""
    keys = [call.get("id") for call in row.get("tool_calls") or ()]
    if row.get("function_call"):
        keys.append(f"function:{row['function_call'].get('name')}")
    return keys


def is_result(row: Row) -> bool:
    return row["role"] in {"tool", "function"}


def _result_key(row: Row) -> str | None:
    return f"function:{row.get('name')}" if row["role"] == "function" else row.get("tool_call_id")


def find_exchanges(rows: Sequence[Row]) -> list[Exchange]:
    """Return every exchange in order; ids may repeat, also within one row that calls."""
    return [_exchange_at(rows, index) for index, row in enumerate(rows) if call_keys(row)]


def find_orphans(rows: Sequence[Row]) -> list[int]:
    """Return the indices of results that answer no call."""
    answered = {result for exchange in find_exchanges(rows) for result in exchange.results}
    return [index for index, row in enumerate(rows) if is_result(row) and index not in answered]


def _exchange_at(rows: Sequence[Row], call: int) -> Exchange:
    end = call + 1
    while end < len(rows) and is_result(rows[end]):
        end += 1
    run = range(call + 1, end)
    keys = call_keys(rows[call])
    waiting = Counter(keys)
    results = [index for index in run if _result_key(rows[index]) in waiting]
    waiting.subtract(_result_key(rows[index]) for index in results)
    still_open = list((+waiting).elements())
    nameless = [index for index in run if _result_key(rows[index]) is None and index not in results]
    results += nameless[: len(still_open)]
    unanswered = tuple(still_open[len(nameless) :])
    return Exchange(call=call, results=tuple(sorted(results)), unanswered=unanswered, end=end)
