"""The benchmarks run: a short trial of each prints every row, with the targets of the long one."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent
OURS = [f"ours, {call}, {state}" for call in ("fit", "turns", "invoke") for state in ("cold", "warm")]
SEEN = "ours, fit, seen"
PROGRAMS = ("history", "documents", "chat_engines", "batch", "counting")
PEERS = {"trim_messages", "early-exit scan"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    printed: str
    rows: list[dict[str, Any]]


def trial_of(program: str, folder: Path) -> Trial:
    command = [sys.executable, str(FOLDER / program), "--quick", "--json", "rows.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return Trial(printed=done.stdout, rows=json.loads((folder / "rows.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    folder = tmp_path_factory.mktemp("elsewhere")
    return {name: trial_of(f"{name}.py", folder) for name in PROGRAMS}


@pytest.fixture
def rows(trials: dict[str, Trial]) -> list[dict[str, Any]]:
    return trials["history"].rows


@pytest.fixture(params=PROGRAMS)
def trial(trials: dict[str, Trial], request: pytest.FixtureRequest) -> Trial:
    return trials[request.param]


@pytest.mark.parametrize(
    ("section", "cases", "candidates"),
    [
        pytest.param(
            "fitted to 30 %", {"60 messages", "1,000 messages"}, {*OURS, SEEN, *PEERS, "count once"}, id="share"
        ),
        pytest.param(
            "any length, fitted to 8,000 tokens", {"500 messages", "1,000 messages"}, {*OURS, SEEN, *PEERS}, id="window"
        ),
        pytest.param("short messages", {"600 messages"}, {*OURS, SEEN, "trim_messages", "count once"}, id="short"),
        pytest.param(
            "one fit a turn",
            {"20 turns"},
            {*PEERS, "approximate trim_messages", "count once", "ours, fit", "ours, turns", "ours, invoke"},
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
    searching = {"cold": [("trim_messages", 6), ("count once", 1)], "warm": [("trim_messages", 30)]}
    recent = {"cold": [("trim_messages", 10), ("count once", 2.5)], "warm": [("trim_messages", 100)]}
    assert found == {name: (recent if "turns" in name else searching)[name.rpartition(" ")[2]] for name in OURS}


def test_a_cold_fit_is_never_to_be_slower_than_counting_all(rows: list[dict[str, Any]]) -> None:
    cold = [row for row in rows if "30 %" in row["section"] and row["candidate"] == "ours, fit, cold"]
    assert [("count once", 1) in [(t["of"], t["figure"]) for t in row["targets"]] for row in cold] == [True, True]


def test_z6_a_search_of_everything_has_its_targets_and_the_index_its_size(rows: list[dict[str, Any]]) -> None:
    ours = {row["candidate"]: row for row in rows if "short messages" in row["section"] and "fit," in row["candidate"]}
    figures = {name: [(target["of"], target["figure"]) for target in row["targets"]] for name, row in ours.items()}
    assert figures == {
        "ours, fit, cold": [("trim_messages", 7.2)],
        "ours, fit, warm": [("trim_messages", 36)],
        SEEN: [("trim_messages", 36)],
    }
    assert 0 < ours[SEEN]["figures"]["MiB of the index"] <= 64


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


def test_the_tables_hold_a_line_for_every_row(trial: Trial) -> None:
    lines = [[cell.strip() for cell in line.split("  ")] for line in trial.printed.splitlines()]
    missing = [row for row in trial.rows if not any({row["case"], row["candidate"]} <= set(cells) for cells in lines)]
    assert missing == []


def test_the_tables_tell_how_many_targets_were_reached(trial: Trial) -> None:
    outcomes = [target["reached"] for row in trial.rows for target in row["targets"]]
    assert f"{sum(outcomes)} of {len(outcomes)} targets reached in this run" in trial.printed
    assert (trial.printed.count(": reached"), trial.printed.count(": MISSED")) == (
        sum(outcomes),
        len(outcomes) - sum(outcomes),
    )


def test_every_selection_is_measured_cold_and_warm(trials: dict[str, Trial]) -> None:
    found = {row["candidate"] for row in trials["documents"].rows if "packed" in row["section"]}
    states = ("scores, cold", "no scores, cold", "scores, warm")
    selections = ("auto", "score", "passages", "density", "optimal")
    ours = {f"ours, {selection}, {state}" for selection in selections for state in states}
    assert found - {"llmslim", "trimwise"} == {"tokenize once", *ours}


def test_choices_by_value_have_their_targets(trials: dict[str, Trial]) -> None:
    targets = {
        (row["candidate"], target["of"], target["figure"])
        for row in trials["documents"].rows
        for target in row["targets"]
    }
    assert targets == {("optimal", "ms", 100), ("density", "the optimum", 0.995)}


def test_ours_is_measured_beside_the_stock_memories_in_every_conversation(trials: dict[str, Trial]) -> None:
    rows = [row for row in trials["chat_engines"].rows if "turns of" in row["section"]]
    found = {(row["section"].partition(":")[0], row["case"], row["candidate"]) for row in rows}
    cases = ("no preset history", "60 preset messages of 100 tokens")
    candidates = ("Memory", "ChatMemoryBuffer", "ours", "ours, attached")
    assert found == {
        (engine, case, candidate)
        for engine in ("context", "condense_plus_context")
        for case in cases
        for candidate in candidates
    }


def test_ours_is_to_make_one_call_a_turn_and_none_over_the_window(trials: dict[str, Trial]) -> None:
    rows = [row for row in trials["chat_engines"].rows if row["section"].startswith("context:")]
    targets = {row["candidate"]: [(made["of"], made["figure"]) for made in row["targets"]] for row in rows}
    wanted = [("most calls", 1), ("turns failed", 0), ("calls over the window", 0)]
    assert (targets["ours"][:3], targets["ours, attached"][:3], targets["Memory"]) == (wanted, wanted, [])
    assert all(target["reached"] for row in rows for target in row["targets"][:3])


def test_a_memory_is_measured_cold_and_after_one_more_message(trials: dict[str, Trial]) -> None:
    rows = [row for row in trials["chat_engines"].rows if "One `get`" in row["section"]]
    ours = {"ours, cold", "ours, after one more `put`"}
    assert {(row["case"], row["candidate"]) for row in rows} == {
        (case, candidate)
        for case in ("60 messages", "120 messages")
        for candidate in {"Memory.get", "ChatMemoryBuffer.get", *ours}
    }
    read = {row["candidate"]: list(row["figures"].values())[1] for row in rows}
    assert (read["Memory.get"], read["ours, cold"] <= 1) == (1, True)
    assert all(len(row["targets"]) == (row["candidate"] in ours) for row in rows)


def test_the_import_of_the_llamaindex_adapter_has_its_target(trials: dict[str, Trial]) -> None:
    rows = [row for row in trials["chat_engines"].rows if row["section"].startswith("Imports")]
    figures = {row["candidate"]: [target["figure"] for target in row["targets"]] for row in rows}
    assert figures == {"import llamaindex_ctxopt": [50], "from llamaindex_ctxopt import EngineOptimizer": []}


def test_the_first_count_has_its_target_and_every_counter_is_measured_on_every_kind(trials: dict[str, Trial]) -> None:
    rows = [row for row in trials["counting"].rows if not row["candidate"].endswith("toktok-rs")]
    first = {(row["case"], row["candidate"]): row["targets"] for row in rows if row["section"].startswith("Import")}
    counted = {row["candidate"] for row in rows if row["section"].startswith("Counting")}
    assert {key: [target["figure"] for target in targets] for key, targets in first.items()} == {
        (name, candidate): [1.15] if candidate == "ours" else []
        for name in ("cl100k_base", "o200k_base")
        for candidate in ("tiktoken", "ours")
    }
    assert counted - {"toktok-rs, as the extra uses it"} == {"tiktoken", "estimate"}


def test_a_file_of_requests_is_to_be_fitted_nearly_as_fast_as_it_is_tokenized(trials: dict[str, Trial]) -> None:
    for section in {row["section"] for row in trials["batch"].rows if row["section"].startswith("Fitting")}:
        rows = [row for row in trials["batch"].rows if row["section"] == section]
        targets = {row["candidate"]: [(made["of"], made["figure"]) for made in row["targets"]] for row in rows}
        assert set(targets.pop("tokenizing its texts") + targets.pop("tokenizing its bytes")) == set()
        assert list(targets.values()) == [[("tokenizing its texts", 0.7)]] * 4
        assert [row["figures"]["cut"] for row in rows if "cut" in row["figures"]] == [0, 0, 1, 1]


def test_whole_runs_of_two_processes_have_the_same_target(trials: dict[str, Trial]) -> None:
    rows = [row for row in trials["batch"].rows if row["section"].startswith("Wall")]
    figures = {row["candidate"]: [made["figure"] for made in row["targets"]] for row in rows}
    runs = {
        f"ours, cut to three quarters by {name}, {jobs} jobs": jobs for name in ("turns", "auto") for jobs in (1, 2)
    }
    assert figures == {"tokenizing its texts, one process": []} | {
        name: [0.7] if jobs == 2 else [] for name, jobs in runs.items()
    }


def test_memory_is_to_stay_as_it_is_however_many_lines_there_are(trials: dict[str, Trial]) -> None:
    rows = [row for row in trials["batch"].rows if row["section"].startswith("Largest")]
    assert [[made["figure"] for made in row["targets"]] for row in rows] == [[], [1.1]] * 2
