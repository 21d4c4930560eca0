"""Sentence boundaries: lossless pieces, in any script, with lists, quotes and fenced code."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core.text.sentences import _found_offsets, line_start_before, sentence_spans, sentence_starts
from hostile_text import hostile_text

FENCE = "```python\nx = 1. Y\n\nprint(x)\n```"
WIDE_END = "。！？｡．"
SPACED_END = ".!?…؟۔।॥。！？"


def sentence_ends(text: str, language: str | None = None) -> list[int]:
    """Return where the pieces end that start at a sentence, the first one with the white space before it."""
    return [*list(sentence_starts(text, language=language))[1:], len(text)] if text else []


def pieces(text, language=None):
    ends = sentence_ends(text, language=language)
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def sentences(text, language=None):
    return [text[start:stop] for start, stop in sentence_spans(text, language=language)]


@pytest.mark.parametrize("end", SPACED_END)
def test_x5_a_sentence_ends_at(end):
    assert sentences(f"Alpha beta{end} Gamma delta{end}") == [f"Alpha beta{end}", f"Gamma delta{end}"]


@pytest.mark.parametrize("end", WIDE_END + "…")
def test_x5_a_sentence_ends_without_a_blank_at(end):
    assert sentences(f"甲乙丙{end}丁戊己{end}") == [f"甲乙丙{end}", f"丁戊己{end}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('He said "Go now." Then he left.', ['He said "Go now."', "Then he left."], id="straight-quotes"),
        pytest.param("“He left.” She came.", ["“He left.”", "She came."], id="curly-quotes"),
        pytest.param("(He left.) She came. [One.] Two.", ["(He left.)", "She came.", "[One.]", "Two."], id="brackets"),
        pytest.param("（他走了。）她来了。", ["（他走了。）", "她来了。"], id="wide-brackets"),
        pytest.param("彼は「行く。」と言った。次。", ["彼は「行く。」と言った。", "次。"], id="quoted-inside"),
        pytest.param("**Bold end.** Next one.", ["**Bold end.**", "Next one."], id="emphasis"),
        pytest.param("He left.[1] She came.[2][3] End.", ["He left.[1]", "She came.[2][3]", "End."], id="notes"),
        pytest.param("Hi!\ufe0f Next one.", ["Hi!\ufe0f", "Next one."], id="variation-selector"),
    ],
)
def test_x5_closing_marks_stay_with_the_sentence(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\nb c\r\nd\re\u2028f", ["a\n", "b c\r\n", "d\r", "e\u2028", "f"], id="lines"),
        pytest.param("- one\n- two\n  * three\n", ["- one\n", "- two\n  ", "* three\n"], id="list"),
        pytest.param("1. First. Second.\n2. Third.", ["1. First. ", "Second.\n", "2. Third."], id="numbered-list"),
        pytest.param("# Title\n\nOne. Two.", ["# Title\n\n", "One. ", "Two."], id="heading"),
        pytest.param("  One. Two.\r\n\r\nThree\t", ["  One. ", "Two.\r\n\r\n", "Three\t"], id="white-space"),
    ],
)
def test_x5_line_breaks_are_boundaries(text, expected):
    assert pieces(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"One. Two.\n{FENCE}\nThree.", ["One. ", "Two.\n", f"{FENCE}\n", "Three."], id="between"),
        pytest.param(f"{FENCE}\n\n~~~\na. B\n~~~", [f"{FENCE}\n\n", "~~~\na. B\n~~~"], id="alone"),
        pytest.param("~~~\n```\na. B\n~~~\nEnd", ["~~~\n```\na. B\n~~~\n", "End"], id="other-fence-inside"),
        pytest.param("````\n```\nA. B\n```\n````\nEnd", ["````\n```\nA. B\n```\n````\n", "End"], id="longer-fence"),
        pytest.param("Use ```a. B``` here. End", ["Use ```a. B``` here. ", "End"], id="inline"),
        pytest.param("```\nOne. Two.", ["```\n", "One. ", "Two."], id="never-closed"),
    ],
)
def test_x5_fenced_code_is_one_piece(text, expected):
    assert pieces(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith paid $3.50 to Mr. Lee.",
        "Visit https://a.example/b?c=D.e then come back.",
        "A. B. Smith met J. R. R. Tolkien.",
        "Call foo.Bar() or System.Out now.",
        "He said hello (see Fig. 3.2) and left.",
        "No boundary before а\u0301. \u0301x",
    ],
)
def test_x6_no_boundary_inside(text):
    assert sentences(text) == [text]


def test_x6_abbreviations_and_amounts_do_not_end_a_sentence():
    assert sentences("Dr. Smith paid $3.50 to Mr. Lee. Then he left.") == [
        "Dr. Smith paid $3.50 to Mr. Lee.",
        "Then he left.",
    ]


@pytest.mark.parametrize("text", ["今年は2010年。2011年に続く。", "यह है।2 किताबें।"], ids=["japanese", "hindi"])
def test_a_sentence_may_start_with_a_digit(text):
    assert len(sentences(text)) == 2


def test_the_language_can_be_given():
    text = "Das gilt z.B. Montags am 5. Mai. Danach nicht."

    assert sentences(text, "de") == ["Das gilt z.B. Montags am 5. Mai.", "Danach nicht."]
    assert len(sentences(text, "en")) > 2


@settings(deadline=None)
@given(hostile_text())
def test_the_pieces_tile_the_text(text):
    assert "".join(pieces(text)) == text
    assert all(pieces(text))
    assert all(piece.strip() for piece in pieces(text)) or not text.strip()


@settings(deadline=None)
@given(hostile_text())
def test_spans_are_the_pieces_without_the_white_space_around_them(text):
    assert [piece.strip() for piece in pieces(text) if piece.strip()] == [part.strip() for part in sentences(text)]


@settings(deadline=None)
@given(hostile_text(), st.integers(0, 200))
def test_splitting_from_the_start_of_a_line_finds_the_same_boundaries(text, position):
    start = line_start_before(text, position)
    every = list(sentence_starts(text, language="en"))

    assert start <= position
    assert list(sentence_starts(text, start=start, language="en")) == [found for found in every if found >= start]


@settings(deadline=None)
@given(hostile_text(), st.integers(0, 200))
def test_a_search_that_stops_early_finds_every_boundary_up_to_there(text, stop):
    every = list(sentence_starts(text, language="en"))
    found = list(sentence_starts(text, stop=stop, language="en"))

    assert found == every[: len(found)]
    assert [start for start in every if start < stop] == [start for start in found if start < stop]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(" " * 1_000_000, id="blanks"),
        pytest.param("a" * 1_000_000, id="one-letter"),
        pytest.param("." * 1_000_000, id="full-stops"),
        pytest.param("\n" * 1_000_000, id="line-breaks"),
        pytest.param("```" * 300_000, id="fences-in-a-line"),
        pytest.param("(a.) “B. " * 20_000, id="open-quotes"),
        pytest.param("\ud83d. A" * 50_000, id="lone-surrogates"),
        pytest.param("\x00" * 1_000_000, id="nul"),
    ],
)
def test_long_hostile_texts_are_split_in_reasonable_time(text):
    started = time.process_time()

    assert sentence_ends(text)[-1] == len(text)
    assert time.process_time() - started < 3


def test_a_long_line_is_split_as_its_sentences_are():
    text = "One brass lantern hangs here. " * 1_000

    assert sentence_ends(text) == list(range(30, 30_001, 30))


@pytest.mark.parametrize(
    ("position", "start"),
    [
        pytest.param(4, 0, id="first-line"),
        pytest.param(9, 5, id="second-line"),
        pytest.param(20, 10, id="inside-the-fence"),
        pytest.param(10 + len(FENCE) + 3, 10 + len(FENCE) + 1, id="after-the-fence"),
    ],
)
def test_a_split_may_begin_at_a_line_start_outside_fenced_code(position, start):
    assert line_start_before(f"One.\nTwo.\n{FENCE}\nThree.", position) == start


def test_a_mark_may_stand_on_the_indentation_of_a_line():
    assert pieces("One.\n  \u0301two") == ["One.\n ", " \u0301two"]


def test_proposals_that_leave_characters_out_are_looked_up():
    assert _found_offsets("One.  Two. Three.", ["One.", "Two. ", "Three."]) == [6, 11]


def test_an_empty_text_has_no_pieces():
    assert sentence_ends("") == []
    assert sentence_ends(" \n") == [2]
