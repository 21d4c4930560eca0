"""Shortens strings to a token budget, on the borders of sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from ctxopt_core.shortening.head_and_tail import exceeds, head_end, tail_start
from ctxopt_core.text.language_detection import guess_language

if TYPE_CHECKING:
    from ctxopt_core.counting.token_counter import TokenCounter

_SIDES = ("head", "tail", "middle")


@runtime_checkable
class CutMarker(Protocol):
    """A marker for the omitted part of a string that depends on which part it is.

    1. `marker_for(start, stop)` is the marker for the characters in [start, stop); it depends on nothing else.
    2. For the whole string, it is as long as it can become.
    """

    def marker_for(self, start: int, stop: int) -> str:
        """Return the marker for the characters in [start, stop)."""


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


def truncate_entries(texts: Sequence[str], budget: int, counter: TokenCounter) -> list[str]:
    """Return as many strings as were given, in their order, which together have at most `budget` tokens.

    Each may have its proportional share, rounded down; what the rounding leaves goes to the largest. Tokens are summed
    over the strings, as each is sent as a message or block.

    Args:
        texts: The strings, all of them counted whole.
        budget: The most tokens of all results together.
        counter: Counts the tokens.
    """
    costs = [counter.count(text) for text in texts]
    total = sum(costs)
    if total <= budget:
        return list(texts)
    allowances = [max(0, budget) * cost // total for cost in costs]
    allowances[costs.index(max(costs))] += max(0, budget) - sum(allowances)
    return [truncate(text, allowance, counter) for text, allowance in zip(texts, allowances, strict=True)]


def omission_marker(characters: int) -> str:
    """Return the line that marks that many characters left out of the middle of a string."""
    return f"\n[... {characters:,} characters left out ...]\n"


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
