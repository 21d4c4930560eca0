"""The evaluation runs on a set of its own in the schema of the real ones, and skips where there is no data."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "evaluate.py"
LOADER = """
import gzip, json, os
HERE = os.path.dirname(os.path.abspath(__file__))
def lines(name):
    path = os.path.join(HERE, name + ".jsonl.gz")
    if os.path.exists(path):
        with gzip.open(path, "rt", encoding="utf-8") as found:
            yield from map(json.loads, found)
def items(name):
    for line in lines(name):
        if "questions" in line:
            for question in line["questions"]:
                yield {**question, "conversation": line["id"], "messages": line["messages"]}
        elif "checkpoints" in line:
            for point in line["checkpoints"]:
                yield {"messages": line["messages"][:point["at"]], "tools": line["tools"], "values": point["values"]}
        else:
            yield line
def doc_survival(item, kept, context=0):
    gold = [d for d in item["documents"] if d["gold"]]
    found = [d["text"] in kept.get(d["id"], "") for d in gold]
    return sum(found) / len(found), float(all(found))
def message_survival(item, kept):
    return float(set(item["evidence"]) <= set(kept)), 0.0
def answer_token_recall(answers, kept_text):
    return 0.5
def value_survival(item, kept_text):
    seen = [value["value"] in kept_text for value in item["values"]]
    return sum(seen) / len(seen), float(all(seen))
"""


def run(folder, *words):
    environment = {**os.environ, "CTXOPT_EVAL_DATA": str(folder), "CTXOPT_EVAL_CACHE": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, str(PROGRAM), *words], env=environment, capture_output=True, text=True, check=False
    )


def write(folder, name, *items):
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(item) + "\n" for item in items)


@pytest.fixture
def lanterns(tmp_path):
    """A folder with two questions on nine documents, of which the best-scored is gold."""
    (tmp_path / "evaldata.py").write_text(LOADER, encoding="utf-8")
    documents = [
        {"id": f"d{i}", "text": f"Lantern {i} burns {i} hours. " * 30, "score": 9 - i, "gold": i == 0} for i in range(9)
    ]
    item = {"question": "Which lantern burns?", "answers": ["0 hours"], "documents": documents}
    write(tmp_path, "docs_hotpotqa", {"id": "q0", **item}, {"id": "q1", **item})
    return tmp_path


def test_it_says_why_it_skips(tmp_path):
    done = run(tmp_path / "nothing")

    assert done.returncode == 1
    assert "CTXOPT_EVAL_DATA" in done.stderr


def test_it_measures_budget_use_evidence_and_violations_of_requests(lanterns):
    messages = [
        {"id": i, "role": "user" if i % 2 == 0 else "assistant", "content": f"word {i} " * 60} for i in range(60)
    ]
    write(lanterns, "conv_locomo", {"question": "What was the last word?", "messages": messages, "evidence": [59]})

    done = run(lanterns, "--part", "requests", "--every", "2")

    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("docs_", "conv_"))]
    assert [row[1] for row in rows] == ["10%", "20%", "35%", "50%", "1,000", "2,000", "4,000", "8,000"]
    assert all(row[5] == "0" for row in rows)
    assert [row[4] for row in rows[2:]] == ["1.000"] * 6
    assert "over budget 0" in done.stdout


def test_it_compares_candidates_on_documents(lanterns):
    words = ("--part", "documents", "--candidates", "ours,score_skip,oracle", "--rows", str(lanterns / "rows.jsonl"))

    done = run(lanterns, *words)

    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (lanterns / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["id"] for row in rows} == {"q1"}
    assert len(rows) == 3 * 4 * 8
    assert not any(row["over"] or row["failed"] for row in rows)
    assert {row["recall"] for row in rows if row["budget"] == "512" and row["candidate"] == "score_skip"} == {0.0, 1.0}
    assert "| score | no budget violation, no failure | yes | 0 violations, 0 failures in 8 runs |" in done.stdout


def test_what_was_run_is_remembered(lanterns):
    words = ("--part", "documents", "--candidates", "score_skip,oracle", "--jobs", "1", "--half", "all")

    first, second = run(lanterns, *words), run(lanterns, *words)

    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert "packings" in first.stderr
    assert second.stderr.count("packings") == 0


def test_an_unknown_candidate_is_named_with_those_that_there_are(lanterns):
    done = run(lanterns, "--candidates", "theirs")

    assert done.returncode == 2
    assert "unknown: theirs; there are ours, " in done.stderr


def agent_run(number):
    """A run of an agent that lights a lamp which was named long before."""
    call = {"id": "c1", "type": "function", "function": {"name": "light", "arguments": f'{{"lamp": "L{number}"}}'}}
    messages = [
        {"role": "system", "content": "You tend the lamps."},
        {"role": "user", "content": f"Lamp L{number} is the one that I mean."},
        *({"role": "assistant" if i % 2 == 0 else "user", "content": f"Word {i}. " * 40} for i in range(20)),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "light", "content": "It burns."},
    ]
    return {
        "id": f"run {number}",
        "messages": messages,
        "tools": [call["function"]],
        "checkpoints": [{"at": 22, "values": [{"value": f"L{number}"}]}],
    }


@pytest.fixture
def histories(tmp_path):
    """A folder with two chats, one question on each, and four runs of an agent."""
    (tmp_path / "evaldata.py").write_text(LOADER, encoding="utf-8")
    chats = [
        {
            "id": f"chat {number}",
            "messages": [
                {"id": i, "role": "user" if i % 2 == 0 else "assistant", "content": f"Lantern {i} burns. " * 20}
                for i in range(80)
            ],
            "questions": [{"question": "Which lantern is the last?", "evidence": [79]}],
        }
        for number in range(2)
    ]
    write(tmp_path, "conv_locomo", *chats)
    write(tmp_path, "traj_tau_airline", *map(agent_run, range(4)))
    write(tmp_path, "traj_bfcl_long", *map(agent_run, range(4)))
    return tmp_path


@pytest.mark.parametrize(
    ("part", "candidates", "expected"),
    [
        ("conversations", "ours,newest,oracle", "| newest | 1.00 1.00 1.00 | 1.00 1.00 1.00 |"),
        ("trajectories", "ours,newest_groups", "| newest_groups | 0.00 0.00 |"),
        ("replay", "ours,newest_groups,unlimited", "### tools_small, window 3,000 (22 requests)"),
    ],
)
def test_it_compares_candidates_on_histories_and_remembers_them(histories, part, candidates, expected):
    words = ("--part", part, "--candidates", candidates, "--jobs", "1")

    first, second = run(histories, *words), run(histories, *words, "--remembered")

    assert first.returncode == 0, first.stderr
    assert expected in first.stdout
    assert "| `ours`: no budget violation, no broken pair, no failure | yes |" in first.stdout
    assert first.stdout == second.stdout
    assert part in first.stderr
    assert part not in second.stderr
