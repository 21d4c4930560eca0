"""How fast a file of requests is fitted line by line, beside tokenizing the same file, and in how much memory.

Run it with `make bench`. The ratios of one run can be compared; milliseconds of different machines cannot.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from batch_processes import jobs_rows, memory_rows
from batch_tables import has_fast, throughput_rows, write_requests
from program import run
from result_table import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured.

    Args:
        requests: Requests in the file.
        few: Requests in the short file, whose memory the long one is compared with.
        tokens: Tokens of a request, about.
    """

    requests: int
    few: int
    tokens: int


FULL = Plan(requests=10_000, few=1_000, tokens=4_000)
QUICK = Plan(requests=20, few=10, tokens=400)


def main() -> None:
    """Measure, and print tables."""
    note = "CPU time but for whole runs, reading JSON included; that of fitting includes writing it."
    run(__doc__, lambda quick: tables(QUICK if quick else FULL), note)


def tables(plan: Plan) -> Iterator[list[Row]]:
    """Yield the rows of each table as soon as they are measured."""
    with tempfile.TemporaryDirectory() as folder:
        long, short = Path(folder) / "long.jsonl", Path(folder) / "short.jsonl"
        write_requests(long, plan.requests, plan.tokens)
        write_requests(short, plan.few, plan.tokens)
        for fast in (False, True) if has_fast() else (False,):
            yield throughput_rows(long, plan.requests, plan.tokens, fast=fast)
        yield jobs_rows(long, plan.tokens)
        yield memory_rows({plan.few: short, plan.requests: long}, plan.tokens)


if __name__ == "__main__":
    main()
