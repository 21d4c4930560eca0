"""The pages for someone who looks around: the search finds what people type, and each claim has its proof."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from page_links import anchors_of
from pasted_blocks import blocks_of

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
COMPARISON = DOCS / "comparison.md"
ROW = re.compile(r"^\| (?P<feature>[^|]+) \| (?P<ours>[^|]+) \|", re.MULTILINE)
CLAIM = re.compile(r"\[[^\]]+\]\(#(?P<anchor>[\w-]+)\)")
ISSUE = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+)/(?:issues|pull)/\d+")
RECIPES = ["rag", "langgraph", "deepagents", "history", "store", "fastapi", "ollama", "vllm", "tracing"]


def _script():
    spec = importlib.util.spec_from_file_location("check_search", ROOT / "scripts" / "check_search.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SEARCH = _script()
WORDS = list(SEARCH.TYPED)


@pytest.mark.parametrize("word", WORDS)
def test_u14_a_word_that_people_type_is_on_its_page(word):
    page = DOCS / Path(SEARCH.TYPED[word]).with_suffix(".md")

    assert word.lower() in page.read_text("utf-8").lower()


def test_u14_the_check_of_the_search_names_what_is_not_found():
    everything = [{"location": f"{page}#here", "title": word, "text": ""} for word, page in SEARCH.TYPED.items()]
    elsewhere = [*everything[1:], {"location": "why.html", "title": "", "text": f"<p>{WORDS[0]}</p>"}]

    assert SEARCH.missing(everything) == []
    assert SEARCH.missing(elsewhere) == [f"{WORDS[0]!r} does not find {SEARCH.TYPED[WORDS[0]]}"]


def test_u14_make_docs_checks_the_search():
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\ndocs:")[2].partition("\n\n")[0]

    assert "scripts/check_search.py build/site/search.json" in recipe


def _rows() -> list[tuple[str, str]]:
    table = COMPARISON.read_text("utf-8").partition("\n\n## ")[0]
    return [(found["feature"], found["ours"]) for found in ROW.finditer(table)][2:]


@pytest.mark.parametrize(("feature", "ours"), _rows())
def test_u14_a_cell_of_ours_has_a_proof_that_runs_or_says_what_is_missing(feature, ours):
    claim = CLAIM.search(ours)
    if claim is None:
        assert "**" not in ours, "what is best of all needs a proof"
        return

    assert claim["anchor"] in anchors_of(COMPARISON)
    assert claim["anchor"] in _headings_with_blocks()


def _headings_with_blocks() -> set[str]:
    lines = COMPARISON.read_text("utf-8").splitlines()
    blocks = {block.line for block in blocks_of(COMPARISON)}
    headings = [n for n, line in enumerate(lines, 1) if line.startswith("### ")]
    return {
        lines[n - 1].removeprefix("### ").lower().replace(" ", "-")
        for n, after in zip(headings, [*headings[1:], len(lines)], strict=True)
        if any(n < line < after for line in blocks)
    }


def test_u14_the_comparison_says_where_others_are_better():
    others = [row for row in COMPARISON.read_text("utf-8").splitlines() if row.startswith("| ") and "**" in row]
    ours = [row for row in others if "**" in row.split("|")[2]]

    assert len(others) - len(ours) >= 3


def test_u14_each_question_names_a_public_issue_or_is_ours():
    sections = (DOCS / "faq.md").read_text("utf-8").split("\n## ")[1:]
    with_issue = [section for section in sections if ISSUE.search(section)]

    assert len(with_issue) >= 10
    assert all(section.startswith("Does it ") for section in sections if section not in with_issue)
    assert all(re.search(r"\]\((?!https)", section) for section in with_issue), "each answer leads to a page of ours"


def test_u14_there_is_a_recipe_for_each_place():
    headings = " ".join(re.findall(r"^## (.+)$", (DOCS / "recipes.md").read_text("utf-8"), re.MULTILINE)).lower()

    assert [word for word in RECIPES if word not in headings] == []


def test_u14_the_api_by_task_begins_with_fit():
    text = (DOCS / "api" / "index.md").read_text("utf-8")

    assert re.search(r"\[`(\w+)`\]", text)[1] == "fit"
    assert re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)[1].startswith("fit one request")
