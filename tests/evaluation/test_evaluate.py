"""The evaluation runs on a set of its own in the schema of the real ones, and skips where there is no data."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "evaluate.py"
LOADER = """
import gzip, json, os
HERE = os.path.dirname(os.path.abspath(__file__))
def items(name):
    path = os.path.join(HERE, name + ".jsonl.gz")
    if os.path.exists(path):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)
def doc_survival(item, kept, context=0):
    gold = [d for d in item["documents"] if d["gold"]]
    found = [d["text"] in kept.get(d["id"], "") for d in gold]
    return sum(found) / len(found), float(all(found))
def message_survival(item, kept):
    return float(set(item["evidence"]) <= set(kept)), 0.0
"""


def run(folder):
    environment = {**os.environ, "CTXOPT_EVAL_DATA": str(folder)}
    return subprocess.run(
        [sys.executable, str(PROGRAM), "--every", "1"], env=environment, capture_output=True, text=True, check=False
    )


def write(folder, name, item):
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.write(json.dumps(item) + "\n")


def test_it_says_why_it_skips(tmp_path):
    done = run(tmp_path / "nothing")

    assert done.returncode == 1
    assert "CTXOPT_EVAL_DATA" in done.stderr


def test_it_measures_budget_use_evidence_and_violations(tmp_path):
    (tmp_path / "evaldata.py").write_text(LOADER, encoding="utf-8")
    documents = [
        {"id": f"d{i}", "text": f"Lantern {i} burns {i} hours. " * 30, "score": 9 - i, "gold": i == 0} for i in range(9)
    ]
    write(tmp_path, "docs_hotpotqa", {"question": "Which lantern burns?", "documents": documents})
    messages = [
        {"id": i, "role": "user" if i % 2 == 0 else "assistant", "content": f"word {i} " * 60} for i in range(60)
    ]
    write(tmp_path, "conv_locomo", {"question": "What was the last word?", "messages": messages, "evidence": [59]})

    done = run(tmp_path)

    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("docs_", "conv_"))]
    assert [row[1] for row in rows] == ["10%", "20%", "35%", "50%", "1,000", "2,000", "4,000", "8,000"]
    assert all(row[5] == "0" for row in rows)
    assert [row[4] for row in rows[2:]] == ["1.000"] * 6
    assert "over budget 0" in done.stdout
