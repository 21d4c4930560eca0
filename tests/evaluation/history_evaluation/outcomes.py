"""One measured run: a candidate on an item at a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A candidate on a set."""

    candidate: str
    set: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one run.

    Args:
        number: The item.
        budget: The name of the budget.
        figures: What was measured; a failure has zeros.
        failed: Whether the candidate raised an error.
        ms: Milliseconds of CPU time for one request.
    """

    number: int
    budget: str
    figures: Mapping[str, float] = field(default_factory=dict)
    failed: bool = False
    ms: float = 0.0

    def row(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The outcomes of each candidate on each set, all on the same items."""

    outcomes: Mapping[Cell, Sequence[Outcome]] = field(repr=False)

    def of(self, candidate: str, name: str) -> Sequence[Outcome]:
        """Return the outcomes of one cell; none where it was not run."""
        return self.outcomes.get(Cell(candidate=candidate, set=name), ())

    def at(self, candidate: str, name: str, budget: str) -> list[Outcome]:
        """Return those at one budget."""
        return [outcome for outcome in self.of(candidate, name) if outcome.budget == budget]

    @property
    def sets(self) -> list[str]:
        """The sets that were run."""
        return list(dict.fromkeys(cell.set for cell in self.outcomes))

    @property
    def candidates(self) -> list[str]:
        """The candidates that were run on every set."""
        names = dict.fromkeys(cell.candidate for cell in self.outcomes)
        return [name for name in names if all(self.of(name, of_set) for of_set in self.sets)]

    def mean(self, candidate: str, name: str, budget: str, figure: str) -> float:
        """Return the mean of a figure in one cell."""
        return mean(self.at(candidate, name, budget), figure)


def mean(outcomes: Sequence[Outcome], figure: str) -> float:
    """Return the mean of a figure."""
    return fmean(outcome.figures[figure] for outcome in outcomes)


def summed(outcomes: Sequence[Outcome], figure: str) -> float:
    """Return the sum of a figure."""
    return sum(outcome.figures[figure] for outcome in outcomes)


def item_means(outcomes: Sequence[Outcome], figure: str) -> dict[int, float]:
    """Return the mean of a figure over the budgets, for each item."""
    by_item: dict[int, list[float]] = {}
    for outcome in outcomes:
        by_item.setdefault(outcome.number, []).append(outcome.figures[figure])
    return {number: fmean(values) for number, values in by_item.items()}
