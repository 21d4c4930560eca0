"""How relevant each message of a conversation is: its words, those beside it, and the stretch that it is in."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.history.strategies.message_scores import score_messages

ASKED = "When was the orchard kiln lit?"
FACT = "The orchard kiln was lit on the ninth of March."


def test_h15_of_messages_with_the_same_words_the_scorer_decides():
    def scorer(query, texts):
        return [float("ninth of March" in text) for text in texts]

    others = [f"The orchard kiln was lit on the day {number}." for number in range(60)]
    scores = score_messages(ASKED, [*others[:30], FACT, *others[30:]], scorer)

    assert max(scores, key=scores.__getitem__) == 30


@given(st.lists(st.floats(), min_size=1, max_size=60))
def test_what_a_scorer_adds_is_finite_and_the_same_each_time(given_scores):
    texts = [FACT if number == 3 else f"Lantern {number}." for number in range(len(given_scores))]
    scores = score_messages(ASKED, texts, lambda query, texts: given_scores)

    assert all(map(math.isfinite, scores.values()))
    assert min(scores.values(), default=0.0) >= 0.0
    assert scores == score_messages(ASKED, texts, lambda query, texts: given_scores)


def test_scores_of_nothing():
    assert score_messages("", ["a", "b"], None) == {}
    assert score_messages("kiln", [], None) == {}
    assert score_messages("kiln", ["a", "b"], None) == {}


def test_the_messages_around_a_good_one_are_raised_less_and_less():
    texts = ["Snow."] * 50 + [FACT] + ["Snow."] * 49
    scores = score_messages(ASKED, texts, None)

    assert list(scores) == list(range(40, 61))
    assert max(scores, key=scores.__getitem__) == 50
    assert [scores[n] for n in range(40, 50)] == sorted(scores[n] for n in range(40, 50))
    assert [scores[n] for n in range(51, 61)] == pytest.approx([scores[n] for n in range(49, 39, -1)])


def test_a_message_in_a_stretch_where_much_is_found_is_better_than_one_alone():
    stretch = ["The kiln again."] * 8
    scores = score_messages(
        "kiln", ["Snow."] * 40 + ["The kiln again."] + ["Snow."] * 40 + stretch + ["Snow."] * 40, None
    )

    assert scores[84] > scores[40]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("Where is the kiln?", {1}, id="words-that-ask-are-not-sought"),
        pytest.param("Where is it?", {0}, id="unless-there-are-no-others"),
        pytest.param("What about kilns?", {1}, id="other-form"),
    ],
)
def test_which_words_are_looked_for(query, found):
    texts = ["Where is it going?", *["Snow."] * 30, "A kiln."]
    scores = score_messages(query, texts, None)
    best = max(scores, key=scores.__getitem__)

    assert best == (0 if found == {0} else 31)


def test_only_the_best_messages_are_looked_at_with_those_around_them():
    texts = (["Snow."] * 40 + ["The kiln."]) * 5 + ["Snow."] * 40
    everything = score_messages("kiln", texts, None)
    few = score_messages("kiln", texts, None, most=1)

    assert len(few) == 21
    assert few.items() <= everything.items()
    assert max(few, key=few.__getitem__) == 204
