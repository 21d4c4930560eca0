"""What is kept on real sets with gold evidence: of documents, conversations and tool runs, beside what others keep.

    make evaluate                     # installs the others, runs everything, writes docs/benchmarks/details.md
    python tests/evaluation/evaluate.py --part requests --every 10
    python tests/evaluation/evaluate.py --part trajectories --half even --every 5 --candidates ours,newest_toolcut
    python tests/evaluation/evaluate.py --part left_out
    python tests/evaluation/evaluate.py --part documents --half even --sets docs_musique --candidates ours,score_skip

It reads the folder named by CTXOPT_EVAL_DATA, by default ../shared/data, and leaves with a message where there is none.
Results of others are remembered in CTXOPT_EVAL_CACHE, by default ~/.cache/ctxopt-evaluation. No model is asked.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from document_evaluation import left_out
from document_evaluation.candidate import DEFAULT
from document_evaluation.candidates import BY_NAME, CANDIDATES, PEERS
from document_evaluation.cases import MODES, ROOT, SETS, chosen, items, load_data, modes_of
from document_evaluation.figures import Results
from document_evaluation.runs import Cell, gathered, memory_in, run_all, tasks_of
from document_evaluation.tables import left_out_table, report, write_between_markers
from document_evaluation.variants import VARIANTS
from document_evaluation.verdict import demands
from history_evaluation.candidates import CANDIDATES as OF_HISTORY
from history_evaluation.evaluation import evaluate
from history_evaluation.runs import PARTS
from progress import Progress
from result_memory import cache_folder
from whole_requests import print_requests

PAGE = ROOT / "docs" / "benchmarks" / "details.md"
_REQUESTS_EVERY = 5


def keep_to_one_thread() -> None:
    """Make numeric libraries, which are loaded later, use one thread each: the processes share the cores."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure what is kept on the evaluation sets.")
    names = list(dict.fromkeys(candidate.name for candidate in (*CANDIDATES, *OF_HISTORY)))
    sets = [*SETS, *(name for part in PARTS.values() for name in part.SETS)]
    parser.add_argument("--part", choices=("all", "documents", "left_out", "requests", *PARTS), default="all")
    parser.add_argument("--half", choices=("even", "odd", "all"), default="odd", help="tune on even, report odd")
    parser.add_argument("--every", type=int, help="look at every n-th item only")
    parser.add_argument("--limit", type=int, help="look at so many items of a set at most")
    parser.add_argument("--sets", type=_names(sets), default=sets, help="with commas between")
    parser.add_argument("--modes", type=_names(MODES), default=list(MODES), help="with commas between")
    parser.add_argument("--candidates", type=_names(names), default=names, help="with commas between")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--remembered", action="store_true", help="run nothing: only what earlier runs completed")
    parser.add_argument("--rows", type=Path, help="write each outcome to this file, as JSON lines")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/benchmarks/details.md")
    return parser.parse_args(words)


def evaluate_documents(options: argparse.Namespace) -> None:
    """Run what is missing, and print or write the tables."""
    sets = [name for name in SETS if name in options.sets]
    numbers = {name: chosen(name, options.half, options.every, options.limit) for name in sets}
    for name in sets:
        if not items(name):
            print(f"{name}: skipped, not in the data", file=sys.stderr)
    results = outcomes_of(available(options.candidates), options.modes, numbers, options)
    if options.rows:
        write_rows(options.rows, results)
    text = heading(options.half, numbers, {cell.candidate for cell in results.outcomes})
    text += "\n\n" + "\n\n".join(filter(None, map(report, parts_of(results))))
    if options.write:
        write_between_markers(PAGE, text)
        found = demands(results, DEFAULT)
        print(f"{DEFAULT}: {sum(demand.reached for demand in found)} of {len(found)} demands reached; see {PAGE.name}")
    else:
        print(text)


def evaluate_left_out(options: argparse.Namespace) -> None:
    """Compare the weights on all sets but one, and look at the one."""
    numbers = {
        name: chosen(name, options.half, None, options.limit)[:: options.every or left_out.EVERY]
        for name in SETS
        if name in options.sets
    }
    numbers = {name: found for name, found in numbers.items() if found}
    peers = [peer.name for peer in PEERS if not peer.embeds]
    names = available([name for name in (DEFAULT, *peers) if name in options.candidates])
    modes = [mode for mode in options.modes if mode in left_out.MODES]
    names += [variant.name for variant in VARIANTS]
    results = outcomes_of(names, modes, numbers, options)
    text = heading(options.half, numbers, ()) + "\n\n" + left_out_table(results)
    if options.write:
        write_between_markers(PAGE, text, "evaluate-left-out")
    else:
        print(text)


def outcomes_of(
    names: Sequence[str], modes: Sequence[str], numbers: dict[str, list[int]], options: argparse.Namespace
) -> Results:
    """Run what is missing of some candidates, and return the outcomes."""
    cells = [
        Cell(candidate=candidate, set=name, mode=mode)
        for mode in modes
        for name in numbers
        if mode in modes_of(name) and numbers[name]
        for candidate in names
        if BY_NAME[candidate].runs_on(name, mode)
    ]
    memory = memory_in(cache_folder())
    if options.remembered:
        cells = [cell for cell in cells if not tasks_of([cell], numbers, memory)]
    tasks = tasks_of(cells, numbers, memory)
    with Progress(sum(len(task.missing) for task in tasks), "packings") as progress:
        run_all(tasks, memory, options.jobs, progress.advance)
    return Results(outcomes=gathered(cells, numbers, memory))


def parts_of(results: Results) -> tuple[Results, ...]:
    """Return the results without the candidates that embed, and those of the cells in which these were run."""
    embedding = {cell for cell in results.outcomes if BY_NAME[cell.candidate].embeds}
    places = {(cell.set, cell.mode) for cell in embedding}
    plain = {cell: found for cell, found in results.outcomes.items() if cell not in embedding}
    beside = {cell: found for cell, found in results.outcomes.items() if (cell.set, cell.mode) in places}
    return Results(outcomes=plain), Results(outcomes=beside)


def heading(half: str, numbers: Mapping[str, Sequence[int]], names: Iterable[str]) -> str:
    """Say how many items were looked at, and which releases."""
    counts = ", ".join(f"{name} {len(found)}" for name, found in numbers.items() if found)
    releases = {package: release for name in names for package, release in BY_NAME[name].releases.items()}
    packages = ", ".join(f"{package} {release}" for package, release in sorted(releases.items()))
    return f"Items ({half} index): {counts}." + (f" Releases: {packages}." if packages else "")


def available(names: Sequence[str]) -> list[str]:
    """Return the candidates that can be run here, and say of the others why not."""
    found = []
    for candidate in CANDIDATES:
        if candidate.name in names:
            problem = candidate.problem()
            if problem:
                print(f"{candidate.name}: skipped, {problem}", file=sys.stderr)
            else:
                found.append(candidate.name)
    return found


def write_rows(path: Path, results: Results) -> None:
    """Write each outcome, budget overruns not yet counted as nothing."""
    with path.open("w", encoding="utf-8") as file:
        for cell, outcomes in results.outcomes.items():
            key = {"set": cell.set, "mode": cell.mode, "candidate": cell.candidate}
            file.writelines(json.dumps({**key, **outcome.row()}) + "\n" for outcome in outcomes)


def main() -> None:
    """Run the parts that are asked for."""
    options = arguments()
    keep_to_one_thread()
    data = load_data()
    if options.part in {"all", "documents"}:
        evaluate_documents(options)
    if options.part in {"all", "left_out"}:
        evaluate_left_out(options)
    if options.part in {"all", "requests"}:
        print_requests(data, options.every or _REQUESTS_EVERY)
    for part in PARTS:
        if options.part in {"all", part}:
            evaluate(part, options, PAGE)


def _names(choices: Sequence[str]) -> object:
    def read(text: str) -> list[str]:
        found = text.split(",")
        unknown = [name for name in found if name not in choices]
        if unknown:
            message = f"unknown: {', '.join(unknown)}; there are {', '.join(choices)}"
            raise argparse.ArgumentTypeError(message)
        return found

    return read


if __name__ == "__main__":
    main()
