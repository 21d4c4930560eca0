"""Shortens strings to a token budget: the longest prefix or suffix that fits, on the best border there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from ctxopt_core.text.boundaries import accent_start, cluster_end, cluster_start, word_end, word_start
from ctxopt_core.text.language_detection import guess_language
from ctxopt_core.text.sentences import line_start_before, sentence_spans, sentence_starts

if TYPE_CHECKING:
    from ctxopt_core.counting.token_counter import TokenCounter

Fits = Callable[[int], bool]
_SIDES = ("head", "tail", "middle")

# Characters: a sentence that ends this far after what the tokenizer's own borders allow may still fit, as tokens merge
# otherwise at the end of a string than inside it.
_LOOK_BEYOND = 128
_CHARACTERS_PER_TOKEN = 16  # more than tokens have on average, so that the first window mostly holds the budget
_CONTEXT = 2_000  # characters before the cut that are split into sentences: more would take longer for the same borders
_LONGEST_LINE = 20_000  # characters: in a longer line the search for sentences starts inside the line


@runtime_checkable
class CutMarker(Protocol):
    """A marker for the omitted part of a string that depends on which part it is.

    1. `marker_for(start, stop)` is the marker for the characters in [start, stop); it depends on nothing else.
    2. For the whole string, it is as long as it can become.
    """

    def marker_for(self, start: int, stop: int) -> str:
        """Return the marker for the characters in [start, stop)."""
        ...


def truncate(
    text: str,
    budget: int,
    counter: TokenCounter,
    *,
    side: Literal["head", "tail", "middle"] = "head",
    marker: CutMarker | Callable[[int], str] | str | None = None,
) -> str:
    """Return `text` itself when it fits the budget, else the longest part of it that ends on a sentence and fits.

    Every part is a byte-exact slice of the string, and has at most `budget` tokens. Where not even one sentence fits,
    the cut is at a line of a code block, a word, or a whole grapheme cluster; a joined emoji is never cut in half.
    White space at the cut is dropped.

    Args:
        text: The string to shorten.
        budget: The most tokens of the result; 0 and less give an empty string.
        counter: Counts the tokens. It is asked about little more of the string than the budget needs.
        side: What is kept: the `"head"`, the `"tail"`, or with `"middle"` both, joined by the marker.
        marker: For `"middle"`, the marker of the omitted part, inside the budget. A function gets the number of
            characters left out, a `CutMarker` their positions. Where the marker leaves no tokens for both, the head
            alone is kept.

    Raises:
        ValueError: `side` is not one of the three, or `marker` is given for another side than `"middle"`.

    Example:
        >>> from ctxopt_core import CallableCounter, truncate
        >>> text = "The pump failed. It was old. A new one was ordered on Monday."
        >>> truncate(text, 30, CallableCounter(len))
        'The pump failed. It was old.'
        >>> truncate(text, 40, CallableCounter(len), side="tail")
        'A new one was ordered on Monday.'
    """
    _check(side, marker)
    if budget <= 0:
        return ""
    if not exceeds(text, budget, counter):
        return text
    if text.isspace():
        return ""
    language = guess_language(text)
    if side == "tail":
        return text[tail_start(text, budget, counter, language=language) :]
    if side == "middle":
        joined = _around_marker(text, budget, counter, _marker_function(marker), language)
        if joined is not None:
            return joined
    return text[: head_end(text, budget, counter, language=language)]


def truncate_entries(
    texts: Sequence[str], budget: int, counter: TokenCounter, *, side: Literal["head", "tail", "middle"] = "head"
) -> list[str]:
    """Return as many strings as were given, in their order, which together have at most `budget` tokens.

    Each may have its proportional share, rounded down; what the rounding leaves goes to the largest. Tokens are summed
    over the strings, as each is sent as a message or block.
    """
    costs = [counter.count(text) for text in texts]
    total = sum(costs)
    if total <= budget:
        return list(texts)
    allowances = [max(0, budget) * cost // total for cost in costs]
    allowances[costs.index(max(costs))] += max(0, budget) - sum(allowances)
    return [truncate(text, allowance, counter, side=side) for text, allowance in zip(texts, allowances, strict=True)]


def omission_marker(characters: int) -> str:
    """Return the line that marks that many characters left out of the middle of a string."""
    return f"\n[... {characters:,} characters left out ...]\n"


def level_down(counts: Sequence[int], budget: int) -> list[int]:
    """Return the tokens that each string may have, so that the sum is at most `budget`.

    Strings at or below a common level keep all their tokens; the others are cut to it.
    """
    allowed = [0] * len(counts)
    left = max(0, budget)
    for rank, index in enumerate(sorted(range(len(counts)), key=lambda i: counts[i])):
        allowed[index] = min(counts[index], left // (len(counts) - rank))
        left -= allowed[index]
    return allowed


def _around_marker(
    text: str, budget: int, counter: TokenCounter, marker: Callable[[int, int], str], language: str
) -> str | None:
    """Return head, marker and tail within the budget, or None where the marker leaves no room for both."""
    room = budget - counter.count(marker(0, len(text)))
    while room > 1:
        head = head_end(text, (room + 1) // 2, counter, language=language, greedy=True)
        if not head:
            return None
        left = room - counter.count(text[:head])
        tail = tail_start(text, left, counter, language=language, greedy=True) if left > 0 else len(text)
        if not any(map(str.isalnum, text[tail:])):
            return None
        if head < tail:
            joined = text[:head] + marker(head, tail) + text[tail:]
            if not counter.exceeds(joined, budget):
                return joined
        room -= 1
    return None


def _marker_function(marker: CutMarker | Callable[[int], str] | str | None) -> Callable[[int, int], str]:
    if marker is None:
        return lambda start, stop: omission_marker(stop - start)
    if isinstance(marker, str):
        return lambda _start, _stop: marker
    if isinstance(marker, CutMarker):
        return marker.marker_for
    return lambda start, stop: marker(stop - start)


def _check(side: str, marker: object) -> None:
    if side not in _SIDES:
        message = f"`side` must be 'head', 'tail' or 'middle', got {side!r}"
        raise ValueError(message)
    if marker is not None and side != "middle":
        message = f"`marker` stands for an omitted middle, but `side` is {side!r}; drop it or choose side='middle'"
        raise ValueError(message)


def head_end(text: str, budget: int, counter: TokenCounter, *, language: str, greedy: bool = False) -> int:
    """Return where the longest prefix within `budget` tokens (at least 1) ends, on the best border there is.

    If `greedy`, a word border is preferred to a sentence border that gives up more than half of the budget.
    """
    reach = _reach(len(text), budget, lambda width: counter.prefix_length(text[:width], budget))
    least = reach // 2 if greedy else 0

    def fits(end: int) -> bool:
        return cluster_start(text, end) == end and not counter.exceeds(text[:end], budget)

    end = _sentence_end(text, reach, fits, language)
    if end > least:
        return end
    for border in (_line_end, word_end, _cluster_end_before):
        end = _nearest(border, text, reach, -1, fits)
        if end > (least if border is _line_end else 0):
            return end
    return _nearest(accent_start, text, reach, -1, lambda end: not counter.exceeds(text[:end], budget))


def tail_start(text: str, budget: int, counter: TokenCounter, *, language: str, greedy: bool = False) -> int:
    """Return where the longest suffix within `budget` tokens starts; the arguments are those of `head_end`."""
    length = len(text)
    reach = length - _reach(length, budget, lambda width: counter.suffix_length(text[length - width :], budget))
    most = length - (length - reach) // 2 if greedy else length

    def fits(start: int) -> bool:
        return cluster_start(text, start) == start and not counter.exceeds(text[start:], budget)

    start = _sentence_start(text, reach, fits, language)
    if start < most:
        return start
    for border in (_line_start, word_start, _cluster_start_after):
        start = _nearest(border, text, reach, 1, fits)
        if start < (most if border is _line_start else length):
            return start
    return length


def exceeds(text: str, budget: int, counter: TokenCounter) -> bool:
    """Return whether `text` has more than `budget` tokens; the start of a long string is counted first."""
    width = _width(budget)
    while 4 * width < len(text):
        if counter.exceeds(text[:width], budget):
            return True
        width *= 4
    return counter.exceeds(text, budget)


def _reach(length: int, budget: int, within: Callable[[int], int]) -> int:
    """Return `within` of a window that surely has more tokens than the budget, as not every counter stops early."""
    width = _width(budget)
    while 4 * width < length:
        reach = within(width)
        if 2 * reach < width:
            return reach
        width *= 4
    return within(length)


def _width(budget: int) -> int:
    return _CHARACTERS_PER_TOKEN * budget + _LOOK_BEYOND


def _sentence_end(text: str, reach: int, fits: Fits, language: str) -> int:
    near = line_start_before(text, reach - _CONTEXT)
    last = reach + _LOOK_BEYOND
    for origin in (near, 0) if near else (0,):
        ends = [len(text[:origin].rstrip())]
        spans = sentence_spans(text, start=origin, stop=last, language=language)
        ends.extend(end for _, end in spans if end <= last)
        beyond = _last_in_a_row([end for end in ends if end > reach], fits)
        found = beyond or next((end for end in reversed(ends) if end <= reach and (not end or fits(end))), 0)
        if found:
            return found
    return 0


def _sentence_start(text: str, reach: int, fits: Fits, language: str) -> int:
    origin = line_start_before(text, reach - _CONTEXT)
    starts = sentence_starts(text, start=origin, language=language)
    if reach - origin > _LONGEST_LINE and "\n" not in text[origin : reach - _CONTEXT]:
        starts = sentence_starts(text, start=reach - _CONTEXT, language=language)
        next(starts, None)
    beyond: list[int] = []
    for start in starts:
        if start >= reach:
            found = _last_in_a_row(beyond[::-1], fits)
            if found or fits(start):
                return found or start
            beyond.clear()
        elif start > reach - _LOOK_BEYOND:
            beyond.append(start)
    return _last_in_a_row(beyond[::-1], fits) or len(text)


def _last_in_a_row(positions: list[int], fits: Fits) -> int:
    """Return the last of the positions before the first one that does not fit, or 0."""
    found = 0
    for position in positions:
        if not fits(position):
            break
        found = position
    return found


def _nearest(border: Callable[[str, int], int], text: str, reach: int, step: int, fits: Fits) -> int:
    """Return the border that fits and is nearest to `reach`, before it with a step of -1 and after it with 1."""
    limit = 0 if step < 0 else len(text)
    position = border(text, reach)
    while position != limit and not fits(position):
        position = border(text, position + step)
    return position


def _line_end(text: str, position: int) -> int:
    """Return the end of the last line that ends at or before `position`; only fenced code has lines in a sentence."""
    return len(text[: text.rfind("\n", 0, position + 1) + 1].rstrip())


def _line_start(text: str, position: int) -> int:
    line_break = text.find("\n", max(0, position - 1))
    return len(text) if line_break < 0 else len(text) - len(text[line_break:].lstrip())


def _cluster_end_before(text: str, position: int) -> int:
    return len(text[: cluster_start(text, position)].rstrip())


def _cluster_start_after(text: str, position: int) -> int:
    return len(text) - len(text[cluster_end(text, position) :].lstrip())
