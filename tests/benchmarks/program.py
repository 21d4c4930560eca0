"""A benchmark as a program: prints its tables as they are measured."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path

from result_table import Row, as_table, summary


def run(description: str | None, tables: Callable[[bool], Iterable[list[Row]]], note: str) -> None:
    """Read the command line, measure, and print.

    Args:
        description: What `--help` says.
        tables: Measures; told whether to be quick, gives the rows of each table as soon as there are some.
        note: How to read the figures.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few and short, each candidate once: a trial, no result")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE as well")
    chosen = parser.parse_args()
    rows: list[Row] = []
    for table in tables(chosen.quick):
        rows += table
        print(as_table(table), end="\n\n", flush=True)
    print(note)
    print(summary(rows))
    if chosen.json:
        chosen.json.write_text(json.dumps([row.to_dict() for row in rows], indent=1), encoding="utf-8")
