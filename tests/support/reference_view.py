"""A deliberately plain trimmer: only what must stay. It shows that a shape can be solved within its budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import regex

from request_tokens import media_kind, recount
from shortened_copies import part_text
from tool_exchanges import find_exchanges, is_result

Row = dict[str, Any]
MARKER = "[cut]"
HEADS = (2_000, 500, 100, 30, 10, 0)


def reference_view(rows: Sequence[Row], tools: Sequence[Row], needles: Sequence[str], budget: int) -> list[Row]:
    """Return system rows, last question, newest exchange and rows with needles, shortened until they fit."""
    question = _last_user(rows)
    kept = _must_stay(rows, question) | _rows_with_needles(rows, needles)
    for head in HEADS:
        for media in (True, False):
            view = [_smaller(rows[i], head, media, whole=i == question, needles=needles) for i in sorted(kept)]
            if recount(view, tools) <= budget:
                return view
    return view


def _last_user(rows: Sequence[Row]) -> int:
    return max((index for index, row in enumerate(rows) if row["role"] == "user"), default=-1)


def _must_stay(rows: Sequence[Row], question: int) -> set[int]:
    kept = {index for index, row in enumerate(rows) if row["role"] in {"system", "developer"} and row["content"]}
    exchanges = find_exchanges(rows)
    if exchanges and exchanges[-1].end == len(rows):
        kept.update(exchanges[-1].rows)
    return kept | ({question} - {-1})


def _rows_with_needles(rows: Sequence[Row], needles: Sequence[str]) -> set[int]:
    found: set[int] = set()
    for needle in needles:
        index = max(i for i, row in enumerate(rows) if needle in str(row["content"]))
        asked = max((i for i in range(index) if rows[i]["role"] == "user"), default=index)
        found |= {index, asked} if rows[index]["role"] == "assistant" else {index}
    return found


def _smaller(row: Row, head: int, media: bool, *, whole: bool, needles: Sequence[str]) -> Row:
    content = row["content"]
    shrinkable = (is_result(row) or row["role"] == "user") and not any(needle in str(content) for needle in needles)
    if isinstance(content, str):
        return {**row, "content": _head(content, head)} if shrinkable and not whole else row
    if not isinstance(content, list):
        return row
    parts = [part for part in content if media or media_kind(part) is None]
    return {**row, "content": list(_shorter_parts(parts, head)) if shrinkable and not whole else parts}


def _shorter_parts(parts: Sequence[Any], head: int) -> Iterator[Any]:
    for part in parts:
        text = part_text(part)
        yield part if isinstance(part, str) or text is None else {**part, "text": _head(text, head)}


def _head(text: str, size: int) -> str:
    if len(text) <= size or not text:
        return text
    kept = ""
    for cluster in regex.findall(r"\X", text[: 4 * size]):
        if len(kept) + len(cluster) > size:
            break
        kept += cluster
    if kept and "\ud800" <= kept[-1] <= "\udbff":
        kept = kept[:-1]
    return kept + MARKER
