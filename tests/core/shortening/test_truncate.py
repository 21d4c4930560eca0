"""Truncation by sentences, and by what is smaller where not even one sentence fits."""

from __future__ import annotations

import re

import pytest

from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.counting.estimate_counter import EstimateCounter
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.shortening.truncate import omission_marker, truncate, truncate_entries
from request_tokens import count_text
from shape_rows import FAMILY, SENTENCE

THREE = "Alpha beta gamma. 12345 67890. Delta epsilon."
WORDS = CallableCounter(lambda text: len(text.split()))
CHARACTERS = CallableCounter(len)
CL100K = TiktokenCounter("cl100k_base")
O200K = TiktokenCounter("o200k_base")
FENCE = "```\none two\nthree four\nfive six\n```"


@pytest.mark.parametrize("side", ["head", "tail", "middle"])
def test_x1_what_fits_is_the_same_object(side):
    text = "One. Two."

    assert truncate(text, 2, WORDS, side=side) is text


@pytest.mark.parametrize("side", ["head", "tail", "middle"])
@pytest.mark.parametrize("budget", [0, -1])
def test_x1_no_budget_gives_an_empty_text(side, budget):
    assert truncate("One. Two.", budget, WORDS, side=side) == ""


@pytest.mark.parametrize(
    ("budget", "kept"),
    [(3, "a b c."), (5, "a b c."), (6, "a b c. d e f."), (8, "a b c. d e f."), (9, "a b c. d e f. g h i.")],
)
def test_x2_the_longest_prefix_of_whole_sentences_is_kept(budget, kept):
    assert truncate("a b c. d e f. g h i.", budget, WORDS) == kept


@pytest.mark.parametrize("counter", [CL100K, O200K], ids=["cl100k", "o200k"])
@pytest.mark.parametrize(
    ("budget", "kept"),
    [(4, 17), (10, 17), (11, 30), (13, 30), (14, 45), (15, 45)],
)
def test_x3_the_cut_backs_off_by_a_sentence(counter, budget, kept):
    assert truncate(THREE, budget, counter) == THREE[:kept]


@pytest.mark.parametrize(
    ("text", "budget", "kept"),
    [
        pytest.param("a\r\n\tb  c\r\nd e f", 3, "a\r\n\tb  c", id="crlf-and-tabs"),
        pytest.param("  a b.\n\n# c\n\nd e f", 4, "  a b.\n\n# c", id="leading-blanks"),
        pytest.param("- **a** `b`\n- c d e", 3, "- **a** `b`", id="markdown"),
        pytest.param("a b.   \n\n\nc d.   ", 3, "a b.", id="blanks-at-the-cut"),
    ],
)
def test_x4_the_result_is_an_exact_slice(text, budget, kept):
    assert truncate(text, budget, WORDS) == kept


@pytest.mark.parametrize(
    ("text", "budget", "side", "kept"),
    [
        pytest.param(f"a b.\n{FENCE}\nc d.", 7, "head", "a b.", id="not-inside-after-a-sentence"),
        pytest.param(f"a b.\n{FENCE}\nc d.", 10, "head", f"a b.\n{FENCE}", id="whole"),
        pytest.param(f"a b.\n{FENCE}\nc d.", 7, "tail", "c d.", id="not-inside-before-a-sentence"),
        pytest.param(f"{FENCE}\nc d.", 4, "head", "```\none two", id="alone-by-lines"),
        pytest.param(f"a b.\n{FENCE}", 4, "tail", "five six\n```", id="alone-by-lines-from-the-end"),
    ],
)
def test_x5_fenced_code_is_cut_only_where_it_stands_alone(text, budget, side, kept):
    assert truncate(text, budget, WORDS, side=side) == kept


@pytest.mark.parametrize(
    ("text", "budget", "kept"),
    [
        pytest.param("one two three four.", 3, "one two three", id="words"),
        pytest.param("one two three, four.", 1, "one", id="one-word"),
        pytest.param("a" * 100 + " b.", 1, "a" * 100, id="a-long-word"),
    ],
)
def test_x7_without_a_sentence_the_cut_falls_on_a_word(text, budget, kept):
    assert truncate(text, budget, WORDS) == kept


@pytest.mark.parametrize(
    ("text", "budget", "kept"),
    [
        pytest.param("one " + "x" * 100, 20, "one", id="the-long-word-goes"),
        pytest.param("x" * 100, 20, "x" * 20, id="no-word"),
        pytest.param("e\u0301" * 20, 7, "e\u0301" * 3, id="accents"),
        pytest.param("\U0001f1e9\U0001f1ea" * 20, 7, "\U0001f1e9\U0001f1ea" * 3, id="flags"),
        pytest.param("\ud83d\ude00" * 20, 7, "\ud83d\ude00" * 3, id="surrogate-pairs"),
        pytest.param("e" + "\u0301" * 50 + "nd", 7, "e" + "\u0301" * 6, id="more-accents-than-fit"),
        pytest.param(f"{FAMILY} family", 6, "", id="half-a-family"),
        pytest.param(f"{FAMILY} family", 7, FAMILY, id="a-family"),
        pytest.param('{"key":12,"keys":[3,4,5]}', 10, '{"key":12,', id="json"),
        pytest.param("日本語の文章です", 4, "日本語の", id="no-blanks"),
        pytest.param(" " * 50 + "x", 20, "", id="blanks-only"),
    ],
)
def test_x7_without_a_word_the_cut_falls_between_what_reads_as_characters(text, budget, kept):
    assert truncate(text, budget, CHARACTERS) == kept


@pytest.mark.parametrize("budget", range(20))
def test_x7_a_joined_emoji_is_kept_whole_or_not_at_all(budget):
    kept = truncate(f"{FAMILY} family", budget, CL100K)

    assert kept == ("" if budget < 18 else FAMILY if budget < 19 else f"{FAMILY} family")


@pytest.mark.parametrize(
    ("budget", "kept"),
    [(1, "i."), (3, "g h i."), (5, "g h i."), (6, "d e f. g h i."), (9, "a b c. d e f. g h i.")],
)
def test_x8_the_tail_starts_on_a_sentence(budget, kept):
    assert truncate("a b c. d e f. g h i.", budget, WORDS, side="tail") == kept


@pytest.mark.parametrize(
    ("text", "budget", "kept"),
    [
        pytest.param("x" * 100 + " end", 20, "end", id="the-long-word-goes"),
        pytest.param("x" * 100, 20, "x" * 20, id="no-word"),
        pytest.param("e\u0301" * 20, 7, "e\u0301" * 3, id="accents"),
        pytest.param("\ud83d\ude00" * 20, 7, "\ud83d\ude00" * 3, id="surrogate-pairs"),
        pytest.param(f"family {FAMILY}", 6, "", id="half-a-family"),
        pytest.param("One. Two.  ", 6, "Two.  ", id="blanks-at-the-end"),
    ],
)
def test_x8_the_tail_without_a_sentence(text, budget, kept):
    assert truncate(text, budget, CHARACTERS, side="tail") == kept


def test_x8_the_tail_of_a_long_line_starts_on_a_sentence():
    assert (
        truncate("One brass lantern hangs here. " * 2_000, 12, WORDS, side="tail")
        == "One brass lantern hangs here. " * 2
    )


@pytest.mark.parametrize("counter", [CL100K, O200K, EstimateCounter()], ids=lambda counter: counter.name)
@pytest.mark.parametrize("budget", [100, 200, 500])
def test_x8_the_middle_says_what_was_left_out_within_the_budget(counter, budget):
    text = SENTENCE * 100
    kept = truncate(text, budget, counter, side="middle")
    head, number, tail = re.split(r"\n\[\.\.\. ([\d,]+) characters left out \.\.\.\]\n", kept)

    assert budget * 0.6 < counter.count(kept) <= budget
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(number.replace(",", "")) + len(tail) == len(text)
    assert head.endswith("arrives.")
    assert tail.startswith("The lamplighter")


def test_x8_the_marker_can_be_given():
    text = "a b. " * 50

    assert truncate(text, 5, WORDS, side="middle", marker=" ~ ") == "a b. ~ a b. "
    assert truncate(text, 5, WORDS, side="middle", marker=lambda left: f"<{left}>").startswith("a b.<2")


def test_x8_without_room_for_the_marker_the_head_is_kept():
    assert truncate("a b. " * 50, 4, WORDS, side="middle", marker="x " * 3) == "a b. a b."


def test_x8_a_middle_cut_prefers_a_word_to_a_sentence_that_leaves_half_the_budget_unused():
    text = "a b. " + "c " * 500 + "d. e f."
    kept = truncate(text, 40, WORDS, side="middle", marker=" ~ ")

    assert 35 < len(kept.split()) <= 40


@pytest.mark.parametrize(
    ("words", "budget", "kept"),
    [
        pytest.param([10, 4, 1], 9, [7, 2, 0], id="rounding-goes-to-the-largest"),
        pytest.param([4, 10, 1], 9, [2, 7, 0], id="order-kept"),
        pytest.param([5, 5], 5, [3, 2], id="first-of-equals"),
        pytest.param([5, 5], 10, [5, 5], id="all-fit"),
        pytest.param([5, 5], 0, [0, 0], id="no-budget"),
        pytest.param([0, 6], 3, [0, 3], id="an-empty-entry"),
        pytest.param([], 3, [], id="no-entries"),
    ],
)
def test_x9_entries_share_the_budget_in_proportion(words, budget, kept):
    texts = [" ".join(["w"] * number) for number in words]

    assert [len(text.split()) for text in truncate_entries(texts, budget, WORDS)] == kept


def test_x9_entries_that_fit_are_the_same_objects():
    texts = ["One " * 3, "Two " * 3]

    assert all(ours is theirs for ours, theirs in zip(truncate_entries(texts, 6, WORDS), texts, strict=True))


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("६" + "९१०" * 100, id="digits-in-threes"),
        pytest.param("реобразования " * 20, id="russian"),
        pytest.param("निर्भर " * 20, id="hindi"),
        pytest.param("end.)\n" * 20, id="marks-before-line-breaks"),
        pytest.param("<|endoftext|>" * 10, id="special-tokens"),
    ],
)
@pytest.mark.parametrize("side", ["head", "tail", "middle"])
def test_x10_a_cut_counts_no_more_than_asked(encoding, text, side):
    counter = TiktokenCounter(encoding)
    for budget in range(60):
        assert count_text(truncate(text, budget, counter, side=side), encoding) <= budget


def test_a_side_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="`side` must be 'head', 'tail' or 'middle', got 'left'"):
        truncate("a", 1, WORDS, side="left")


@pytest.mark.parametrize("side", ["head", "tail"])
def test_a_marker_without_a_middle_is_refused(side):
    with pytest.raises(ValueError, match="`marker` stands for an omitted middle"):
        truncate("a", 1, WORDS, side=side, marker="x")


def test_the_default_marker_is_one_line():
    assert omission_marker(1234) == "\n[... 1,234 characters left out ...]\n"
