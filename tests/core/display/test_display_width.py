"""Columns stand below one another in a terminal, whatever script is in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.display.text import aligned, display_width, padded
from hostile_text import hostile_text


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("lamp", 4, id="Latin"),
        pytest.param("\u706f\u53f0", 4, id="Chinese"),
        pytest.param("\uff76\uff77", 2, id="half-width kana"),
        pytest.param("\uff21", 2, id="a full-width letter"),
        pytest.param("\ub4f1\ub300", 4, id="Hangul syllables"),
        pytest.param("\u1103\u1173\u11bc", 2, id="Hangul in letters that join"),
        pytest.param("cafe\u0301", 4, id="a combining accent"),
        pytest.param("\u05e9\u05b8", 1, id="a Hebrew vowel"),
        pytest.param("\U0001f526", 2, id="an emoji"),
        pytest.param("\U0001f44d\U0001f3fd", 2, id="an emoji with a skin tone"),
        pytest.param("\U0001f469\u200d\U0001f4bb", 2, id="joined emoji"),
        pytest.param("\u2764\ufe0f", 2, id="a character shown as an emoji"),
        pytest.param("\U0001f526\ufe0f", 2, id="an emoji shown as one"),
        pytest.param("\ufe0f", 0, id="a selector alone"),
        pytest.param("\u00e9\u2026", 2, id="narrow characters"),
    ],
)
def test_a_text_takes_the_columns_that_a_terminal_gives_it(text, columns):
    assert display_width(text) == columns


@pytest.mark.parametrize(
    ("right", "line"), [pytest.param(False, "\u706f  |", id="left"), pytest.param(True, "  \u706f|", id="right")]
)
def test_blanks_fill_a_column(right, line):
    assert padded("\u706f", 4, right=right) + "|" == line


def test_a_text_that_is_too_long_is_not_cut():
    assert padded("lamps", 3) == "lamps"


def test_columns_of_mixed_scripts_stand_below_one_another():
    rows = [("name", "tokens"), ("\u706f\u53f0", "1"), ("cafe\u0301", "22"), ("\U0001f469\u200d\U0001f4bb", "333")]
    assert aligned(rows, (False, True)) == [
        "name  tokens",
        "\u706f\u53f0       1",
        "cafe\u0301      22",
        "\U0001f469\u200d\U0001f4bb       333",
    ]


@given(st.lists(st.tuples(hostile_text(), hostile_text()), min_size=1, max_size=5))
def test_all_lines_take_the_same_columns(rows):
    lines = aligned(rows, (False, True))
    padding = [line.count(" ") - sum(cell.count(" ") for cell in row) for line, row in zip(lines, rows, strict=True)]
    taken = [sum(map(display_width, row)) + blanks for row, blanks in zip(rows, padding, strict=True)]
    assert len(set(taken)) == 1
