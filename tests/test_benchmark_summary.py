"""The summary of the benchmarks, in the README and on its page, is what the tables of the details say now."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "summarize_benchmarks.py"
DETAILS = ROOT / "docs" / "benchmarks" / "details.md"
SUMMARY = ROOT / "docs" / "benchmarks" / "index.md"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
IDENTIFIER = re.compile(r"\b[hmp][0-9a-f]{10}\b")
"""Of a marker, a pattern or a clipping: a hash of all its positions."""
REMEDY = "run scripts/summarize_benchmarks.py, and look at docs/images"
LINES_OF_ONE_SCREEN = 45
MADE_UP = """
### Means over the budgets: scores as delivered

| candidate | mean | over |
| --- | --- | --- |
| ours | 0.700 | 0 |
| careful | 0.600 | 0 |
| careless | 0.900 | 12 |
| oracle | 1.000 | 0 |
"""


@pytest.fixture(scope="module")
def summarize() -> ModuleType:
    spec = importlib.util.spec_from_file_location("summarize_benchmarks", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "summarize_benchmarks", module)  # its dataclass looks itself up
        spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", [ROOT / "README.md", SUMMARY], ids=["README", "page"])
def test_u14_the_summary_on_a_page_is_that_of_the_details(summarize, page):
    text, details = page.read_text("utf-8"), DETAILS.read_text("utf-8")

    assert summarize.summary(details) in text, REMEDY
    assert summarize.summarized(text, details) == text, REMEDY


@pytest.mark.parametrize("name", ["benchmarks-light.svg", "benchmarks-dark.svg"])
def test_u14_the_chart_that_is_stored_is_what_is_drawn_now(summarize, name):
    stored = IDENTIFIER.sub("id", (ROOT / "docs" / "images" / name).read_text("utf-8"))
    drawn = IDENTIFIER.sub("id", summarize.drawing(DETAILS.read_text("utf-8"), name))

    assert NUMBER.sub("#", drawn) == NUMBER.sub("#", stored), REMEDY
    # Positions may differ in the last digits from one processor to another.
    assert [*map(float, NUMBER.findall(drawn))] == pytest.approx([*map(float, NUMBER.findall(stored))], abs=0.01), (
        REMEDY
    )


def test_u14_the_summary_is_one_screen_with_a_chart():
    text = SUMMARY.read_text("utf-8")

    assert len(text.splitlines()) < LINES_OF_ONE_SCREEN
    assert text.index("benchmarks-light.svg") < text.index("summary: begin")


def test_u14_the_best_other_keeps_its_budget_and_is_no_upper_bound(summarize):
    table = summarize.table_below(MADE_UP, summarize.DOCUMENTS)

    assert table.best_other("mean") == "careful"
    assert table.figure("ours", "mean") == 0.7


def test_u14_a_table_that_is_missing_is_named(summarize):
    with pytest.raises(LookupError, match=r"conv_locomo.*make evaluate"):
        summarize.table_below(MADE_UP, summarize.CHAT)


def test_u14_figures_of_ours_are_bold_only_where_nothing_is_better(summarize):
    rows = [line.split("|")[2:4] for line in summarize.summary(DETAILS.read_text("utf-8")).splitlines()[2:5]]

    for ours, other in rows:
        first, second = (float(NUMBER.search(cell)[0]) for cell in (ours, other))
        assert ("**" in ours) == (first >= second)


def _numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]
