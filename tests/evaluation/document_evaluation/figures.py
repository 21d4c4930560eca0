"""The two figures that count, answer in context and evidence recall, by candidate, set, mode and budget."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from document_evaluation.candidate import Candidate
from document_evaluation.candidates import BY_NAME, CANDIDATES, PEERS
from document_evaluation.cases import BUDGETS, SETS
from document_evaluation.runs import Cell
from document_evaluation.survival import Outcome

FIGURES = ("answer", "recall")


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The outcomes of each candidate on each set in each mode, all on the same items."""

    outcomes: Mapping[Cell, Sequence[Outcome]] = field(repr=False)

    def of(self, candidate: str, name: str, mode: str) -> Sequence[Outcome]:
        """Return the outcomes of one cell; none where it was not run."""
        found = self.outcomes.get(Cell(candidate=candidate, set=name, mode=mode), ())
        return [without_overrun(outcome) for outcome in found] if BY_NAME[candidate].net else found

    def sets(self, mode: str) -> list[str]:
        """Return the sets that were run in a mode."""
        there = {cell.set for cell in self.outcomes if cell.mode == mode}
        return [name for name in SETS if name in there]

    def candidates(self, mode: str) -> list[Candidate]:
        """Return the candidates that were run on every set of a mode, in the order of the table."""
        names = self.sets(mode)
        return [c for c in CANDIDATES if names and all(self.of(c.name, name, mode) for name in names)]

    def peers(self, mode: str) -> list[Candidate]:
        """Return those that ours is compared with."""
        return [candidate for candidate in self.candidates(mode) if candidate in PEERS]


def without_overrun(outcome: Outcome) -> Outcome:
    """Count a packing that is over its budget as nothing."""
    if not outcome.over:
        return outcome
    answer = None if outcome.answer is None else 0.0
    recall = None if outcome.recall is None else 0.0
    return dataclasses.replace(outcome, answer=answer, recall=recall, verbatim=0.0, complete=False)


def means(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Return the mean of each figure; a figure that no item has is left out."""
    found = list(outcomes)
    values = {figure: [v for o in found if (v := getattr(o, figure)) is not None] for figure in FIGURES}
    return {figure: fmean(of_figure) for figure, of_figure in values.items() if of_figure}


def by_budget(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Return the means at each budget."""
    return {budget: means(o for o in outcomes if o.budget == budget) for budget in BUDGETS}


def mean_figure(outcomes: Sequence[Outcome]) -> float:
    """Return the mean over budgets and figures."""
    return fmean(value for of_budget in by_budget(outcomes).values() for value in of_budget.values())


def overall(results: Results, candidate: str, mode: str) -> float:
    """Return the mean over sets, budgets and figures."""
    return fmean(mean_figure(results.of(candidate, name, mode)) for name in results.sets(mode))


def budget_use(outcomes: Iterable[Outcome]) -> float | None:
    """Return the mean use of the budget where there is more than fits."""
    used = [outcome.used for outcome in outcomes if outcome.larger]
    return fmean(used) if used else None


def item_values(outcomes: Sequence[Outcome]) -> dict[int, float]:
    """Return one number for each item: the mean of its figures over the budgets."""
    by_item: dict[int, list[float]] = {}
    for outcome in outcomes:
        figures = [value for figure in FIGURES if (value := getattr(outcome, figure)) is not None]
        by_item.setdefault(outcome.number, []).append(fmean(figures))
    return {number: fmean(values) for number, values in by_item.items()}
