"""Every Python block of the README and the pages runs alone, as pasted, with what its page says to install."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pasted_blocks import PastedBlock, blocks_of, not_installed, run_alone

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def _name(block: PastedBlock) -> str:
    return f"{block.page.relative_to(ROOT)}:{block.line}"


def made_up(code: str, *requirements: str) -> PastedBlock:
    return PastedBlock(page=Path("made_up.md"), line=7, code=code, requirements=requirements)


@pytest.mark.parametrize("block", BLOCKS, ids=_name)
def test_u2_a_python_block_runs_alone_with_what_its_page_installs(block, tmp_path):
    assert block.requirements, "the page does not say above this block what to install"

    if (lacking := not_installed(block.requirements)) and not os.environ.get("CI"):
        pytest.skip(f"{', '.join(lacking)} is in the group `dev` and not installed here")
    done = run_alone(block, tmp_path)

    assert done.returncode == 0, done.stderr


def test_u2_the_readme_and_the_guides_have_blocks():
    pages = {block.page.parent.name for block in BLOCKS}

    assert len(blocks_of(ROOT / "README.md")) >= 3
    assert {"guides", "symptoms"} <= pages


@pytest.mark.parametrize(
    ("code", "requirements", "error"),
    [
        ("print(prompt)", ("ctxopt-core",), "NameError"),
        ("import langchain_core", ("ctxopt-core",), "No module named 'langchain_core'"),
        ("import langchain_ctxopt", ("ctxopt-core[llamaindex]",), "ctxopt-core[langchain]"),
        ("import deepagents", ("ctxopt-core[agents]",), "No module named 'deepagents'"),
        ("import pytest", ("ctxopt-core[all]",), "No module named 'pytest'"),
        ("import socket; socket.create_connection(('127.0.0.1', 9))", ("ctxopt-core",), "opened a connection"),
    ],
    ids=["a name of another block", "no extra", "another extra", "not in an extra", "of the tests", "a connection"],
)
def test_u2_a_block_that_needs_more_fails(code, requirements, error, tmp_path):
    done = run_alone(made_up(code, *requirements), tmp_path)

    assert done.returncode
    assert error in done.stderr
    assert 'made_up.py", line 7' in done.stderr


@pytest.mark.parametrize(
    ("code", "requirements"),
    [
        ("import ctxopt_core, tiktoken, regex", ("ctxopt-core",)),
        ("import langchain_ctxopt.agents, langgraph.graph", ("ctxopt-core[agents]",)),
        ("import llamaindex_ctxopt, llama_index.core", ("ctxopt-core[llamaindex]",)),
        ("import langchain_ctxopt, deepagents", ("ctxopt-core[agents]", "deepagents")),
        ("import genai_prices, click, matplotlib", ("ctxopt-core[all]",)),
    ],
    ids=["no extra", "agents", "llamaindex", "another package", "all"],
)
def test_u2_a_block_has_what_is_installed_and_what_that_requires(code, requirements, tmp_path):
    done = run_alone(made_up(code, *requirements), tmp_path)

    assert done.returncode == 0, done.stderr


def test_u2_the_nearest_install_above_a_block_is_what_it_needs(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "`pip install 'ctxopt-core[agents]'`\n\n```python\na\n```\n\n"
        "```sh\npip install 'ctxopt-core[llamaindex]' rich  # or [all]\n```\n\n```python\nb\n```\n"
    )

    assert [(block.line, block.requirements) for block in blocks_of(page)] == [
        (4, ("ctxopt-core[agents]",)),
        (12, ("ctxopt-core[llamaindex]", "rich")),
    ]
