"""Running the candidates over the cases, in some processes, with a memory on disk: a peer's results never change."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from result_memory import ResultMemory, run_in_processes

from document_evaluation.candidate import Pack
from document_evaluation.candidates import BY_NAME
from document_evaluation.cases import BUDGETS, Case, case_of, fingerprint, load_data
from document_evaluation.survival import Outcome, measure

# Another number makes every result again: for changes of what is measured, or of how the cases are made.
MEASURED = "2"
_ITEMS_AT_A_TIME = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A candidate on a set in a mode."""

    candidate: str
    set: str
    mode: str


def run_for(cell: Cell) -> Cell:
    """Return the cell that has to be run for a cell: another, where its results are the same by nature."""
    candidate = BY_NAME[cell.candidate]
    mode = "none" if candidate.blind and cell.mode == "shuffled" else cell.mode
    return Cell(candidate=candidate.source, set=cell.set, mode=mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What one process does at a time: some items of a set, for every cell that lacks them."""

    set: str
    missing: tuple[tuple[Cell, int, str], ...]


Memory = ResultMemory[Cell, Outcome]


def memory_in(folder: Path) -> Memory:
    """Return the memory of results in a folder."""
    return ResultMemory(folder=folder, place=_place, read=_read)


def _place(cell: Cell) -> Path:
    name = f"{cell.set}-{fingerprint(cell.set)}-{cell.mode}-{MEASURED}.jsonl"
    return Path(BY_NAME[cell.candidate].key) / name


def _read(row: Mapping[str, Any]) -> Outcome:
    return Outcome(**row)


def gathered(cells: Sequence[Cell], numbers: dict[str, list[int]], memory: Memory) -> dict[Cell, list[Outcome]]:
    """Return the outcomes of each cell on the chosen items."""
    return {
        cell: [memory.outcomes(run_for(cell))[number, budget] for number in numbers[cell.set] for budget in BUDGETS]
        for cell in cells
    }


def tasks_of(cells: Sequence[Cell], numbers: dict[str, list[int]], memory: Memory) -> list[Task]:
    """Return what is missing, some items of a set at a time, so that what is worked out for an item is shared."""
    tasks = []
    to_run = list(dict.fromkeys(map(run_for, cells)))
    for name in dict.fromkeys(cell.set for cell in to_run):
        of_set = [cell for cell in to_run if cell.set == name]
        for start in range(0, len(numbers[name]), _ITEMS_AT_A_TIME):
            some = numbers[name][start : start + _ITEMS_AT_A_TIME]
            missing = tuple(
                (cell, number, budget)
                for cell in of_set
                for number in some
                for budget in BUDGETS
                if (number, budget) not in memory.outcomes(cell)
            )
            if missing:
                tasks.append(Task(set=name, missing=missing))
    return tasks


def run_all(tasks: Sequence[Task], memory: Memory, jobs: int, done: Callable[[int], object]) -> None:
    """Run what is missing; `done` is told how many packings were made."""
    for results in run_in_processes(run_task, tasks, jobs):
        for cell in dict.fromkeys(cell for cell, _ in results):
            memory.add(cell, [outcome for of_cell, outcome in results if of_cell == cell])
        done(len(results))


def run_task(task: Task) -> list[tuple[Cell, Outcome]]:
    """Pack and measure each missing case."""
    results = []
    for cell, number, budget in task.missing:
        case = _case(task.set, number, cell.mode)
        pack = _packer(cell.candidate, case)
        started = time.process_time()
        try:
            kept = pack(case, case.budget(budget))
        except Exception as error:  # noqa: BLE001  a candidate that raises anything has failed, and the others go on
            print(f"{cell.candidate} failed on {task.set} {number}: {type(error).__name__}", file=sys.stderr)
            kept = None
        ms = (time.process_time() - started) * 1_000
        results.append((cell, measure(case, budget, kept, ms, load_data())))
    return results


_case = functools.lru_cache(maxsize=64)(case_of)


_packers: dict[str, Pack] = {}


def _packer(name: str, case: Case) -> Pack:
    """Return what packs, warm: imports and models that are loaded at the first call are not what is timed."""
    if name not in _packers:
        pack = BY_NAME[name].make()
        with contextlib.suppress(Exception):
            pack(case, case.budget(BUDGETS[0]))
        _packers[name] = pack
    return _packers[name]
