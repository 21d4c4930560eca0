"""Decide whether a row is a shortened copy of another: head and tail of the same texts around a short marker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from request_tokens import count_text, media_kind
from tool_exchanges import call_keys, is_result

Row = dict[str, Any]
MARKER_CHARACTERS = 200
SHRINKABLE = {"content", "tool_calls", "function_call"}


def is_copy(before: Row, after: Row, answered: tuple[str | None, ...] | None = None) -> bool:
    """Tell whether `after` is `before` with texts shortened and nothing else changed.

    `answered` holds the answered calls of a row whose exchange is incomplete: its other calls may be gone.
    """
    if before == after:
        return True
    if any(before.get(key) != after.get(key) for key in (before.keys() | after.keys()) - SHRINKABLE):
        return False
    return _calls_match(before, after, answered) and _contents_match(before, after)


def _calls_match(before: Row, after: Row, answered: tuple[str | None, ...] | None) -> bool:
    old, new = before.get("tool_calls") or [], after.get("tool_calls") or []
    if answered is not None and len(new) != len(old):
        old = [call for call in old if call.get("id") in answered]
        if not old and not new and not before.get("function_call"):
            return bool(after.get("content"))
    if len(old) != len(new) or ("function_call" in before) != ("function_call" in after):
        return answered is not None and not call_keys(after) and bool(after.get("content"))
    functions = [(before.get("function_call"), after.get("function_call"))] if before.get("function_call") else []
    for a, b in zip(old, new, strict=True):
        if {**a, "function": None} != {**b, "function": None}:
            return False
        functions.append((a.get("function"), b.get("function")))
    return all(_functions_match(a or {}, b or {}) for a, b in functions)


def _functions_match(before: Row, after: Row) -> bool:
    if {**before, "arguments": None} != {**after, "arguments": None}:
        return False
    return are_shortened_arguments(before.get("arguments"), after.get("arguments"))


def are_shortened_arguments(before: Any, after: Any) -> bool:
    """Tell whether `after` are the same arguments or shorter ones: still JSON where a string, no new long value."""
    if before == after:
        return True
    if not isinstance(after, type(before)):
        return False
    if not isinstance(after, str):
        return _values_match(before, after)
    try:
        new = json.loads(after)
    except ValueError:
        return False
    if len(after) >= len(before):
        return False
    try:
        return _values_match(json.loads(before), new)
    except ValueError:
        return True


def _values_match(before: Any, after: Any) -> bool:
    if isinstance(before, str) and isinstance(after, str):
        return before == after or is_shortened_text(before, after, marker_alone=True)
    if isinstance(before, dict) and isinstance(after, dict):
        extra = [key for key in after if key not in before]
        known = all(_values_match(before[key], after[key]) for key in after if key in before)
        return known and len(extra) <= 1 and all(len(str(after[key])) <= MARKER_CHARACTERS for key in extra)
    if isinstance(before, list) and isinstance(after, list):
        return len(after) <= len(before)
    return before == after or (isinstance(after, str) and len(after) <= MARKER_CHARACTERS)


def _contents_match(before: Row, after: Row) -> bool:
    old, new = before.get("content"), after.get("content")
    if old == new:
        return True
    if isinstance(old, str) and isinstance(new, str):
        return is_shortened_text(old, new, marker_alone=is_result(before) or bool(call_keys(after)))
    if isinstance(old, list) and isinstance(new, list) and new:
        return len(list(matched_parts(old, new))) == len(new)
    return False


def matched_parts(old: list[Any], new: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each part of a shortened content beside the part it was made from, in order, as far as they match."""
    position = 0
    for part in new:
        while position < len(old) and not _part_matches(old[position], part):
            position += 1
        if position < len(old):
            yield old[position], part
        position += 1


def _part_matches(old: Any, new: Any) -> bool:
    if old == new:
        return True
    old_text, new_text = part_text(old), part_text(new)
    if media_kind(old):
        return new_text is not None and 0 < len(new_text) <= MARKER_CHARACTERS
    if isinstance(old, str) != isinstance(new, str) or old_text is None or new_text is None:
        return is_thinking(old) and is_thinking(new)
    same = isinstance(old, str) or {**old, "text": None} == {**new, "text": None}
    return same and is_shortened_text(old_text, new_text, marker_alone=True)


def part_text(part: Any) -> str | None:
    """Return the text of a text part, None for any other part."""
    return part if isinstance(part, str) else part.get("text")


def is_thinking(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in {"thinking", "redacted_thinking", "reasoning"}


def is_shortened_text(before: str, after: str, *, marker_alone: bool = False) -> bool:
    """Tell whether `after` is a head and a tail of `before` around a marker, and smaller."""
    if not after.strip():
        return False
    head, tail = slices(before, after)
    marker = after[head : len(after) - tail]
    if not _may_mark(after, head, len(after) - tail) or not (head or tail or marker_alone):
        return False
    if not marker and head and tail and head + tail < len(before):
        return False
    return len(after) < len(before) or count_text(after) < count_text(before)


def _may_mark(text: str, start: int, end: int) -> bool:
    """A marker is short and set off from the text: neither a letter nor a digit opens or closes it.

    A bracket that the text happens to hold at the cut as well still opens or closes the marker.
    """
    words = text[start:end].strip()
    if not words:
        return True
    opened = not words[0].isalnum() or text[start - 1 : start] in tuple("[(<{")
    closed = not words[-1].isalnum() or text[end : end + 1] in tuple("])>}")
    return end - start <= MARKER_CHARACTERS and opened and closed


def slices(before: str, after: str) -> tuple[int, int]:
    """Return the lengths of the common head and of the common tail that does not overlap it."""
    limit = min(len(before), len(after))
    head = _common(limit, lambda size: before.startswith(after[:size]))
    tail = _common(limit - head, lambda size: before.endswith(after[len(after) - size :]))
    return head, tail


def _common(limit: int, holds: Any) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def text_pairs(before: Row, after: Row) -> Iterator[tuple[str, str]]:
    """Yield the texts of a row beside the texts that were left of them."""
    old, new = before.get("content"), after.get("content")
    if isinstance(old, str) and isinstance(new, str):
        yield old, new
    elif isinstance(old, list) and isinstance(new, list):
        for old_part, new_part in matched_parts(old, new):
            if isinstance(part_text(old_part), str) and isinstance(part_text(new_part), str):
                yield part_text(old_part) or "", part_text(new_part) or ""
