"""Cutting the sections of a request that is over its budget, each measured as the request renders it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ctxopt_core.rendering import Framing
from ctxopt_core.request import ContextRequest
from ctxopt_core.sections import Section, cut_section
from ctxopt_core.subject import Subject
from ctxopt_core.tokens import TokenCounter


def with_sections_cut(subject: Subject) -> Subject:
    """Return a subject whose sections each count at most their own budget; the same one where none has to change."""
    request = subject.request
    measured = _Measured(request, subject.framing, subject.counter)
    cut = tuple(
        cut_section(section, subject.counter, partial(measured, number))
        for number, section in enumerate(request.sections)
    )
    return subject if cut == tuple(request.sections) else subject.with_sections(cut)


def without_sections(subject: Subject) -> Subject:
    """Return a subject whose sections are all empty."""
    return subject.with_sections(_emptied(subject.request.sections)) if subject.request.sections else subject


def section_tokens(request: ContextRequest, framing: Framing, counter: TokenCounter) -> tuple[int, ...]:
    """Return what each section of a request counts, rendered."""
    if not request.sections:
        return ()
    measured = _Measured(request, framing, counter)
    return tuple(measured(number, section.entries) for number, section in enumerate(request.sections))


class _Measured:
    """What one section adds to a request in which everything else is empty."""

    def __init__(self, request: ContextRequest, framing: Framing, counter: TokenCounter) -> None:
        self._sections = _emptied(request.sections)
        self._request = replace(request, sections=self._sections, tools=(), fixed_tokens=0)
        self._framing = framing
        self._counter = counter
        self._without = framing.fixed(self._request, counter)

    def __call__(self, number: int, entries: Sequence[str]) -> int:
        """Return the tokens of section `number` with these entries."""
        sections = list(self._sections)
        sections[number] = sections[number].with_entries(entries)
        request = replace(self._request, sections=tuple(sections))
        return max(0, self._framing.fixed(request, self._counter) - self._without)


def _emptied(sections: Sequence[Section]) -> tuple[Section, ...]:
    return tuple(section.with_entries(()) for section in sections)
