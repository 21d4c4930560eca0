"""Running the candidates over the items of a part, in some processes, with a memory on disk."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from result_memory import ResultMemory, run_in_processes

from history_evaluation import conversations, replay, trajectories
from history_evaluation.candidates import BY_NAME
from history_evaluation.outcomes import Cell, Outcome
from history_evaluation.requests import Fit

PARTS: Mapping[str, ModuleType] = {part.NAME: part for part in (conversations, trajectories, replay)}
# Another number makes every result again: for changes of what is measured, or of how the items are made.
MEASURED = "7"
_ITEMS_AT_A_TIME = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What one process does at a time: some items of a cell."""

    part: str
    cell: Cell
    missing: tuple[tuple[int, str], ...]


def memory_of(part: str, folder: Path) -> ResultMemory[Cell, Outcome]:
    """Return the memory of a part's results."""
    return ResultMemory(folder=folder, place=functools.partial(_place, PARTS[part]), read=_read)


def _place(part: Any, cell: Cell) -> Path:
    return Path(BY_NAME[cell.candidate].key) / f"{cell.set}-{part.data_of(cell.set)}-{MEASURED}.jsonl"


def _read(row: Mapping[str, Any]) -> Outcome:
    return Outcome(**row)


def wanted(part: str, cell: Cell, numbers: Mapping[str, Sequence[int]]) -> list[tuple[int, str]]:
    """Return each item and budget of a cell."""
    return [(number, budget) for number in numbers[cell.set] for budget in PARTS[part].budgets(cell.set)]


def tasks_of(
    part: str, cells: Sequence[Cell], numbers: Mapping[str, Sequence[int]], memory: ResultMemory[Cell, Outcome]
) -> list[Task]:
    """Return what is missing."""
    tasks = []
    for cell in cells:
        known = memory.outcomes(cell)
        missing = [key for key in wanted(part, cell, numbers) if key not in known]
        size = _ITEMS_AT_A_TIME * len(PARTS[part].budgets(cell.set)) if part != replay.NAME else 1
        tasks += [
            Task(part=part, cell=cell, missing=tuple(missing[start : start + size]))
            for start in range(0, len(missing), size)
        ]
    return tasks


def run_all(
    tasks: Sequence[Task], memory: ResultMemory[Cell, Outcome], jobs: int, done: Callable[[int], object]
) -> None:
    """Run what is missing; `done` is told how many runs were made."""
    for cell, outcomes in run_in_processes(run_task, tasks, jobs):
        memory.add(cell, outcomes)
        done(len(outcomes))


def run_task(task: Task) -> tuple[Cell, list[Outcome]]:
    """Run and measure what is missing."""
    part, fit = PARTS[task.part], _fit(task.cell.candidate)
    return task.cell, [part.run(task.cell.set, number, budget, fit) for number, budget in task.missing]


def gathered(
    part: str, cells: Sequence[Cell], numbers: Mapping[str, Sequence[int]], memory: ResultMemory[Cell, Outcome]
) -> dict[Cell, list[Outcome]]:
    """Return the outcomes of each cell on the chosen items."""
    return {cell: [memory.outcomes(cell)[key] for key in wanted(part, cell, numbers)] for cell in cells}


@functools.cache
def _fit(name: str) -> Fit:
    return BY_NAME[name].make()
