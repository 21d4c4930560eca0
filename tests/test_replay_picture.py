"""The picture of the guide to the price of a conversation is what the code draws now, and its text says it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from ctxopt_core import Replay

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "draw_replay.py"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
IDENTIFIER = re.compile(r"\b[hmp][0-9a-f]{10}\b")
"""Of a marker, a pattern or a clipping: a hash of all its positions."""
REMEDY = "run scripts/draw_replay.py, and look at docs/images"


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_replay", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def found(drawing: ModuleType) -> Replay:
    return drawing.drawn_replay()


@pytest.mark.parametrize("name", ["replay-light.svg", "replay-dark.svg"])
def test_what_is_stored_is_what_is_drawn_now(drawing: ModuleType, found: Replay, name: str) -> None:
    stored = IDENTIFIER.sub("id", (ROOT / "docs" / "images" / name).read_text("utf-8"))
    drawn = IDENTIFIER.sub("id", drawing.drawing(found, name))

    assert NUMBER.sub("#", drawn) == NUMBER.sub("#", stored), REMEDY
    # Positions may differ in the last digits from one processor to another.
    assert _numbers(drawn) == pytest.approx(_numbers(stored), abs=0.01), REMEDY


def test_the_text_of_the_picture_says_what_it_shows(drawing: ModuleType, found: Replay) -> None:
    assert drawing.in_words(found) in (ROOT / "docs" / "guides" / "replay.md").read_text("utf-8"), REMEDY


def test_u10_the_picture_shows_what_the_page_says(found: Replay) -> None:
    totals = {total.strategy: total for total in found.totals}

    assert totals["sliding window"].cached_share < 0.3 < totals["stable prefix"].cached_share
    assert totals["stable prefix with recall"].evidence > totals["stable prefix"].evidence
    assert found.recommended.strategy == "stable prefix with recall"


def _numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]
