"""What holds for the truncation of any text to any budget, recounted with tiktoken itself."""

from __future__ import annotations

import time

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.shortening.truncate import truncate, truncate_entries
from ctxopt_core.text.sentences import sentence_spans
from hostile_text import HOSTILE_SAMPLES, hostile_text
from request_tokens import count_text
from shape_rows import FAMILY, SENTENCE

SIDES = ("head", "tail", "middle")
ENCODINGS = st.sampled_from(["cl100k_base", "o200k_base"])
SEPARATORS = st.sampled_from([" ", "\n", "\r\n", "", "  ", "\n\n", " - ", "。", ".) ", '."\n', "\n```\n", "! "])


@st.composite
def prose(draw):
    """Draw plain sentences of words in several scripts, joined by what may or may not part them."""
    word = st.sampled_from(
        ["Alpha", "beta", "12345", "६९१०", "终于", "реобразования", "निर्भर", "مرحبا", FAMILY, "Dr.", "a.b"]
    )
    parts = draw(st.lists(st.tuples(st.lists(word, min_size=1, max_size=5), SEPARATORS), max_size=8))
    return "".join(" ".join(words) + separator for words, separator in parts)


def budget_for(data, text, encoding):
    return data.draw(st.integers(0, count_text(text, encoding) + 2), label="budget")


def borders(text):
    """Offsets between grapheme clusters, where the two halves of a surrogate pair are one."""
    ends = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    return {end for end in ends if not end or not regex.match("[\ud800-\udbff][\udc00-\udfff]", text, pos=end - 1)}


@settings(deadline=None)
@given(st.data(), hostile_text() | prose(), ENCODINGS, st.sampled_from(SIDES))
def test_x10_the_result_counts_no_more_than_the_budget(data, text, encoding, side):
    budget = budget_for(data, text, encoding)
    kept = truncate(text, budget, TiktokenCounter(encoding), side=side)

    assert count_text(kept, encoding) <= budget
    assert (kept is text) == (count_text(text, encoding) <= budget) or not text


@settings(deadline=None)
@given(st.data(), hostile_text() | prose(), ENCODINGS, st.sampled_from(SIDES))
def test_truncating_again_changes_nothing(data, text, encoding, side):
    budget = budget_for(data, text, encoding)
    counter = TiktokenCounter(encoding)
    kept = truncate(text, budget, counter, side=side)

    assert truncate(kept, budget, counter, side=side) is kept


@settings(deadline=None)
@given(st.data(), hostile_text() | prose(), ENCODINGS)
def test_x4_head_and_tail_are_slices_that_halve_no_character(data, text, encoding):
    budget = budget_for(data, text, encoding)
    counter = TiktokenCounter(encoding)
    head, tail = truncate(text, budget, counter), truncate(text, budget, counter, side="tail")

    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(text) - len(tail) in borders(text)
    assert len(head) in borders(text) or regex.fullmatch(r"\w\p{M}*", head)


@settings(deadline=None)
@given(st.data(), prose(), ENCODINGS)
def test_x2_no_longer_run_of_sentences_would_fit(data, text, encoding):
    budget = budget_for(data, text, encoding)
    counter = TiktokenCounter(encoding)
    head, tail = truncate(text, budget, counter), truncate(text, budget, counter, side="tail")
    spans = list(sentence_spans(text))
    ends = [end for _, end in spans if count_text(text[:end], encoding) <= budget]
    starts = [start for start, _ in spans if count_text(text[start:], encoding) <= budget]

    if ends and head is not text:
        assert head == text[: max(ends)]
    if starts and tail is not text:
        assert tail == text[min(starts) :]


@settings(deadline=None)
@given(hostile_text(6) | prose(), ENCODINGS, st.sampled_from(["head", "tail"]))
def test_a_larger_budget_never_keeps_less(text, encoding, side):
    counter = TiktokenCounter(encoding)
    full = count_text(text, encoding)
    lengths = [len(truncate(text, budget, counter, side=side)) for budget in range(0, full + 1, max(1, full // 40))]

    assert lengths == sorted(lengths)


@settings(deadline=None)
@given(st.data(), st.lists(hostile_text(3) | prose(), max_size=5), ENCODINGS)
def test_x9_entries_together_stay_within_the_budget(data, texts, encoding):
    budget = data.draw(st.integers(0, sum(count_text(text, encoding) for text in texts) + 2))
    kept = truncate_entries(texts, budget, TiktokenCounter(encoding))

    assert len(kept) == len(texts)
    assert sum(count_text(text, encoding) for text in kept) <= budget
    assert all(text.startswith(part) for text, part in zip(texts, kept, strict=True))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("text", HOSTILE_SAMPLES, ids=range(len(HOSTILE_SAMPLES)))
def test_x10_hostile_samples(text, side):
    counter = TiktokenCounter("o200k_base")
    for budget in (1, 2, 5, 17, 60, 300):
        assert count_text(truncate(text, budget, counter, side=side)) <= budget


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SENTENCE * 7_500, id="prose"),
        pytest.param(SENTENCE.replace(".", "\n") * 7_500, id="lines"),
        pytest.param("a" * 1_000_000, id="one-letter"),
        pytest.param(" " * 1_000_000 + "x", id="blanks"),
        pytest.param("\n" * 1_000_000 + "x", id="line-breaks"),
        pytest.param(FAMILY * 100_000, id="emoji"),
        pytest.param("e" + "\u0301" * 1_000_000, id="accents"),
        pytest.param('{"a":[1,2]},' * 80_000, id="json"),
        pytest.param("One.\n```\na = 1\n```\n" * 50_000, id="fences"),
    ],
)
def test_a_long_text_is_cut_in_reasonable_time(text, side):
    started = time.process_time()

    assert count_text(truncate(text, 300, TiktokenCounter("o200k_base"), side=side)) <= 300
    assert time.process_time() - started < 10


@pytest.mark.parametrize("side", SIDES)
def test_no_more_is_counted_than_about_what_the_budget_needs(side):
    counted = []

    def words(text):
        counted.append(len(text))
        return len(text.split())

    truncate(SENTENCE * 7_500, 100, CallableCounter(words), side=side)

    assert max(counted) < 10_000
    assert len(counted) < 60
