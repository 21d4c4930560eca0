"""Shorten a text to a token budget, ending on a sentence."""

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
    """What stands for the omitted part of a text, where that depends on which part it is.

    1. `stands_for(start, stop)` is the text in place of the characters in [start, stop); it depends on nothing else.
    2. Asked about the whole text, it is as long as it can become.
    """

    def stands_for(self, start: int, stop: int) -> str:
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

    Every part is a byte-exact slice of the text, and its own count is at most the budget. Where not even one sentence
    fits, the cut falls on a line of a code block, a word, or a whole grapheme cluster; a joined emoji is never halved.
    White space at the cut is dropped.

    Args:
        text: What to shorten.
        budget: The most tokens that the result may count; 0 and less give an empty text.
        counter: What counts the tokens. No more is counted than about what the budget needs.
        side: What is kept: the `"head"`, the `"tail"`, or with `"middle"` both, joined by the marker.
        marker: For `"middle"`, what stands for the omitted part, inside the budget. A function is given the number of
            characters left out, a `CutMarker` where they stood. Where a marker leaves no room for text, the head alone
            is kept.

    Raises:
        ValueError: `side` is not one of the three, or `marker` is given for another side than `"middle"`.
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
    """Return as many texts as were given, in their order, which together count at most `budget` tokens.

    Each may take its proportional share, rounded down; what the rounding leaves goes to the largest. Counts are summed
    per text, as they are when each is sent as a message or block of its own.

    Args:
        texts: The texts, all of them counted whole.
        budget: The most tokens that all results may count together.
        counter: What counts the tokens.
    """
    costs = [counter.count(text) for text in texts]
    total = sum(costs)
    if total <= budget:
        return list(texts)
    allowances = [max(0, budget) * cost // total for cost in costs]
    allowances[costs.index(max(costs))] += max(0, budget) - sum(allowances)
    return [truncate(text, allowance, counter) for text, allowance in zip(texts, allowances, strict=True)]


def omission_marker(characters: int) -> str:
    """Return the line that stands for that many characters left out of the middle of a text."""
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
        return marker.stands_for
    return lambda start, stop: marker(stop - start)


def _check(side: str, marker: object) -> None:
    if side not in _SIDES:
        message = f"`side` must be 'head', 'tail' or 'middle', got {side!r}"
        raise ValueError(message)
    if marker is not None and side != "middle":
        message = f"`marker` stands for an omitted middle, but `side` is {side!r}; drop it or choose side='middle'"
        raise ValueError(message)
