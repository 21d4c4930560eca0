"""The stems by which the words of a conversation are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.relevance.bm25 import fold, words
from ctxopt_core.relevance.stems import SHORTEST_STEM, light_stem, light_terms, stem_prefix


@pytest.mark.parametrize(
    ("forms", "stem"),
    [
        ("hike hikes hiked hiking", "hik"),
        ("run runs running", "run"),
        ("story stories", "stori"),
        ("glass glasses", "glass"),
        ("call calls called calling", "call"),
        ("paint paints painted painting", "paint"),
        ("organization organizations", "organi"),
        ("bus", "bus"),
        ("sing", "sing"),
        ("red", "red"),
        ("is", "is"),
        ("mp3s", "mp3s"),
        ("größe größer", "größe größer"),
        ("привет приветы", "привет"),
    ],
    ids=lambda value: value.split()[0],
)
def test_the_forms_of_a_word_have_one_stem(forms, stem):
    assert " ".join(dict.fromkeys(map(light_stem, forms.split()))) == stem


@given(st.text(max_size=40))
def test_each_word_begins_with_the_prefix_of_its_stem_and_short_stems_are_whole_words(text):
    for word in words(fold(text)):
        for term in light_terms(word):
            if len(light_terms(word)) == 1:
                assert word.startswith(stem_prefix(term))
                assert len(term) >= SHORTEST_STEM or term == word
