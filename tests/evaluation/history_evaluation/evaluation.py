"""One part of the evaluation: what is missing is run, and the tables are printed or written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from document_evaluation.tables import write_between_markers
from progress import Progress
from result_memory import cache_folder

from history_evaluation.candidates import BY_NAME, CANDIDATES
from history_evaluation.outcomes import Cell, Results
from history_evaluation.runs import PARTS, gathered, memory_of, run_all, tasks_of
from history_evaluation.tables import report
from history_evaluation.verdict import demands


def evaluate(part: str, options: argparse.Namespace, page: Path) -> None:
    """Run a part with the options of the command line."""
    module = PARTS[part]
    sets = [name for name in module.SETS if name in options.sets]
    numbers = {name: module.numbers(name, options.half, options.every, options.limit) for name in sets}
    for name in sets:
        if not numbers[name]:
            print(f"{name}: skipped, nothing of it in the data", file=sys.stderr)
    ready = available(part, options.candidates)
    cells = [Cell(candidate=candidate, set=name) for name in sets if numbers[name] for candidate in ready]
    memory = memory_of(part, cache_folder())
    if options.remembered:
        cells = [cell for cell in cells if not tasks_of(part, [cell], numbers, memory)]
    tasks = tasks_of(part, cells, numbers, memory)
    with Progress(sum(len(task.missing) for task in tasks), part) as progress:
        run_all(tasks, memory, options.jobs, progress.advance)
    results = Results(outcomes=gathered(part, cells, numbers, memory))
    text = heading(options.half, numbers, results.candidates) + "\n\n" + report(part, results)
    if options.write:
        write_between_markers(page, text, f"evaluate-{part}")
        found = demands(part, results)
        print(f"{part}: {sum(demand.reached for demand in found)} of {len(found)} demands reached; see {page.name}")
    else:
        print(text)


def heading(half: str, numbers: Mapping[str, Sequence[int]], names: Iterable[str]) -> str:
    """Say how many items were looked at, and which releases."""
    counts = ", ".join(f"{name} {len(found)}" for name, found in numbers.items() if found)
    releases = {package: release for name in names for package, release in BY_NAME[name].releases.items()}
    packages = ", ".join(f"{package} {release}" for package, release in sorted(releases.items()))
    return f"Items ({half} index): {counts}." + (f" Releases: {packages}." if packages else "")


def available(part: str, names: Sequence[str]) -> list[str]:
    """Return the candidates of a part that can be run here, and say of the others why not."""
    found = []
    for candidate in CANDIDATES:
        if candidate.name in names and part in candidate.parts:
            problem = candidate.problem()
            if problem:
                print(f"{candidate.name}: skipped, {problem}", file=sys.stderr)
            else:
                found.append(candidate.name)
    return found
