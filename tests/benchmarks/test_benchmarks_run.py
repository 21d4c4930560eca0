"""The benchmark runs: a short trial of it prints every row, with the targets of the long one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).resolve().parent / "history.py"
OURS = [f"ours, {call}, {state}" for call in ("fit", "invoke") for state in ("cold", "warm")]
PEERS = {"trim_messages", "early-exit scan"}


def run(*options: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "--quick", *options], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return json.loads(run("--json", folder=tmp_path_factory.mktemp("elsewhere")))


@pytest.mark.parametrize(
    ("section", "cases", "candidates"),
    [
        pytest.param("fitted to 30 %", {"60 messages", "1,000 messages"}, {*OURS, *PEERS, "count once"}, id="share"),
        pytest.param("fitted to 8,000 tokens", {"500 messages", "1,000 messages"}, {*OURS, *PEERS}, id="window"),
        pytest.param(
            "one fit a turn",
            {"20 turns"},
            {*PEERS, "approximate trim_messages", "count once", "ours, fit", "ours, invoke"},
            id="chat",
        ),
    ],
)
def test_every_candidate_is_measured_in_every_case(
    rows: list[dict[str, Any]], section: str, cases: set[str], candidates: set[str]
) -> None:
    found = {(row["case"], row["candidate"]) for row in rows if section in row["section"]}
    assert found == {(case, candidate) for case in cases for candidate in candidates}


def test_imports_are_measured_against_their_targets(rows: list[dict[str, Any]]) -> None:
    found = {row["candidate"]: row["targets"] for row in rows if row["section"].startswith("Imports")}
    figures = {name: [target["figure"] for target in targets] for name, targets in found.items()}
    assert figures == {
        "import ctxopt_core": [30],
        "import langchain_ctxopt": [50],
        "from langchain_ctxopt import ContextOptimizer": [],
    }


def test_the_fits_of_1000_messages_have_their_targets(rows: list[dict[str, Any]]) -> None:
    found = {
        row["candidate"]: [(target["of"], target["figure"]) for target in row["targets"]]
        for row in rows
        if "30 %" in row["section"] and row["case"] == "1,000 messages" and row["candidate"] in OURS
    }
    cold, warm = [("trim_messages", 10), ("count once", 2.5)], [("trim_messages", 100)]
    assert found == {name: cold if name.endswith("cold") else warm for name in OURS}


def test_ratios_are_those_of_the_times(rows: list[dict[str, Any]]) -> None:
    times = {(row["section"], row["case"], row["candidate"]): row["milliseconds"] for row in rows}
    compared = 0
    for row in rows:
        for name, ratio in row["ratios"].items():
            peer = times.get((row["section"], row["case"], name))
            if peer is not None:
                assert ratio == pytest.approx(peer / row["milliseconds"])
                compared += 1
    assert compared > 30


def test_the_tables_hold_a_line_for_every_row(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    printed = run(folder=tmp_path)
    lines = [[cell.strip() for cell in line.split("  ")] for line in printed.splitlines()]
    for row in rows:
        assert any(row["case"] in cells and row["candidate"] in cells for cells in lines), row
    assert "targets reached in this run" in printed
