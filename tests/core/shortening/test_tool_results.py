"""Excerpts of tool results: head, tail, and the pieces that name what is referred to later."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core import counter_for
from ctxopt_core.shortening.result_pieces import ResultText, pieces_of
from ctxopt_core.shortening.tool_results import tool_excerpts
from ctxopt_core.text.identifiers import identifiers_in

O200K = counter_for("o200k_base")
LOG = "".join(f"line {n} of the harbour log, nothing to tell\n" for n in range(60))
NAMED = {
    "an id": ("order QX-4471 left", ["QX-4471"]),
    "a date": ("due 2031-05-02.", ["2031-05-02"]),
    "a path": ("see /srv/lamp/notes.txt, please", ["/srv/lamp/notes.txt"]),
    "an address": ("ask keeper@quay.example", ["keeper@quay.example"]),
    "short numbers and times": ("12 of 4400 at 07:30", []),
    "words": ("the keeper is asleep", []),
    "a blob": ("a1" * 60, []),
}


def tool_excerpt(text, budget, counter, **options):
    [found] = tool_excerpts([ResultText(text=text)], budget, counter, **options)
    return found


@pytest.mark.parametrize(("text", "expected"), NAMED.values(), ids=NAMED)
def test_what_an_identifier_is(text, expected):
    assert list(identifiers_in(text)) == expected


def test_h9_an_excerpt_has_head_and_tail_and_says_how_much_is_missing():
    text = "first words. " + "x " * 2000 + "last words"

    left = tool_excerpt(text, 60, O200K)

    assert left.startswith("first words")
    assert left.endswith("last words")
    assert "characters left out" in left


def test_h9_the_line_with_an_identifier_is_kept_before_lines_without_one():
    text = LOG + "the lamp has number LMP-20771\n" + LOG

    assert "LMP-20771" in tool_excerpt(text, 60, O200K)


def test_h9_what_is_mentioned_comes_before_what_is_not():
    records = [{"id": f"LMP-{n}0771", "note": "burns well and is trimmed often"} for n in range(10, 50)]
    text = json.dumps(records)

    assert "LMP-370771" not in tool_excerpt(text, 48, O200K)
    assert "LMP-370771" in tool_excerpt(text, 48, O200K, mentioned=["LMP-370771"])


def test_h9_what_is_visible_elsewhere_makes_room_for_what_is_not():
    lines = [f"lamp LMP-{n}0771 stands here\n" for n in range(10, 40)]
    seen = [f"LMP-{n}0771" for n in range(10, 39)]

    left = tool_excerpt(LOG + "".join(lines) + LOG, 60, O200K, visible=seen)

    assert "LMP-390771" in left


def test_json_keeps_the_key_beside_the_value():
    text = json.dumps({"pad": "word " * 200, "payment_id": "card_88213", "more": "word " * 200})

    assert '"payment_id": "card_88213"' in tool_excerpt(text, 60, O200K)


def test_a_short_result_stays_whole_beside_a_long_one():
    left = tool_excerpts([ResultText(text="ticket 458219"), ResultText(text=LOG)], 120, O200K)

    assert left[0] == "ticket 458219"
    assert "left out" in left[1]


TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(
        st.sampled_from(["ab12 ", "{", '"k": ', "x, ", "\n", "e\u0301", "👩\u200d👧", ". ", "語"]), max_size=300
    ).map("".join),
)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.integers(0, 200))
def test_excerpts_count_at_most_their_room_and_are_made_of_their_texts(texts, room):
    left = tool_excerpts([ResultText(text=text) for text in texts], room, O200K)

    assert len(left) == len(texts)
    assert sum(map(O200K.count, left)) <= room
    assert left == tool_excerpts([ResultText(text=text) for text in texts], room, O200K)


@given(TEXTS, st.integers(1, 500))
def test_pieces_are_in_order_and_together_the_text(text, most):
    pieces = pieces_of(text, most)

    assert all(start < stop for start, stop in pieces)
    assert all(first[1] <= second[0] for first, second in pairwise(pieces))
    if len(text) <= most:
        assert "".join(text[start:stop] for start, stop in pieces) == text
