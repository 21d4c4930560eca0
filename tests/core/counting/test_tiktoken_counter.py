"""Counting and cutting with tiktoken's encodings, against tiktoken itself."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.runtime.text_cache import CountCache
from ctxopt_core.text.surrogates import index_before_joining, joined_surrogates
from drawn_examples import examples
from hostile_text import HOSTILE_SAMPLES, hostile_text
from independent_recount import count_text, load_encoding
from shape_rows import FAMILY, SCRIPTS, SENTENCE

ENCODINGS = ("cl100k_base", "o200k_base")
# Vocabularies are loaded by the first example, and texts are long.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
both = pytest.mark.parametrize("encoding", ENCODINGS)
cut_texts = st.one_of(hostile_text(), st.sampled_from(HOSTILE_SAMPLES))
# Long enough to be read in several pieces, some of them with no place to part them.
long_texts = st.builds(
    lambda text, tail, times: ((text + tail) * times)[:40_000],
    hostile_text(6),
    st.sampled_from(["", " ", "\n"]),
    st.integers(50, 900),
)


def fresh(encoding):
    """A counter that remembers nothing, so that every answer is worked out."""
    return TiktokenCounter(encoding, cache=CountCache(0))


def splits_a_pair(text, position):
    return (
        0 < position < len(text)
        and "\ud800" <= text[position - 1] <= "\udbff"
        and "\udc00" <= text[position] <= "\udfff"
    )


def check_cuts(text, limit, encoding):
    counter = fresh(encoding)
    whole = count_text(text, encoding)
    head, tail = counter.prefix_length(text, limit), counter.suffix_length(text, limit)

    assert count_text(text[:head], encoding) <= max(0, limit)
    assert count_text(text[len(text) - tail :], encoding) <= max(0, limit)
    assert not splits_a_pair(text, head)
    assert not splits_a_pair(text, len(text) - tail)
    if 0 < limit >= whole:
        assert head == tail == len(text)


def whole_text_prefix(text, limit, encoding):
    """The longest prefix of whole tokens that is whole characters, by encoding all of the text."""
    tiktoken = load_encoding(encoding)
    parts = tiktoken.decode_tokens_bytes(tiktoken.encode(text, disallowed_special=())[:limit])
    while parts:
        try:
            return len(b"".join(parts).decode())
        except UnicodeDecodeError:
            parts.pop()
    return 0


@both
@UNHURRIED
@given(text=hostile_text())
def test_a_text_counts_what_tiktoken_counts(encoding, text):
    assert fresh(encoding).count(text) == count_text(text, encoding)


@both
@settings(UNHURRIED, max_examples=examples(40))
@given(text=long_texts)
def test_a_long_text_counts_the_same_piece_by_piece(encoding, text):
    counter, whole = fresh(encoding), count_text(text, encoding)

    assert counter.count(text) == whole
    assert not counter.exceeds(text, whole)
    assert counter.exceeds(text, whole - 1) or not text


@both
@UNHURRIED
@given(text=hostile_text(), beyond=st.integers(-30, 30))
def test_exceeds_agrees_with_the_count(encoding, text, beyond):
    whole = count_text(text, encoding)

    assert fresh(encoding).exceeds(text, whole + beyond) == (beyond < 0)


@both
@UNHURRIED
@given(text=hostile_text(), limit=st.integers(-1, 400))
def test_exceeds_agrees_with_a_count_that_is_remembered(encoding, text, limit):
    counter = TiktokenCounter(encoding, cache=CountCache())
    whole = counter.count(text)

    assert counter.exceeds(text, limit) == (whole > limit)


@both
@settings(UNHURRIED, max_examples=examples(200))
@given(text=cut_texts, limit=st.integers(-1, 300))
def test_x10_a_cut_never_counts_more_than_asked(encoding, text, limit):
    check_cuts(text, limit, encoding)


@both
@settings(UNHURRIED, max_examples=examples(30))
@given(text=long_texts, share=st.fractions(0, 1))
def test_x10_a_cut_of_a_long_text_never_counts_more_than_asked(encoding, text, share):
    check_cuts(text, int(count_text(text, encoding) * share), encoding)


@both
@pytest.mark.parametrize("text", [*SCRIPTS.values(), FAMILY * 3, SENTENCE], ids=[*SCRIPTS, "family", "english"])
def test_x10_every_limit_of_every_script(text, encoding):
    for limit in range(count_text(text * 2, encoding) + 2):
        check_cuts(text * 2, limit, encoding)


@both
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_prefix_is_as_long_as_one_cut_from_the_whole_text(script, encoding):
    text = (SCRIPTS[script] + SENTENCE) * 120

    for limit in (1, 2, 3, 99, 100, 2_500, count_text(text, encoding) - 1):
        assert fresh(encoding).prefix_length(text, limit) == whole_text_prefix(text, limit, encoding)


@both
def test_a_suffix_uses_all_but_a_few_of_its_tokens(encoding):
    text = "".join(SCRIPTS.values()) * 60 + SENTENCE * 60

    for limit in (50, 1_000, 5_000):
        tail = fresh(encoding).suffix_length(text, limit)
        assert limit - 5 <= count_text(text[len(text) - tail :], encoding) <= limit


@both
def test_no_more_of_a_text_is_read_than_the_question_needs(encoding):
    read = []

    class Spy(TiktokenCounter):
        def _encode(self, text):
            read.append(len(text))
            return super()._encode(text)

    text = SENTENCE * 20_000
    counter = Spy(encoding, cache=CountCache())

    assert counter.exceeds(text, 20_000)
    assert 0 < counter.prefix_length(text, 100) < counter.suffix_length(text, 200)
    assert sum(read) < len(text) / 8
    assert counter.exceeds(text, 100)
    assert not counter.exceeds("lantern", 28)
    assert sum(read) < len(text) / 8


@both
@pytest.mark.parametrize(
    ("blank", "rest"),
    [(" ", ""), ("\t", "\n"), ("\u3000", "b"), ("\t ", "7")],
    ids=["spaces", "tabs", "ideographic", "mixed"],
)
def test_t4_a_long_run_of_blanks_counts_no_less_in_blocks(blank, rest, encoding):
    text = "a" + blank * (520_000 // len(blank)) + rest
    in_one = len(load_encoding(encoding).encode(text, disallowed_special=()))

    assert in_one <= fresh(encoding).count(text) <= in_one + 3


def test_t4_blanks_that_tiktoken_refuses_leave_the_rest_exact():
    digits, blanks = "६" + "९१०" * 200_000, " " * 1_000_000 + "x"
    counter = fresh("o200k_base")

    with pytest.raises(ValueError, match="Regex error"):
        load_encoding("o200k_base").encode(digits + blanks, disallowed_special=())
    assert counter.count(digits + blanks) == count_text(digits) + counter.count(blanks)


def test_t4_blanks_that_tiktoken_refuses_count_the_same_piece_by_piece():
    text = "word " * 3_000 + " " * 1_000_000 + "x"
    tokens = fresh("cl100k_base").count(text)

    assert fresh("cl100k_base").exceeds(text, tokens - 1)
    assert not fresh("cl100k_base").exceeds(text, tokens)


@UNHURRIED
@given(hostile_text())
def test_joined_surrogates_are_what_tiktoken_reads(text):
    joined = joined_surrogates(text)
    ids = load_encoding("o200k_base").encode(text, disallowed_special=())

    assert joined.encode() == load_encoding("o200k_base").decode_bytes(ids)
    for index in range(len(joined) + 1):
        before = index_before_joining(text, index)
        assert joined_surrogates(text[:before]) == joined[:index]


@pytest.mark.parametrize(
    ("text", "limit", "head", "tail"),
    [
        pytest.param("\ud83d\ude00" * 4, 2, 4, 4, id="pairs"),
        pytest.param("ab \ud800 \ud83d\ude00", 2, 4, 5, id="lone-and-pair"),
    ],
)
def test_t4_surrogates_are_cut_as_the_characters_they_mean(text, limit, head, tail):
    counter = fresh("o200k_base")

    assert (counter.prefix_length(text, limit), counter.suffix_length(text, limit)) == (head, tail)


def test_counters_of_one_encoding_are_equal():
    assert TiktokenCounter("cl100k_base") == TiktokenCounter(" cl100k_base")
    assert len({TiktokenCounter("cl100k_base"), TiktokenCounter("cl100k_base"), TiktokenCounter()}) == 2
    assert TiktokenCounter() != "o200k_base"
    assert repr(TiktokenCounter()) == "TiktokenCounter('o200k_base')"


@pytest.mark.parametrize("ask", ["exceeds", "prefix_length", "suffix_length"])
@pytest.mark.parametrize("unit", ["数据处理系统的性能测试", "x"])
def test_a_long_text_without_a_break_is_read_in_part(unit, ask):
    read = []

    class Noting(TiktokenCounter):
        def _encode(self, text):
            read.append(len(text))
            return super()._encode(text)

    answer = getattr(Noting(cache=CountCache(0)), ask)((unit * 400_000)[:400_000], 1_000)

    assert answer
    assert sum(read) < 50_000


@both
@pytest.mark.parametrize("unit", ["数据处理系统的性能测试", "x", "0123456789", "-=", "aA", "\u00a0"])
def test_a_long_text_without_a_break_exceeds_what_is_less_than_its_count(encoding, unit):
    text = (unit * 60_000)[:60_000]
    tokens = fresh(encoding).count(text)

    for limit in (tokens - 200, tokens - 100, tokens - 1, tokens, tokens + 1):
        assert fresh(encoding).exceeds(text, limit) is (tokens > limit)
