"""The picture of the README is what the code draws now, and its text says what it shows."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from ctxopt_core import FitReport

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "draw_report.py"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
IDENTIFIER = re.compile(r"\b[hmp][0-9a-f]{10}\b")
"""Of a marker, a pattern or a clipping: a hash of all its positions."""
REMEDY = "run scripts/draw_report.py, and look at docs/images"


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_report", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "examples"))
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def report(drawing: ModuleType) -> FitReport:
    return drawing.drawn_report()


@pytest.mark.parametrize("name", ["report-light.svg", "report-dark.svg"])
def test_what_is_stored_is_what_is_drawn_now(drawing: ModuleType, report: FitReport, name: str) -> None:
    stored = IDENTIFIER.sub("id", (ROOT / "docs" / "images" / name).read_text("utf-8"))
    drawn = IDENTIFIER.sub("id", drawing.drawing(report, name))

    assert NUMBER.sub("#", drawn) == NUMBER.sub("#", stored), REMEDY
    # Positions may differ in the last digits from one processor to another.
    assert _numbers(drawn) == pytest.approx(_numbers(stored), abs=0.01), REMEDY


def test_a_drawing_is_the_same_each_time(drawing: ModuleType, report: FitReport) -> None:
    assert drawing.drawing(report, "report-dark.svg") == drawing.drawing(report, "report-dark.svg")


def test_the_drawn_request_has_all_components_and_is_cut(report: FitReport) -> None:
    assert all(component.before > 0 for component in report.components.values())
    assert report.tokens_before > report.input_budget >= report.tokens_after
    assert report.within_budget


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_text_of_the_picture_says_what_it_shows(drawing: ModuleType, report: FitReport, page: str) -> None:
    assert drawing.in_words(report) in (ROOT / page).read_text("utf-8"), REMEDY


def _numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]
