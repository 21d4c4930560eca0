"""Foreign text made fit to be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.text.display_text import preview
from hostile_text import hostile_text, huge_samples


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("short", "short", id="short"),
        pytest.param("1234567890", "1234567890", id="just-fits"),
        pytest.param("12345678901", "123456789…", id="one-too-long"),
        pytest.param(" a \n\t b ", "a b", id="white-space"),
        pytest.param("a\u202eb", r"a\u202eb", id="turns-the-line"),
        pytest.param("a\x00b", r"a\u0000b", id="control"),
        pytest.param("a\u200bb", r"a\u200bb", id="no-width"),
        pytest.param("a\U000e0041b", r"a\U000e0041b", id="tag"),
        pytest.param("a\ud83d\ude00b", "a\U0001f600b", id="pair"),
        pytest.param("a\ud800b", "a\ufffdb", id="lone-surrogate"),
        pytest.param("\U0001f469\u200d\U0001f680", "\U0001f469\u200d\U0001f680", id="joined-emoji"),
        pytest.param("می\u200cخواهم", "می\u200cخواهم", id="persian"),
        pytest.param(" " * 500, "…", id="blanks-and-who-knows-what"),
    ],
)
def test_the_beginning_is_one_line_of_visible_characters(text, expected):
    assert preview(text, 10) == expected


@given(text=hostile_text(), limit=st.integers(2, 50))
def test_it_is_short_and_can_be_encoded(text, limit):
    shown = preview(text, limit)

    assert len(shown) <= limit * len(r"\U000e0000")
    assert "\n" not in shown
    shown.encode()


@pytest.mark.parametrize("name", huge_samples())
def test_a_million_characters_are_not_read(name):
    assert len(preview(huge_samples()[name], 20)) <= 20 * 6
