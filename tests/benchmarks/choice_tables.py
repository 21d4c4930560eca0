"""The tables of choices by value and tokens alone: how long they take, and what share of the optimum is reached."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from statistics import fmean

from cpu_time import Candidate, milliseconds
from result_table import Row, Target

from ctxopt_core.documents.knapsack import by_density, most_valuable

SHARE = "the optimum"
SELECTORS = {"density": by_density, "optimal": most_valuable}
# Values like those of a retriever, and values that make a choice hard.
VALUES: dict[str, Callable[[random.Random, int], float]] = {
    "scores": lambda generator, _: generator.uniform(0.1, 0.9),
    "scores of two decimals": lambda generator, _: round(generator.uniform(0.1, 0.9), 2),
    "tokens and a constant": lambda _, cost: cost + 100,
    "tokens": lambda _, cost: cost,
    "tokens, a tenth more or less": lambda generator, cost: cost * generator.uniform(0.9, 1.1),
}


def choice_rows(count: int, rounds: int) -> list[Row]:
    """Measure the choice among `count` documents, for half of their tokens."""
    rows: list[Row] = []
    for kind, value_of in VALUES.items():
        generator = random.Random(count)
        costs = [generator.randint(20, 2_000) for _ in range(count)]
        values = [value_of(generator, cost) for cost in costs]
        candidates = [
            Candidate(name=name, run=partial(select, values, costs, sum(costs) // 2))
            for name, select in SELECTORS.items()
        ]
        rows += [
            Row(
                section=f"Choice among {count:,} documents of 20 to 2,000 tokens, for half of their tokens",
                case=kind,
                candidate=name,
                milliseconds=time,
                targets=(Target(of="ms", relation="<=", figure=100),) if name == "optimal" else (),
            )
            for name, time in milliseconds(candidates, rounds).items()
        ]
    return rows


def optimum_rows(instances: int) -> list[Row]:
    """Compare the choice by density with the optimum: 5 to 200 documents, for 5 to 60 % of their tokens."""
    generator = random.Random(instances)
    shares: list[float] = []
    choices: list[tuple[list[float], list[int], int]] = []
    while len(shares) < instances:
        costs = [generator.randint(50, 800) for _ in range(generator.randint(5, 200))]
        values = [generator.uniform(0.1, 0.9) for _ in costs]
        budget = int(sum(costs) * generator.uniform(0.05, 0.6))
        best, reached = (
            sum(values[index] for index in select(values, costs, budget)) for select in (most_valuable, by_density)
        )
        if best:
            shares.append(reached / best)
            choices.append((values, costs, budget))
    times = milliseconds([Candidate(name="density", run=lambda: [by_density(*choice) for choice in choices])], 1)
    return [
        Row(
            section="Share of the optimum that the choice by density reaches, on average, and the time of all",
            case=f"{instances} choices",
            candidate="density",
            milliseconds=times["density"],
            ratios={SHARE: fmean(shares)},
            targets=(Target(of=SHARE, relation=">=", figure=0.995),),
        )
    ]
