"""Cut the sections of a request, such as saved memories, to their own token budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.fitting.measured_request import MeasuredRequest
from ctxopt_core.fitting.request_renderer import RequestRenderer
from ctxopt_core.request import ContextRequest, Section
from ctxopt_core.shortening.truncate import truncate


def with_sections_cut(measured: MeasuredRequest) -> MeasuredRequest:
    """Return a measured whose sections each count at most their own budget; the same one where none has to change."""
    request = measured.request
    tokens_of = _Measured(request, measured.renderer, measured.counter)
    cut = tuple(
        cut_section(section, measured.counter, partial(tokens_of, number))
        for number, section in enumerate(request.sections)
    )
    return measured if cut == tuple(request.sections) else measured.with_sections(cut)


def without_sections(measured: MeasuredRequest) -> MeasuredRequest:
    """Return a measured whose sections are all empty."""
    return measured.with_sections(_emptied(measured.request.sections)) if measured.request.sections else measured


def section_tokens(request: ContextRequest, renderer: RequestRenderer, counter: TokenCounter) -> tuple[int, ...]:
    """Return what each section of a request counts, rendered."""
    if not request.sections:
        return ()
    measured = _Measured(request, renderer, counter)
    return tuple(measured(number, section.entries) for number, section in enumerate(request.sections))


class _Measured:
    """What one section adds to a request in which everything else is empty."""

    def __init__(self, request: ContextRequest, renderer: RequestRenderer, counter: TokenCounter) -> None:
        self._sections = _emptied(request.sections)
        self._request = replace(request, sections=self._sections, tools=(), fixed_tokens=0)
        self._renderer = renderer
        self._counter = counter
        self._without = renderer.overhead_tokens(self._request, counter)

    def __call__(self, number: int, entries: Sequence[str]) -> int:
        """Return the tokens of section `number` with these entries."""
        sections = list(self._sections)
        sections[number] = sections[number].with_entries(entries)
        request = replace(self._request, sections=tuple(sections))
        return max(0, self._renderer.overhead_tokens(request, self._counter) - self._without)


def _emptied(sections: Sequence[Section]) -> tuple[Section, ...]:
    return tuple(section.with_entries(()) for section in sections)


def cut_section(section: Section, counter: TokenCounter, measure: Callable[[Sequence[str]], int]) -> Section:
    """Return a section with its newest entries that fit its own budget, in their order.

    1. Entries are kept whole, from the newest one back to the first that does not fit.
    2. Where not even the newest one fits, its head is kept up to a sentence border; nothing where that says nothing.
    3. `measure` of what is kept is at most `max_tokens`.

    Args:
        section: The section.
        counter: Counts strings.
        measure: Tells what the section counts, rendered, with the given entries. It is asked a few times, and never
            with an entry that alone counts more than `max_tokens`.
    """
    entries, most = section.entries, section.max_tokens
    # Most often all that could fit by their own counts do.
    low, high = 0, _most_entries(entries, most, counter)
    tried = high
    while low < high:
        if measure(entries[len(entries) - tried :]) <= most:
            low = tried
        else:
            high = tried - 1
        tried = (low + high + 1) // 2
    if low or not entries:
        return section.with_entries(entries[len(entries) - low :])
    head = _cut_entry(entries[-1], most, counter, measure)
    return section.with_entries((head,) if head else ())


def _most_entries(entries: Sequence[str], most: int, counter: TokenCounter) -> int:
    """Return how many of the newest entries count at most `most` tokens by themselves."""
    left, taken = most, 0
    for entry in reversed(entries):
        if counter.exceeds(entry, left):
            break
        left -= counter.count(entry)
        taken += 1
    return taken


def _cut_entry(entry: str, most: int, counter: TokenCounter, measure: Callable[[Sequence[str]], int]) -> str:
    """Return the longest head of an entry that fits; an empty text where nothing of it that says something does."""
    room = most
    while room > 0:
        head = truncate(entry, room, counter)
        if not head.strip():
            break
        measured = measure((head,))
        if measured <= most:
            return head
        # What stands around the text, or how many times it is rendered, shows in the first figure.
        room = min(room - 1, room * most // measured)
    return ""
