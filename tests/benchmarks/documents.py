"""How long it takes to pack documents, beside tokenizing them once, and what a choice by value and tokens reaches.

Run it with `make bench`. Every figure is a median of CPU time, and the candidates of a table take turns, so the ratios
of one run can be compared. Milliseconds of different machines cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from choice_tables import choice_rows, optimum_rows
from document_tables import packing_rows
from program import run
from result_table import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured.

    Args:
        counts: (documents, rounds) of the packings.
        items: How many documents are chosen from by value and tokens.
        item_rounds: How often.
        instances: Over how many random choices the share of the optimum is averaged.
    """

    counts: tuple[tuple[int, int], ...]
    items: int
    item_rounds: int
    instances: int


FULL = Plan(counts=((20, 15), (200, 9), (2_000, 3)), items=1_000, item_rounds=9, instances=300)
QUICK = Plan(counts=((20, 1), (40, 1)), items=100, item_rounds=1, instances=5)


def main() -> None:
    """Measure, and print tables."""
    note = "Medians of CPU time. `x NAME` is how many times NAME something takes; less is better, but for the optimum."
    run(__doc__, lambda quick: tables(QUICK if quick else FULL), note)


def tables(plan: Plan) -> Iterator[list[Row]]:
    """Yield the rows of each table as soon as they are measured."""
    yield packing_rows(plan.counts)
    yield choice_rows(plan.items, plan.item_rounds)
    yield optimum_rows(plan.instances)


if __name__ == "__main__":
    main()
