"""What was wanted of ours on conversations."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean, median

from history_evaluation.candidates import DEFAULT, RECENT, RELEVANCE, RELEVANCE_EMBEDDING
from history_evaluation.conversations import NAME
from history_evaluation.demand import ROUNDING, Demand, cell_demand, cells_of, holding
from history_evaluation.outcomes import Results

LEAD = 0.03
MOST_MS = 25.0


def conversation_demands(results: Results) -> Iterator[Demand]:
    """Check every demand that the results allow to be checked."""
    for check in (_best_in_each_cell, _lead, _lead_with_embeddings, _default_keeps_newest, _time):
        yield from check(results)


def _recall(results: Results, candidate: str) -> float:
    return fmean(results.mean(candidate, *cell, "recall") for cell in cells_of(NAME, results))


def _best_in_each_cell(results: Results) -> Iterator[Demand]:
    others = holding(results)
    if RELEVANCE in results.candidates and others:
        yield cell_demand(
            f"`{RELEVANCE}`: evidence recall at least that of the best other in every cell",
            cells_of(NAME, results),
            lambda name, budget: results.mean(RELEVANCE, name, budget, "recall"),
            lambda name, budget: max(results.mean(other, name, budget, "recall") for other in others),
        )


def _lead(results: Results) -> Iterator[Demand]:
    others = {name: _recall(results, name) for name in holding(results)}
    if RELEVANCE in results.candidates and others:
        best = max(others, key=others.__getitem__)
        lead = _recall(results, RELEVANCE) - others[best]
        yield Demand(
            wanted=f"`{RELEVANCE}`: mean over the sets at least 3 points above the best other",
            reached=lead >= LEAD - ROUNDING,
            figures=f"{_recall(results, RELEVANCE):.3f}, {best} {others[best]:.3f}: {100 * lead:+.1f} points",
        )


def _lead_with_embeddings(results: Results) -> Iterator[Demand]:
    if {RELEVANCE, RELEVANCE_EMBEDDING} <= set(results.candidates):
        words, meaning = (_recall(results, name) for name in (RELEVANCE, RELEVANCE_EMBEDDING))
        yield Demand(
            wanted=f"`{RELEVANCE_EMBEDDING}`: 3 points more than by words",
            reached=meaning - words >= LEAD - ROUNDING,
            figures=f"{meaning:.3f} against {words:.3f}: {100 * (meaning - words):+.1f} points",
        )


def _default_keeps_newest(results: Results) -> Iterator[Demand]:
    cells = cells_of(NAME, results)
    if DEFAULT not in results.candidates:
        return
    tail = fmean(results.mean(DEFAULT, *cell, "tail") for cell in cells)
    yield Demand(
        wanted=f"`{DEFAULT}`: the newest messages, a tenth of the budget, are kept whole",
        reached=tail >= 1.0 - ROUNDING,
        figures=f"{tail:.3f} of them",
    )
    if RECENT in results.candidates:
        yield cell_demand(
            f"`{DEFAULT}`: evidence recall at least that of {RECENT} in every cell",
            cells,
            lambda name, budget: results.mean(DEFAULT, name, budget, "recall"),
            lambda name, budget: results.mean(RECENT, name, budget, "recall"),
        )


def _time(results: Results) -> Iterator[Demand]:
    for candidate in (DEFAULT, RELEVANCE):
        if candidate in results.candidates:
            found = {name: median(o.ms for o in results.of(candidate, name)) for name in results.sets}
            yield Demand(
                wanted=f"`{candidate}`: at most 25 ms of CPU for a question on a warm history (median)",
                reached=max(found.values()) <= MOST_MS,
                figures=", ".join(f"{name} {ms:.1f}" for name, ms in found.items()),
            )
