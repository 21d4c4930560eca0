"""The tables of a file of requests that the command line fits: wall time with several processes, and memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

from result_table import Row, Target

FASTEST_SHARE, FLAT = 0.7, 1.1
_TOKENIZED = "tokenizing its texts, one process"
_RUN = """
import resource, sys
from ctxopt_core.command_line.program import commands
commands(sys.argv[1:], standalone_mode=False)
"""
_MEASURED = """
kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
print(max(resource.getrusage(kind).ru_maxrss for kind in kinds))
"""
_TOKENIZING_RUN = """
import json, sys
from ctxopt_core.counting.encodings import load_encoding
encode = load_encoding("o200k_base").encode_ordinary
for line in open(sys.argv[1], "rb"):
    for message in json.loads(line)["messages"]:
        encode(message["content"])
"""


def jobs_rows(path: Path, tokens: int) -> list[Row]:
    """Measure the wall time of fitting a file with one process and with two, from start to end."""
    times = {_TOKENIZED: _seconds(_TOKENIZING_RUN, [str(path)])}
    for strategy in ("turns", "auto"):
        for jobs in (1, 2):
            options = _options(path, tokens, "--strategy", strategy, "--jobs", str(jobs))
            times[f"ours, cut to three quarters by {strategy}, {jobs} jobs"] = _seconds(_RUN, options)
    return [
        Row(
            section="Wall time of whole runs; `x NAME` is the throughput over that of NAME",
            case=path.stem,
            candidate=name,
            milliseconds=seconds * 1_000,
            ratios={} if name == _TOKENIZED else {_TOKENIZED: times[_TOKENIZED] / seconds},
            targets=(Target(of=_TOKENIZED, relation=">=", figure=FASTEST_SHARE),) if name.endswith("2 jobs") else (),
        )
        for name, seconds in times.items()
    ]


def memory_rows(files: Mapping[int, Path], tokens: int) -> list[Row]:
    """Measure the largest memory of a process of the command line on each file."""
    few, many = min(files), max(files)
    of_few = f"the peak at {few:,}"
    rows: list[Row] = []
    for jobs in (1, 2):
        peaks = {count: _peak(path, tokens, jobs) for count, path in files.items()}
        rows += [
            Row(
                section=f"Largest process of `fit` over requests of about {tokens:,} tokens",
                case=f"{count:,} requests",
                candidate=f"ours, cut to three quarters by relevance, {jobs} jobs",
                milliseconds=milliseconds,
                figures={"peak MiB": peak, of_few: peak / peaks[few][0]},
                targets=(Target(of=of_few, relation="<=", figure=FLAT),) if count == many else (),
            )
            for count, (peak, milliseconds) in peaks.items()
        ]
    return rows


def _options(path: Path, tokens: int, *further: str) -> list[str]:
    limit = str(round(tokens * 0.75))
    return ["fit", str(path), "--target-tokens", limit, "--out", str(path.with_suffix(".out")), "--quiet", *further]


def _seconds(program: str, arguments: Sequence[str]) -> float:
    start = perf_counter()
    _done(program, arguments)
    return perf_counter() - start


def _peak(path: Path, tokens: int, jobs: int) -> tuple[float, float]:
    """Return the largest memory of a process in MiB, and the milliseconds that the run took."""
    start = perf_counter()
    kibibytes = float(_done(_RUN + _MEASURED, _options(path, tokens, "--jobs", str(jobs))))
    return kibibytes / 1024, (perf_counter() - start) * 1_000


def _done(program: str, arguments: Sequence[str]) -> str:
    run = [sys.executable, "-c", program, *arguments]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout
