"""Know the rows that every budget must leave: system rows, the last user message, the exchange at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from request_tokens import media_kind, recount
from shortened_copies import part_text
from tool_exchanges import Exchange, find_exchanges, is_result

Row = dict[str, Any]
SYSTEM_ROLES = {"system", "developer"}
MARKER_TOKENS = 16
SMALLEST_SYSTEM_TOKENS = 12
ATTACHMENT_MARK = {"type": "text", "text": "[attachment omitted]"}


def last_exchange(rows: Sequence[Row]) -> Exchange | None:
    """Return the exchange that the rows end with, pending or unread; None if something follows the last one."""
    exchanges = find_exchanges(rows)
    return exchanges[-1] if exchanges and exchanges[-1].end == len(rows) else None


def last_user_index(rows: Sequence[Row]) -> int | None:
    return max((index for index, row in enumerate(rows) if row["role"] == "user"), default=None)


def is_blank(row: Row) -> bool:
    """Tell whether a row says nothing: no content, no part, or white space alone."""
    content = row.get("content")
    parts = content if isinstance(content, list) else [content or ""]
    return all(isinstance(text := part_text(part), str) and not text.strip() for part in parts)


def lost_system(
    before: Sequence[Row], origins: Sequence[int | None], *, room: int, budget: int, encoding: str
) -> Iterator[str]:
    """Name the system rows that are lost although they fit beside the question and the exchange at the end.

    Where they do not all fit, some part of them must be left, unless not even that had room.
    """
    systems = [index for index, row in enumerate(before) if row["role"] in SYSTEM_ROLES and not is_blank(row)]
    lost = [index for index in systems if index not in origins]
    if lost and _least_tokens(before, systems, encoding) > budget:
        no_room = room < SMALLEST_SYSTEM_TOKENS and _must_stay(before).issuperset(origins)
        lost = [] if no_room or len(lost) < len(systems) else lost
    for index in lost:
        yield f"system row {index} of the input is lost"


def _must_stay(rows: Sequence[Row]) -> set[int | None]:
    newest = last_exchange(rows)
    return {last_user_index(rows), *(newest.rows if newest else ())}


def _least_tokens(rows: Sequence[Row], systems: Sequence[int], encoding: str) -> int:
    """Return the tokens of what must stay, its media gone and its results as short as a marker."""
    indices = [index for index in (*systems, *_must_stay(rows)) if index is not None]
    results = sum(is_result(rows[index]) for index in indices)
    return recount([_bare(rows[index]) for index in indices], encoding=encoding) + MARKER_TOKENS * results


def _bare(row: Row) -> Row:
    content = row.get("content")
    if is_result(row):
        return {**row, "content": ""}
    if not isinstance(content, list):
        return row
    bare = [part for part in content if not media_kind(part)]
    return {**row, "content": bare if len(bare) == len(content) else [*bare, ATTACHMENT_MARK]}
