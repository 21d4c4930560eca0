"""Results that are kept from one run to the next, and work that is spread over processes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar


class Result(Protocol):
    """The result of one item at one budget."""

    @property
    def number(self) -> int: ...

    @property
    def budget(self) -> str: ...

    @property
    def failed(self) -> bool: ...

    def row(self) -> dict[str, Any]: ...


C = TypeVar("C")
R = TypeVar("R", bound=Result)
T = TypeVar("T")
U = TypeVar("U")


@dataclass(slots=True, kw_only=True)
class ResultMemory(Generic[C, R]):
    """The results that are there, in one file for each cell and release.

    Args:
        folder: Where the files are.
        place: Returns the path of a cell's file in it.
        read: Makes a result of a line.
    """

    folder: Path
    place: Callable[[C], Path]
    read: Callable[[Mapping[str, Any]], R]
    known: dict[C, dict[tuple[int, str], R]] = field(default_factory=dict)

    def outcomes(self, cell: C) -> dict[tuple[int, str], R]:
        """Return the results of a cell by item and budget."""
        if cell not in self.known:
            path = self.folder / self.place(cell)
            lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
            found = [self.read(json.loads(line)) for line in lines]
            self.known[cell] = {(result.number, result.budget): result for result in found}
        return self.known[cell]

    def add(self, cell: C, results: Sequence[R]) -> None:
        """Remember results, also for the next run; what failed is tried again then."""
        path = self.folder / self.place(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(result.row()) + "\n" for result in results if not result.failed))
        self.outcomes(cell).update({(result.number, result.budget): result for result in results})


def cache_folder() -> Path:
    """Return where results are kept from one run to the next."""
    return Path(os.environ.get("CTXOPT_EVAL_CACHE") or Path.home() / ".cache" / "ctxopt-evaluation")


def run_in_processes(run: Callable[[T], U], tasks: Sequence[T], jobs: int) -> Iterator[U]:
    """Yield what each task gives, as it is done; with one job in this process, in their order."""
    if jobs == 1:
        yield from map(run, tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(run, task) for task in tasks]):
            yield future.result()
