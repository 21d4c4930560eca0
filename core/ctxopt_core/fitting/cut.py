"""Cutting an over-full request down: allocate, cut each component, recount the whole, tighten until it holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ctxopt_core.budget.shares import COMPONENTS, Allocation, Component, Shares, allocate
from ctxopt_core.documents.packing import Packing
from ctxopt_core.documents.ranking import sum_of_scores
from ctxopt_core.fitting.components import ComponentCuts
from ctxopt_core.fitting.measured_request import MeasuredRequest, as_given, everything_packed, fits, measure_needs
from ctxopt_core.fitting.options import PROTECTABLE, FitOptions
from ctxopt_core.fitting.request_renderer import Draft
from ctxopt_core.fitting.sections import with_sections_cut, without_sections

_ROUNDS = 16
_WORTH_FILLING = 16
_EASIEST_FIRST: tuple[Component, ...] = ("documents", "history", "system", "query")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The outcome of a cut.

    Args:
        measured: What was cut, its sections already being what is left of them.
        draft: What the request holds now.
        packing: The documents' part of it.
        allocation: Tokens that each component was allowed.
        used: Tokens that each component takes.
        whole: Tokens of the rendered request.
    """

    measured: MeasuredRequest
    draft: Draft
    packing: Packing
    allocation: Allocation
    used: Mapping[Component, int]
    whole: int


def cut(measured: MeasuredRequest, shares: Shares, options: FitOptions) -> Cut:
    """Cut a request until its rendering counts at most the limit.

    Sections are cut to their own budgets first; where that is enough, nothing else is cut.

    Args:
        measured: The request and its limit.
        shares: The components' guarantees.
        options: How to cut.

    Raises:
        ContextBudgetError: What may not be cut is larger than the limit.
    """
    if measured.request.sections:
        given, measured = measured, with_sections_cut(measured)
        if measured is not given and fits(measured):
            return _as_given(measured)
    parts = ComponentCuts(measured, shares, options)
    allocation = _settle(parts, _allocate(parts))
    spare = allocation.system + allocation.query - parts.system.tokens - parts.query.tokens
    documents = allocation.documents + (spare if shares.documents else 0)
    parts.pack(documents)
    spare += allocation.documents - parts.packing.tokens
    _trim_beside(parts, allocation.history + (max(0, spare) if shares.history else 0), documents)
    _tighten(parts)
    _fill(parts)
    parts.summarize()
    return _outcome(parts, allocation)


def cut_to_query(measured: MeasuredRequest, shares: Shares, options: FitOptions) -> Cut:
    """Empty everything but the query, sections included; the query gets all that there is.

    The arguments are those of `cut`.

    Raises:
        ContextBudgetError: Not even a part of the query fits, or not all of it where it is protected.
    """
    parts = ComponentCuts(without_sections(measured), shares, options)
    parts.empty()
    available = max(0, parts.measured.available)
    whole_query = "query" in options.protect
    if not parts.cut_query(available) or (whole_query and parts.used["query"] < parts.needs["query"]):
        parts.refuse(("query",))
    _tighten(parts)
    return _outcome(parts, Allocation(system=0, query=available, documents=0, history=0))


def _outcome(parts: ComponentCuts, allocation: Allocation) -> Cut:
    return Cut(
        measured=parts.measured,
        draft=parts.draft(),
        packing=parts.packing,
        allocation=allocation,
        used=parts.used,
        whole=parts.whole(),
    )


def _as_given(measured: MeasuredRequest) -> Cut:
    """Return the cut that took something of the sections and nothing else."""
    draft, needs = as_given(measured), measure_needs(measured)
    packing = replace(
        everything_packed(measured),
        tokens=needs["documents"],
        cumulative_score=sum_of_scores(measured.request.documents),
    )
    return Cut(
        measured=measured,
        draft=draft,
        packing=packing,
        allocation=Allocation(**needs),
        used=needs,
        whole=measured.count(draft),
    )


def _allocate(parts: ComponentCuts) -> Allocation:
    protected: tuple[Component, ...] = tuple(name for name in PROTECTABLE if name in parts.options.protect)
    held = sum(parts.needs[name] for name in protected)
    available = parts.measured.available
    if available <= 0 or held > available:
        parts.refuse(protected)
    if "query" not in protected and parts.query_holds_attachments and parts.needs["query"] <= available - held:
        # What is shown now is worth more than what was shown before, and it is whole or lost.
        protected, held = (*protected, "query"), held + parts.needs["query"]
    free = {name: 0 if name in protected else need for name, need in parts.needs.items()}
    allocation = allocate(available - held, free, parts.shares)
    return replace(allocation, **{name: parts.needs[name] for name in protected})


def _settle(parts: ComponentCuts, allocation: Allocation) -> Allocation:
    """Cut query and system prompt. Where nothing would be left of a text it takes from documents and history."""
    available = parts.measured.available
    if not _widened(parts.cut_query, allocation.query, available):
        parts.refuse(("query",))
    if not _widened(parts.cut_system, allocation.system, available - parts.query.tokens):
        parts.refuse(("query", "system"))
    used = {"query": parts.query.tokens, "system": parts.system.tokens}
    if used["query"] <= allocation.query and used["system"] <= allocation.system:
        return allocation
    others = {name: 0 if name in used else need for name, need in parts.needs.items()}
    return replace(allocate(available - sum(used.values()), others, parts.shares), **used)


def _widened(cut_again: Callable[[int], bool], allowed: int, most: int) -> bool:
    """Cut with a growing allowance until something of every text is left, or `most` is not enough either."""
    while not cut_again(allowed):
        if allowed >= most:
            return False
        allowed = min(most, 2 * allowed + _WORTH_FILLING)
    return True


def _trim_beside(parts: ComponentCuts, allowed: int, documents: int) -> None:
    """Trim the conversation; an exchange in flight that does not fit takes from the documents."""
    parts.trim(allowed)
    for given_up in (documents // 2, documents):
        if parts.trimming.tokens <= allowed or not parts.packing.kept:
            return
        parts.pack(documents - given_up)
        parts.trim(allowed + given_up)


def _tighten(parts: ComponentCuts) -> None:
    """Cut the component that can best bear it by what the whole is over, until the whole fits."""
    for _ in range(_ROUNDS):
        over = parts.whole() - parts.measured.limit
        if over <= 0:
            return
        if not _cut_further(parts, math.ceil(over / parts.rendered_per_token())):
            break
    parts.refuse(("query", "history"))


def _cut_further(parts: ComponentCuts, over: int) -> bool:
    for name in _EASIEST_FIRST:
        before = parts.used[name]
        if before and name not in parts.options.protect:
            parts.cuts[name](before - over)
            if parts.used[name] < before:
                return True
    return False


def _fill(parts: ComponentCuts) -> None:
    """Offer what is left to each component that was cut, in their order."""
    for name in COMPONENTS:
        if not parts.was_cut(name):
            continue
        spare = int((parts.measured.limit - parts.whole()) / parts.rendered_per_token())
        if spare < _WORTH_FILLING:
            return
        # What is added may be rendered at more than the mean rate, and then less of it fits.
        for offered in (parts.used[name] + spare, parts.used[name] + spare // 2):
            if offered < parts.allowed[name] + _WORTH_FILLING or parts.try_cut(name, offered):
                break
