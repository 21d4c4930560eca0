"""The README does what it says: its integrations fit what would be too long, its links and badges are true.

That each block runs alone, as pasted, is tested in `test_pasted_blocks.py`.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ctxopt_core import counter_for
from page_blocks import PYTHON_BLOCK, run_block
from page_links import anchors_of, links_of

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TEXT = README.read_text("utf-8")
LINES_OF_ONE_SCREEN = 45
TOKENS = counter_for("gpt-4o")
CHAIN, RETRIEVER, AGENT, ENGINE = range(4)


def test_u2_every_link_of_the_readme_leads_somewhere():
    for path, anchor in links_of(README):
        assert (ROOT / path).exists(), path
        assert not anchor or anchor in anchors_of(ROOT / path), f"{path} has no heading #{anchor}"


def test_u2_the_first_block_is_in_the_first_screen():
    block = PYTHON_BLOCK.search(TEXT)

    assert block is not None
    assert TEXT.count("\n", 0, block.end()) < LINES_OF_ONE_SCREEN


def test_u2_the_chain_sends_what_fits(capsys):
    names = run_block(README, CHAIN)

    printed = capsys.readouterr().out
    report = names["optimizer"].plan(
        {"context": names["documents"], "history": names["history"], "question": "Which one burns longest?"}
    )
    assert "Lantern 19." in printed
    assert "input budget" in printed
    assert report.tokens_before > 2_000 >= report.tokens_after > 0


def test_u2_the_retriever_gives_at_most_500_tokens():
    names = run_block(README, RETRIEVER)

    kept = names["chain"].invoke("How many hours does lantern 7 burn?")
    assert sum(TOKENS.count(page.page_content) for page in names["pages"]) > 500
    assert 0 < sum(TOKENS.count(page.page_content) for page in kept) <= 500
    assert any("Lantern 7 " in page.page_content for page in kept)


def test_u2_the_agent_sends_what_fits_and_stores_everything(capsys):
    names = run_block(README, AGENT)

    assert "input budget" in capsys.readouterr().out
    assert len(names["agent"].get_state(names["thread"]).values["messages"]) == 4


# LlamaIndex's engines look at attributes of their own that pydantic and its workflows warn of.
@pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect")
def test_u2_the_engine_answers_in_one_call_within_the_window():
    names = run_block(README, ENGINE)

    report = names["optimizer"].last_report
    assert report.tokens_before > report.input_budget >= report.tokens_after


def test_u2_the_readme_names_the_two_commands_and_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    makefile = (ROOT / "Makefile").read_text("utf-8")

    for word in ("demo", "test"):
        assert f"make {word} " in TEXT
        assert f"\n{word}: " in makefile
    for extra in project["optional-dependencies"]:
        assert f"[{extra}]" in TEXT or f"`{extra}`" in TEXT, extra


def test_u2_badges_are_true():
    settings = _settings()
    badges = re.findall(r"img\.shields\.io/badge/([^)]+)\)", TEXT)

    assert badges == [
        f"python-{settings['project']['requires-python'].removeprefix('>=')}_or_newer-blue",
        f"license-{settings['project']['license']}-blue",
        "types-mypy_--strict-blue",
    ]
    assert settings["tool"]["mypy"]["strict"] is True


def _settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
