"""Cut a request that is over its limit: its sections first, then its components."""

from __future__ import annotations

from dataclasses import replace

from ctxopt_core.budget.shares import Allocation, Shares
from ctxopt_core.documents.ranking import sum_of_scores
from ctxopt_core.fitting.component_cuts import ComponentCuts
from ctxopt_core.fitting.components import Cut
from ctxopt_core.fitting.measured_request import MeasuredRequest, as_given, everything_packed, fits, measure_needs
from ctxopt_core.fitting.options import FitOptions
from ctxopt_core.fitting.sections import with_sections_cut, without_sections


def cut(measured: MeasuredRequest, shares: Shares, options: FitOptions) -> Cut:
    """Cut a request until its rendering has at most as many tokens as its limit.

    Sections are cut to their own budgets first; where that is enough, nothing else is cut.

    Args:
        measured: The request and its limit.
        shares: The components' guarantees.
        options: How to cut.

    Raises:
        UnfittableError: What may not be cut is larger than the limit.
    """
    if measured.request.sections:
        given, measured = measured, with_sections_cut(measured)
        if measured is not given and fits(measured):
            return _only_sections_cut(measured)
    cuts = ComponentCuts(measured, shares, options)
    allocation = cuts.cut_texts(cuts.allocated())
    cuts.cut_documents_and_history(allocation)
    cuts.tighten()
    cuts.fill()
    cuts.summarize()
    return cuts.outcome(allocation)


def cut_to_query(measured: MeasuredRequest, shares: Shares, options: FitOptions) -> Cut:
    """Empty everything but the query, sections included; the query gets all that there is.

    The arguments are those of `cut`.

    Raises:
        UnfittableError: Not even a part of the query fits, or not all of it where it is protected.
    """
    cuts = ComponentCuts(without_sections(measured), shares, options)
    cuts.keep_query_only()
    cuts.tighten()
    available = max(0, cuts.measured.available)
    return cuts.outcome(Allocation(system=0, query=available, documents=0, history=0))


def _only_sections_cut(measured: MeasuredRequest) -> Cut:
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
