"""What an import adds, in fresh processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from statistics import median

from result_table import Row, Target

SECTION = "Imports in a fresh process"
PROGRAM = "import time\n{before}\nstart = time.process_time()\n{statement}\nprint(time.process_time() - start)"

# (what is measured, what was imported before, the most that it may add in milliseconds)
Case = tuple[str, str, float | None]
CASES: tuple[Case, ...] = (
    ("import ctxopt_core", "", 30),
    ("import langchain_ctxopt", "import langchain_core.runnables", 50),
    ("from langchain_ctxopt import ContextOptimizer", "import langchain_core.runnables", None),
)
LLAMAINDEX_CASES: tuple[Case, ...] = (
    ("import llamaindex_ctxopt", "import llama_index.core", 50),
    ("from llamaindex_ctxopt import EngineOptimizer", "import llama_index.core", None),
)


def import_rows(processes: int, cases: Sequence[Case] = CASES) -> list[Row]:
    """Return the median CPU time that each import adds, over `processes` fresh processes."""
    times: dict[str, list[float]] = {statement: [] for statement, _, _ in cases}
    for _ in range(processes):
        for statement, before, _ in cases:
            times[statement].append(_seconds(statement, before))
    return [
        Row(
            section=SECTION,
            case=f"after {before}" if before else "alone",
            candidate=statement,
            milliseconds=median(times[statement]) * 1000,
            targets=() if most is None else (Target(of="ms", relation="<=", figure=most),),
        )
        for statement, before, most in cases
    ]


def _seconds(statement: str, before: str) -> float:
    program = PROGRAM.format(before=before, statement=statement)
    # -P keeps the current folder off the path, where a checkout could hide what is installed.
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)
