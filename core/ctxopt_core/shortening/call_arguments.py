"""Shortens the arguments of a call: still JSON of the same kind, with the same keys and numbers.

Long strings keep head and tail around a mark. Where that leaves too little of them, long lists keep their first and
their last item around a mark, too. Keys, numbers and short strings stay; nothing can be shorter than these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.messages.message import Message, ToolCall
from ctxopt_core.shortening.truncate import level_down, truncate
from ctxopt_core.text.surrogates import has_surrogates

STRING_MARK = "…"
OBJECT_OMITTED = "[omitted]"
OMITTED_KEY = "_omitted"
_DEEPEST = 64  # levels of nesting that are kept; arguments of real tools have a handful, and recursion has a limit
_LEAST_BESIDE_LISTS = 16  # tokens of a string: where all lists stay, strings keep this much or the lists are cut, too
_CLOSE_ENOUGH = 16  # the search for the longest strings ends within a sixteenth: each attempt renders the whole value


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


class _Mark(str):
    """The mark for items left out of a list; it is written whole or as the shortest mark."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """How JSON is written: the separators of items and of key and value, and whether surrogates are escaped."""

    comma: str = ", "
    colon: str = ": "
    escapes: bool = False

    def written(self, value: object, shorten: Callable[[str], str]) -> str:
        """Return a value as JSON, with each string in it as `shorten` leaves it."""
        if isinstance(value, _Number):
            return value
        if isinstance(value, str):
            text = shorten(value)
            return self._quoted(STRING_MARK if isinstance(value, _Mark) and text != value else text)
        if isinstance(value, dict):
            pairs = (f"{self._quoted(key)}{self.colon}{self.written(item, shorten)}" for key, item in value.items())
            return "{" + self.comma.join(pairs) + "}"
        if isinstance(value, list):
            return "[" + self.comma.join(self.written(item, shorten) for item in value) + "]"
        return json.dumps(value)

    def _quoted(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self.escapes and has_surrogates(text))


def shorten_arguments(arguments: str, budget: int, counter: TokenCounter) -> str | None:
    """Return the arguments as shorter JSON of at most `budget` tokens, or unchanged if they fit.

    Arguments that are no JSON become an object that says how long they were.

    Returns:
        None when they cannot be made that short: keys, numbers and structure stay.
    """
    if not counter.exceeds(arguments, budget):
        return arguments
    read = _read(arguments)
    if read is None:
        note = _omitted_whole(arguments)
        return None if counter.exceeds(note, budget) else note
    value, form = read
    short = _with_short_lists(value, form)
    found = None if short is value else _leveled(value, form, budget, counter, least=_LEAST_BESIDE_LISTS)
    return _leveled(short, form, budget, counter, least=1) if found is None else found


def shortest_arguments(call: ToolCall, counter: TokenCounter) -> int:
    """Return the fewest tokens to which `shorten_arguments` can cut a call's arguments; all if they may not be cut."""
    whole = counter.count(call.arguments)
    if call.fixed or whole <= 1:
        return whole
    read = _read(call.arguments)
    if read is None:
        return min(whole, counter.count(_omitted_whole(call.arguments)))
    value, form = read
    return min(whole, counter.count(form.written(_with_short_lists(value, form), _shortener(1, counter))))


def tokens_in_arguments(message: Message, counter: TokenCounter) -> int:
    """Return the most tokens that shortening the arguments of a message's calls saves; 0 where they may not be cut."""
    if arguments_are_sealed(message):
        return 0
    return sum(counter.count(call.arguments) - shortest_arguments(call, counter) for call in message.tool_calls)


def arguments_are_sealed(message: Message) -> bool:
    """Return whether arguments in a message may not be edited, as reasoning, or another fixed part, is beside them."""
    return bool(message.verbatim) or any(attachment.fixed for attachment in message.attachments)


def level_arguments(calls: Sequence[ToolCall], budget: int, counter: TokenCounter) -> dict[int, str] | None:
    """Return shorter arguments by the position of their call, so that all together have at most `budget` tokens.

    The longest are cut first.

    Returns:
        None when they cannot be made that short.
    """
    counts = [counter.count(call.arguments) for call in calls]
    if sum(counts) <= budget:
        return {}
    lows = [shortest_arguments(call, counter) for call in calls]
    if sum(lows) > budget:
        return None
    extra = level_down([count - low for count, low in zip(counts, lows, strict=True)], budget - sum(lows))
    found: dict[int, str] = {}
    for position, (call, count, low, more) in enumerate(zip(calls, counts, lows, extra, strict=True)):
        if low + more < count:
            shorter = shorten_arguments(call.arguments, low + more, counter)
            if shorter is None:
                return None
            found[position] = shorter
    return found


def _read(arguments: str) -> tuple[Any, _Form] | None:
    """Return the value and how it was written; None where it is no JSON, or too deep to be read."""
    try:
        value = json.loads(arguments, parse_int=_Number, parse_float=_Number, parse_constant=_refused)
        escapes = not has_surrogates(arguments)
        spaced = _Form(escapes=escapes)
        # Where a mapping is what is sent, this is the form in which it is counted.
        as_mapping = spaced.written(value, lambda text: text) == arguments
    except (ValueError, RecursionError):
        return None
    return _not_deeper(value, _DEEPEST), spaced if as_mapping else _Form(comma=",", colon=":", escapes=escapes)


def _refused(constant: str) -> None:
    message = f"{constant} is not JSON"
    raise ValueError(message)


def _omitted_whole(arguments: str) -> str:
    return json.dumps({OMITTED_KEY: f"{len(arguments):,} characters"})


def _not_deeper(value: Any, levels: int) -> Any:
    if not isinstance(value, (dict, list)):
        return value
    if not levels:
        return OBJECT_OMITTED
    if isinstance(value, dict):
        return {key: _not_deeper(item, levels - 1) for key, item in value.items()}
    return [_not_deeper(item, levels - 1) for item in value]


def _with_short_lists(value: Any, form: _Form) -> Any:
    """Return a value in which lists keep their first and last item; the very object where that shortens nothing."""
    if isinstance(value, dict):
        items = {key: _with_short_lists(item, form) for key, item in value.items()}
        return value if all(items[key] is value[key] for key in value) else items
    if not isinstance(value, list):
        return value
    if len(value) > 2:
        mark = _Mark(f"[... {len(value) - 2:,} item{'s' if len(value) > 3 else ''} left out ...]")
        ends = [_with_short_lists(value[0], form), mark, _with_short_lists(value[-1], form)]
        if len(form.written(value[1:-1], lambda text: text)) > len(mark) + len('[""]'):
            return ends
    found = [_with_short_lists(item, form) for item in value]
    return value if all(new is old for new, old in zip(found, value, strict=True)) else found


def _leveled(value: Any, form: _Form, budget: int, counter: TokenCounter, *, least: int) -> str | None:
    """Return the value with its strings cut to one common length, about the longest with which it fits."""

    def attempt(limit: int) -> str | None:
        text = form.written(value, _shortener(limit, counter))
        return None if counter.exceeds(text, budget) else text

    strings = list(_strings(value))
    best = attempt(least) if len(strings) <= budget else None
    if best is None:
        return None
    long = sum(counter.exceeds(text, least) for text in strings)
    low, high = least, budget + 1
    limit = least + (budget - counter.count(best)) // max(1, long)
    while low < limit < high and high - low > max(1, low // _CLOSE_ENOUGH):
        found = attempt(limit)
        if found is None:
            high = limit
        else:
            best, low = found, limit
        limit = min(2 * low, (low + high) // 2)
    return best


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
    elif isinstance(value, str) and not isinstance(value, _Number):
        yield value


def _shortener(limit: int, counter: TokenCounter) -> Callable[[str], str]:
    """Return a function that cuts a string to `limit` tokens, with a mark at the cut."""
    mark = counter.count(STRING_MARK)

    def shorten(text: str) -> str:
        if not counter.exceeds(text, limit):
            return text
        if limit <= mark:
            return STRING_MARK
        found = truncate(text, limit, counter, side="middle")
        if text.startswith(found):
            found = truncate(text, limit - mark, counter) + STRING_MARK
        return STRING_MARK if len(found) >= len(text) or counter.exceeds(found, limit) else found

    return shorten
