"""The program that counts what providers would refuse runs: a short trial prints every row, and none of ours is bad."""

from __future__ import annotations

import sys

import count_rejections
import pytest
from outcomes import STRATEGIES


def test_l24_a_short_trial_counts_no_broken_rule_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["count_rejections.py", "--requests", "48", "--seed", "trial", "--providers", "openai_chat,mistral"]
    monkeypatch.setattr(sys, "argv", arguments)
    count_rejections.main()
    head, *lines = capsys.readouterr().out.splitlines()
    rows = {
        line[:32].strip(): [int(cell.replace(",", "")) for cell in line[32:].split()]
        for line in lines
        if ":" not in line
    }
    clients = {
        f"{framework} {name}" for framework in ("LangChain", "LlamaIndex") for name in ("openai_chat", "mistral")
    }
    assert set(rows) == {"ours", *clients, *(f"strategy {name}" for name in STRATEGIES), *count_rejections.PEERS}
    names = ["requests", "cut", *count_rejections.COLUMNS]
    assert [name for name in names if name not in head] == []
    ours = dict(zip(names, rows["ours"], strict=True))
    assert (ours["requests"], ours["cut"] > 0) == (64, True)
    assert [ours[name] for name in ("rule", "too long", "question lost", "failed")] == [0, 0, 0, 0]
