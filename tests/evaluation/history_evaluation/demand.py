"""A demand on ours, and what demands are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from history_evaluation.candidates import BY_NAME
from history_evaluation.outcomes import Outcome, Results, summed
from history_evaluation.runs import PARTS

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One demand on ours.

    Args:
        wanted: The demand.
        reached: Whether it is met.
        figures: What was measured.
        short: The cells that fall short.
    """

    wanted: str
    reached: bool
    figures: str
    short: tuple[str, ...] = ()


def rivals(results: Results) -> list[str]:
    """Return the others, upper bounds aside."""
    return [name for name in results.candidates if BY_NAME[name].group in {"peer", "reference"}]


def holding(results: Results) -> list[str]:
    """Return those of the others that keep every budget: what breaks it is no measure."""
    names = rivals(results)
    return [name for name in names if not any(summed(results.of(name, of_set), "over") for of_set in results.sets)]


def cells_of(part: str, results: Results) -> list[tuple[str, str]]:
    """Return each set and budget."""
    return [(name, budget) for name in results.sets for budget in PARTS[part].budgets(name)]


def cell_demand(
    wanted: str, cells: Iterable[tuple[str, str]], mine: Callable[[str, str], float], least: Callable[[str, str], float]
) -> Demand:
    """Compare ours with the least that is wanted, cell by cell."""
    short, number = [], 0
    for name, budget in cells:
        number += 1
        if mine(name, budget) < least(name, budget) - ROUNDING:
            short.append(f"{name} {budget} {mine(name, budget):.3f} against {least(name, budget):.3f}")
    return Demand(
        wanted=wanted, reached=not short, figures=f"{number - len(short)} of {number} cells", short=tuple(short)
    )


def outcomes_of(results: Results, candidate: str) -> list[Outcome]:
    """Return the outcomes of a candidate on all sets."""
    return [outcome for name in results.sets for outcome in results.of(candidate, name)]


def share_of(outcomes: Sequence[Outcome], figure: str, of: str) -> float:
    """Return one sum by another."""
    return summed(outcomes, figure) / (summed(outcomes, of) or 1.0)
