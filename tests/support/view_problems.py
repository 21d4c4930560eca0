"""Name what is wrong with a trimmed request, judged by its rows alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from broken_cuts import cut_faults
from ctxopt_core.messages.placeholder import is_recalled
from must_stay_rows import SYSTEM_ROLES, is_blank, last_exchange, last_user_index, lost_system
from request_tokens import MEDIA_ALLOWANCE, count_message, recount
from row_alignment import align
from shortened_copies import is_copy, is_thinking, text_pairs
from tool_exchanges import call_keys, find_exchanges, find_orphans, is_result

Row = dict[str, Any]
PLACEHOLDER_TOKENS = 60


def problems(
    before: Sequence[Row],
    after: Sequence[Row],
    *,
    budget: int,
    tools: Sequence[Row] = (),
    needles: Iterable[str] = (),
    encoding: str = "o200k_base",
    last_user_last: bool | None = None,
    is_placeholder: Callable[[Row], bool] | None = None,
    media: Mapping[str, int] = MEDIA_ALLOWANCE,
) -> list[str]:
    """Return every violation found in `after`, made from `before` to count at most `budget` tokens.

    A request that came back unchanged is only counted and searched for the needles, since what fits must not be
    repaired. `last_user_last` says whether the last user message must be the last row; None asks it of the input.
    `is_placeholder` recognizes the one row that may be new; None takes any short row without calls.
    """
    before, after = list(before), list(after)
    found = [*_over_budget(after, tools, budget, encoding, media), *_lost_needles(after, needles)]
    if before == after:
        return found
    origins = align(before, after)
    pairs = [(before[old], after[new]) for new, old in enumerate(origins) if old is not None]
    found += _invented(before, after, origins, is_placeholder, encoding)
    found += _pairing(before, after)
    room = budget - recount(after, tools, encoding, media)
    schemas = recount((), tools, encoding)
    found += lost_system(before, origins, room=room, budget=budget - schemas, encoding=encoding)
    found += _lost_exchange(before, origins)
    found += _last_user(before, origins, last_user_last)
    found += _empty_rows(before, after, origins)
    found += [fault for old, new in pairs for fault in _edited(old, new)]
    found += _edited_current_arguments(before, after, origins)
    found += _first_row(before, after, origins)
    return found


def _over_budget(
    after: list[Row], tools: Sequence[Row], budget: int, encoding: str, media: Mapping[str, int]
) -> Iterator[str]:
    total = recount(after, tools, encoding, media)
    if total > budget:
        yield f"over budget: {total} tokens for {budget}"


def _lost_needles(after: list[Row], needles: Iterable[str]) -> Iterator[str]:
    visible = "\n".join(_visible_text(row) for row in after)
    for number, needle in enumerate(needles):
        if needle not in visible:
            yield f"needle {number} is not visible"


def _visible_text(row: Row) -> str:
    content = row.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part if isinstance(part, str) else part.get("text") or "" for part in content)


def _invented(
    before: list[Row],
    after: list[Row],
    origins: list[int | None],
    is_placeholder: Callable[[Row], bool] | None,
    encoding: str,
) -> Iterator[str]:
    made = [index for index, origin in enumerate(origins) if origin is None]
    for index in made:
        if any(is_copy(row, after[index]) for row in before):
            yield f"row {index} is repeated or out of order"
        elif not _may_be_new(after[index], is_placeholder, encoding):
            yield f"row {index} is invented or edited"
    known = {index for index, row in enumerate(after) if is_placeholder is not None and is_placeholder(row)}
    notes = [index for index in known.union(made) if not is_recalled(str(after[index].get("content")))]
    if len(notes) > 1 or len(known.union(made)) - len(notes) > 1:
        yield "more than one placeholder"


def _may_be_new(row: Row, is_placeholder: Callable[[Row], bool] | None, encoding: str) -> bool:
    if is_placeholder is not None:
        return is_placeholder(row)
    short = not call_keys(row) and not is_result(row) and isinstance(row.get("content"), str)
    return short and count_message(row, encoding) <= PLACEHOLDER_TOKENS


def _pairing(before: list[Row], after: list[Row]) -> Iterator[str]:
    pending = last_exchange(before)
    may_pend = pending is not None and bool(pending.unanswered)
    for index in find_orphans(after):
        yield f"row {index} is a result without its call"
    for exchange in find_exchanges(after):
        if exchange.unanswered and not (may_pend and exchange.end == len(after)):
            yield f"row {exchange.call} is a call without all its results"


def _lost_exchange(before: list[Row], origins: list[int | None]) -> Iterator[str]:
    newest = last_exchange(before)
    if newest is not None and not set(origins).issuperset(newest.rows):
        yield "the newest exchange, pending or unread, is lost"


def _last_user(before: list[Row], origins: list[int | None], last_user_last: bool | None) -> Iterator[str]:
    last = last_user_index(before)
    if last is None or is_blank(before[last]):
        return
    if last not in origins:
        yield "the last user message is missing"
    elif (last == len(before) - 1 if last_user_last is None else last_user_last) and origins[-1] != last:
        yield "the last user message is not the last row"


def _empty_rows(before: list[Row], after: list[Row], origins: list[int | None]) -> Iterator[str]:
    last_user = last_user_index(before)
    for index, (row, origin) in enumerate(zip(after, origins, strict=True)):
        if call_keys(row) or not is_blank(row):
            continue
        unchanged = origin is not None and row == before[origin]
        if not unchanged or (row["role"] in {"user", "assistant"} and origin != last_user):
            yield f"row {index} is empty"


def _edited(old: Row, new: Row) -> Iterator[str]:
    if old == new:
        return
    for text_before, text_after in text_pairs(old, new):
        yield from cut_faults(text_before, text_after)
    thoughts = [[part for part in _parts(row) if is_thinking(part)] for row in (old, new)]
    if thoughts[0] != thoughts[1] and (thoughts[1] or call_keys(new)):
        yield "signed thinking is edited or parted from its call"


def _parts(row: Row) -> list[Any]:
    content = row.get("content")
    return content if isinstance(content, list) else []


def _edited_current_arguments(before: list[Row], after: list[Row], origins: list[int | None]) -> Iterator[str]:
    last_user = last_user_index(before) or 0
    for new, old in enumerate(origins):
        if old is None or old < last_user or len(call_keys(after[new])) != len(call_keys(before[old])):
            continue
        if _arguments(before[old]) != _arguments(after[new]):
            yield f"row {new}: arguments of the current exchange are edited"


def _arguments(row: Row) -> list[Any]:
    functions = [call.get("function") or {} for call in row.get("tool_calls") or ()]
    return [function.get("arguments") for function in [*functions, row.get("function_call") or {}]]


def _first_row(before: list[Row], after: list[Row], origins: list[int | None]) -> Iterator[str]:
    """What remains starts with a user row, unless there is none or the input itself starts otherwise with that row."""
    body = [index for index, row in enumerate(before) if row["role"] not in SYSTEM_ROLES]
    real = [new for new, old in enumerate(origins) if old is not None and after[new]["role"] not in SYSTEM_ROLES]
    if not real or not any(after[new]["role"] == "user" for new in real):
        return
    first = real[0]
    if after[first]["role"] in {"assistant", "tool", "function"} and origins[first] != body[0]:
        yield f"row {first}, the first after the system rows, is not a user message"
