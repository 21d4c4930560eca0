"""Cutting a text at safe cuts leaves its tokens as they were."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core.counting.split_points import PIECE, SAFE_CUT, cut_after, cut_before, pieces, pieces_from_end
from drawn_examples import examples
from hostile_text import HOSTILE_SAMPLES, hostile_text
from independent_recount import load_encoding
from shape_rows import SCRIPTS, SENTENCE

UNHURRIED = settings(deadline=None, max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow])
both = pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
# Characters at which the two tokenizers' patterns behave differently from one another or from Python's `\s` and `\w`.
TRICKY = st.text(
    st.sampled_from("a'sLlſ 1६７.,/;_-\t\n\r\u00a0\u0085\u001c\u2028\u3000\u0301\u200d灯한。👍<|>"), max_size=60
)
LINE = SENTENCE.strip() + "\n"
ODD_LINE = "".join(SCRIPTS.values()) + ";\n// " + SENTENCE


def ids(text, encoding):
    return load_encoding(encoding).encode(text, disallowed_special=())


def safe_cuts(text):
    return [cut.start() for cut in SAFE_CUT.finditer(text) if 0 < cut.start() < len(text)]


def check_all_cuts(text, encoding):
    borders = [0, *safe_cuts(text), len(text)]
    parts = [text[start:stop] for start, stop in pairwise(borders)]

    assert [token for part in parts for token in ids(part, encoding)] == ids(text, encoding)


@both
@UNHURRIED
@given(text=st.one_of(hostile_text(), TRICKY))
def test_splitting_at_every_safe_cut_leaves_the_tokens_as_they_were(encoding, text):
    check_all_cuts(text, encoding)


@both
@UNHURRIED
@given(before=TRICKY, after=TRICKY, position=st.floats(0, 1))
def test_one_safe_cut_is_safe_whatever_the_text_around_it(encoding, before, after, position):
    text = before + " lantern\n" + after
    cuts = safe_cuts(text)
    cut = cuts[int(position * (len(cuts) - 1))]

    assert ids(text[:cut], encoding) + ids(text[cut:], encoding) == ids(text, encoding)


@both
@pytest.mark.parametrize("text", HOSTILE_SAMPLES, ids=range(len(HOSTILE_SAMPLES)))
def test_hostile_samples_may_be_split_at_every_safe_cut(text, encoding):
    check_all_cuts(text, encoding)


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        pytest.param("one two", [3], id="before-a-space"),
        pytest.param("one, two", [4], id="before-a-space-after-punctuation"),
        pytest.param("one  two", [3], id="before-a-run-of-spaces-and-not-inside"),
        pytest.param("灯。 終", [2], id="before-a-space-after-a-full-stop"),
        pytest.param("one\ntwo", [3, 4], id="around-a-line-break"),
        pytest.param("one.\ntwo", [5], id="not-between-punctuation-and-a-line-break"),
        pytest.param("one\n\ntwo", [3, 5], id="not-between-line-breaks"),
        pytest.param("one\n/two", [3], id="not-before-a-slash"),
        pytest.param("one\n two", [3], id="not-before-a-space-that-follows-a-line-break"),
        pytest.param("one\ttwo", [3], id="before-a-tab-and-not-after"),
        pytest.param("x_\ty", [], id="not-after-an-underscore"),
        pytest.param("灯終。明日", [], id="no-blanks"),
        pytest.param(" one ", [4], id="not-after-a-leading-space"),
        pytest.param("", [], id="empty"),
    ],
)
def test_where_safe_cuts_are(text, cuts):
    assert safe_cuts(text) == cuts


@pytest.mark.parametrize("walk", [pieces, pieces_from_end])
@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("", 0, id="empty"),
        pytest.param("x" * (2 * PIECE), 1, id="short-enough-for-one"),
        pytest.param("x" * (20 * PIECE), 1, id="no-safe-cut"),
        pytest.param(LINE * 600, 13, id="lines"),
        pytest.param(ODD_LINE * 200, 20, id="scripts"),
        pytest.param(LINE * 100 + "x" * 40_000, None, id="no-safe-cut-at-the-end"),
        pytest.param("x" * 40_000 + LINE * 100, None, id="no-safe-cut-at-the-start"),
    ],
)
def test_pieces_cover_the_text_and_part_it_at_safe_cuts(walk, text, count):
    found = list(walk(text))
    in_order = found if walk is pieces else found[::-1]

    assert "".join(text[start:stop] for start, stop in in_order) == text
    assert {start for start, _ in in_order[1:]} <= set(safe_cuts(text))
    assert all(start < stop for start, stop in found)
    assert count is None or abs(len(found) - count) <= 1 + count // 10


@UNHURRIED
@given(text=st.builds(lambda text, times: ((text + " ") * times)[:30_000], hostile_text(4), st.integers(1, 3_000)))
def test_pieces_cover_any_text(text):
    cuts = set(safe_cuts(text))
    for in_order in (list(pieces(text)), list(pieces_from_end(text))[::-1]):
        assert "".join(text[start:stop] for start, stop in in_order) == text
        assert {start for start, _ in in_order[1:]} <= cuts


def test_pieces_are_of_the_size_that_was_asked_but_for_the_last():
    text = LINE * 2_000

    for walk in (pieces, pieces_from_end):
        *others, last = [stop - start for start, stop in walk(text)]
        assert all(PIECE <= length <= PIECE + 2 * len(LINE) for length in others)
        assert 0 < last <= 2 * PIECE


@pytest.mark.parametrize(
    ("text", "position", "after", "before"),
    [
        pytest.param("one two six", 5, 7, 3, id="between two"),
        pytest.param("one two six", 7, 7, 3, id="at one"),
        pytest.param("one two six", 8, 11, 3, id="behind the last"),
        pytest.param("one two six", 0, 3, 0, id="at the start"),
        pytest.param("one two six", 999, 11, 0, id="far behind the end"),
        pytest.param("x" * 150 + " two", 10, 154, 0, id="none within a hundred characters"),
        pytest.param("", 0, 0, 0, id="empty"),
    ],
)
def test_the_nearest_safe_cuts(text, position, after, before):
    assert (cut_after(text, position), cut_before(text, position)) == (after, before)
