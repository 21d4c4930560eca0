"""Excerpts that say where their omitted lines can be read, and the reading of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import CallableCounter, Message, TiktokenCounter, ToolResult, truncate
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.shortening.omission_notes import (
    LONGEST_LINE,
    NoteInPlace,
    StoredResult,
    is_omitted_mark,
    line_starts,
    notes_in,
    read_lines,
    reference_to,
    stored_results,
)
from ctxopt_core.shortening.shorten_message import excerpt, shorten_message
from ctxopt_core.shortening.truncate import CutMarker

O200K = TiktokenCounter("o200k_base")
LETTERS = CallableCounter(len, name="letters")
REFERENCE = "123456789"
LOG = "\n".join(f"line {i} of the log" for i in range(1, 1_001))
ALPHABET = st.text(alphabet=st.sampled_from(list("ab 1.\n\né漢👩‍🚀")), max_size=400)


def result(text: str, call_id: str = "c1") -> Message:
    return Message(role="tool", content=text, tool_call_id=call_id)


def shorten(message: Message, target: int, *, references: bool = True) -> tuple[str, ...]:
    cut = shorten_message(message, message_tokens(message, O200K), target, O200K, references=references)
    assert cut is not None
    return cut.texts


def lines_read(stored: StoredResult, start: int) -> str:
    """Everything from a line on, read call by call as the headings say."""
    found = ""
    total = len(line_starts(stored.text)) - stored.text.endswith("\n")
    while start <= total:
        heading, _, shown = read_lines(stored, start, 50, 600, O200K).partition("\n")
        assert heading.startswith(f"[lines {start} to "), heading
        start = int(heading.split()[3]) + 1
        starts = line_starts(stored.text)
        found += shown
        if start <= total and stored.text[starts[start - 1] - 1] == "\n":
            found += "\n"
    return found


@pytest.mark.parametrize("budget", range(11, 300, 17))
def test_h24_an_excerpt_refers_to_its_result_and_the_omitted_lines_are_there_word_for_word(budget: int) -> None:
    message = result(LOG)
    [text] = shorten(message, message_tokens(result(""), O200K) + budget)
    [stored] = stored_results(message)
    assert stored.reference in text
    assert O200K.count(text) <= budget
    if is_omitted_mark(text):
        assert budget < 45
        return
    [(note, start, stop)] = notes_in(text)
    head, tail = text[:start], text[stop:]
    omitted = LOG[len(head) : len(LOG) - len(tail)]
    assert (note.reference, note.start_line) == (stored.reference, head.count("\n") + 1 + omitted.startswith("\n"))
    assert note.lines == omitted.strip().count("\n") + 1
    assert omitted.strip() in lines_read(stored, note.start_line)


def test_h24_a_note_counts_the_lines_and_names_the_first() -> None:
    place = NoteInPlace("one\ntwo\nthree\nfour", REFERENCE, 10)
    assert isinstance(place, CutMarker)
    expected = f'\n[... 2 lines left out: reference "{REFERENCE}", start_line 12 ...]\n'
    assert place.marker_for(3, 13) == place.marker_for(4, 14) == place.marker_for(5, 12) == expected
    assert place.marker_for(5, 7) == f'\n[... 1 line left out: reference "{REFERENCE}", start_line 12 ...]\n'


@pytest.mark.parametrize("budget", range(1, 60))
def test_h24_without_references_the_marker_is_the_same_as_ever(budget: int) -> None:
    assert excerpt(LOG, budget, O200K) == (truncate(LOG, budget, O200K, side="middle") or "…")
    [text] = shorten(result(LOG), budget + 20, references=False)
    assert list(notes_in(text)) == []
    assert not is_omitted_mark(text)


def test_h24_only_results_get_references() -> None:
    spoken = Message(
        role="user",
        content=(LOG, LOG + "!", "And now? " * 90),
        verbatim=("c1", "c2"),
        tool_results=(
            ToolResult(call_id="c1", texts=range(1), verbatim=range(1)),
            ToolResult(call_id="c2", texts=range(1, 2), verbatim=range(1, 2)),
        ),
    )
    texts = shorten(spoken, 420)
    assert texts[2] == spoken.texts[2]
    references = [stored.reference for stored in stored_results(spoken)]
    assert [[note.reference for note, _, _ in notes_in(text)] for text in texts] == [*([one] for one in references), []]
    assert len(set(references)) == 2
    assert is_omitted_mark(shorten(spoken, 330)[0])
    assert "reference" not in shorten(spoken, 330)[2]
    assert list(stored_results(Message(role="user", content=LOG))) == []
    assert list(stored_results(Message(role="assistant", content=LOG))) == []


def test_h24_lines_run_through_the_parts_of_a_result() -> None:
    message = Message(role="tool", content=("one\ntwo\n", LOG), tool_call_id="c1")
    _, text = shorten(message, 120)
    [(note, start, _)] = notes_in(text)
    [stored] = stored_results(message)
    first = LOG.split("\n")[text[:start].count("\n") + 1]
    assert read_lines(stored, note.start_line, 1, 500, O200K).split("\n")[1] == first


def test_h24_a_reference_is_made_of_the_result_alone() -> None:
    one = reference_to("c1", ["a", "b"])
    assert one == reference_to("c1", ("a", "b"))
    others = [reference_to("c2", ["a", "b"]), reference_to("c1", ["ab"]), reference_to("c1", ["b", "a"])]
    assert len({one, *others}) == 4
    assert all(len(found) == 9 and found.isdecimal() for found in (one, *others))
    assert reference_to(None, ["\ud800"]).isdecimal()


@settings(deadline=None)
@given(text=ALPHABET, budget=st.integers(min_value=0, max_value=300), counter=st.sampled_from([O200K, LETTERS]))
def test_h24_an_excerpt_with_a_reference_is_within_its_budget(text: str, budget: int, counter: object) -> None:
    found = excerpt(text, budget, counter, reference=REFERENCE)  # type: ignore[arg-type]
    assert counter.count(found) <= budget  # type: ignore[attr-defined]
    assert found == text or REFERENCE in found or budget < len(f'[omitted: reference "{REFERENCE}"]')


@settings(deadline=None)
@given(first=st.integers(min_value=50, max_value=400), second=st.integers(min_value=11, max_value=400))
def test_a16_an_excerpt_of_an_excerpt_has_one_note_for_the_same_result(first: int, second: int) -> None:
    once = excerpt(LOG, first, O200K, reference=REFERENCE)
    twice = excerpt(once, second, O200K, reference="987654321")
    assert O200K.count(twice) <= second
    assert twice.count(REFERENCE) == 1
    assert "987654321" not in twice
    if second >= O200K.count(once):
        assert twice == once
    for note, start, stop in notes_in(twice):
        head, tail = twice[:start], twice[stop:]
        assert LOG.startswith(head)
        assert LOG.endswith(tail)
        omitted = LOG[len(head) : len(LOG) - len(tail)]
        assert note.start_line == head.count("\n") + 1 + omitted.startswith("\n")
        assert abs(note.lines - omitted.strip().count("\n") - 1) <= 1


@given(text=ALPHABET.map(lambda text: text * 7))
def test_h24_lines_cover_a_text_and_none_is_long(text: str) -> None:
    starts = line_starts(text)
    ends = [*starts[1:], len(text)]
    assert starts[0] == 0
    assert starts == sorted(starts)
    lines = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    assert "".join(lines) == text
    assert all(len(line.removesuffix("\n")) <= LONGEST_LINE and "\n" not in line[:-1] for line in lines)
    if len(text) <= LONGEST_LINE:
        assert lines == text.splitlines(keepends=True) + [""] * (not text or text.endswith("\n"))


@settings(deadline=None)
@given(
    text=ALPHABET,
    start=st.integers(min_value=-3, max_value=60),
    most=st.integers(min_value=-3, max_value=60),
    budget=st.integers(min_value=100, max_value=500),
)
def test_h24_what_is_read_is_within_its_budget(text: str, start: int, most: int, budget: int) -> None:
    for counter in (O200K, LETTERS):
        shown = read_lines(StoredResult(reference=REFERENCE, text=text), start, most, budget, counter)
        assert counter.count(shown) <= budget
        heading, _, rest = shown.partition("\n")
        if heading.startswith("["):
            assert rest in text


def test_h24_every_place_of_one_endless_line_can_be_read() -> None:
    text = ", ".join(f"item {i}" for i in range(5_000))
    stored = StoredResult(reference=REFERENCE, text=text)
    assert lines_read(stored, 1) == text


@pytest.mark.parametrize(
    ("start", "most", "expected"),
    [
        pytest.param(1, 2, "[lines 1 to 2 of 4; go on with start_line 3]\none\ntwo", id="the first"),
        pytest.param(3, 9, "[lines 3 to 4 of 4]\nthree\nfour", id="the last"),
        pytest.param(0, 0, "[lines 1 to 1 of 4; go on with start_line 2]\none", id="less than one"),
        pytest.param(5, 1, "The result has 4 lines; there is none with the number 5.", id="beyond the end"),
    ],
)
def test_h24_lines_are_numbered_from_one(start: int, most: int, expected: str) -> None:
    stored = StoredResult(reference=REFERENCE, text="one\ntwo\nthree\nfour\n")
    assert read_lines(stored, start, most, 200, O200K) == expected


def test_h24_a_result_without_text_says_so() -> None:
    assert read_lines(StoredResult(reference=REFERENCE, text=" "), 1, 1, 200, O200K) == "The result holds no text."
