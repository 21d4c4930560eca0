"""A text that grows is counted once: each count costs what was added since the one before."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core.counting.split_points import PIECE
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.runtime.text_cache import CountCache
from drawn_examples import examples
from hostile_text import hostile_text
from independent_recount import count_text
from shape_rows import SENTENCE


class SpiedCounter(TiktokenCounter):
    """A counter that notes how many characters it tokenizes."""

    __slots__ = ("read",)

    def __init__(self, name):
        super().__init__(name, cache=CountCache())
        self.read = 0

    def _encode(self, text):
        self.read += len(text)
        return super()._encode(text)


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
def test_an_append_costs_the_last_pieces_and_not_the_text(encoding):
    counter = SpiedCounter(encoding)
    text = SENTENCE * 1_000
    counter.count(text)
    for _ in range(50):
        counter.read = 0
        text += SENTENCE

        assert counter.count(text) == count_text(text, encoding)
        assert counter.read <= 4 * PIECE


def test_early_stop_and_count_share_what_they_read():
    counter = SpiedCounter("o200k_base")
    text = SENTENCE * 1_000

    assert counter.exceeds(text, 3_000)
    read = counter.read
    counter.count(text)

    assert read < len(text) / 3
    assert counter.read <= len(text)


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(hostile_text(8), min_size=1, max_size=12), st.integers(1, 400))
def test_a_grown_text_counts_what_tiktoken_says(parts, times):
    counter = TiktokenCounter("o200k_base", cache=CountCache())
    text = ""
    for part in parts:
        text += (part * times)[:6_000]

        assert counter.count(text) == count_text(text, "o200k_base")
