"""What documents contribute that are not kept whole."""

from __future__ import annotations

import time

import pytest

from answers_in_scripts import ANSWERED
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import pack_documents
from ctxopt_core.documents.passage_units import read_units
from ctxopt_core.documents.policy import DocumentPolicy
from shape_rows import FAMILY, SCRIPTS

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
COUNTER = TiktokenCounter()
QUERY = "Which glaze cracked the kiln?"
ANSWER = "The kiln at the orchard cracked because its glaze was damp."
MORE = "The damp glaze had cracked on every other kiln as well."
GAP = " [...] "
SELECTIONS = ("auto", "score", "passages", "density", "optimal")


def sentence(number: int) -> str:
    return f"Sentence number {number} tells of lanterns, brass and snow."


def prose(*numbers: int) -> str:
    return " ".join(map(sentence, numbers))


def pack(texts, budget, query=QUERY, counter=WORDS, **policy):
    documents = [Document(text=text, score=1.0 - number / 100) for number, text in enumerate(texts)]
    return pack_documents(documents, budget, counter, query=query, policy=DocumentPolicy(**policy))


def test_d6_the_best_document_gives_the_passage_that_answers():
    text = f"{prose(1, 2, 3)} {ANSWER} {prose(4, 5, 6)}"

    packing = pack([text, sentence(7), sentence(8)], 26, selection="score")

    assert packing.kept == (0, 1)
    assert packing.texts == {0: f"[...] {ANSWER} [...]"}
    assert packing.partial == (0,)
    assert packing.tokens == 22


@pytest.mark.parametrize("selection", SELECTIONS)
def test_d6_the_best_document_is_not_lost_whatever_the_selection(selection):
    packing = pack([f"{prose(1, 2, 3)} {ANSWER} {prose(4, 5, 6)}"], 26, selection=selection)

    assert ANSWER in packing.texts[0]
    assert packing.texts[0].endswith(" [...]")
    assert packing.tokens <= 26


@pytest.mark.parametrize("selection", [each for each in SELECTIONS if each != "passages"])
def test_d6_the_best_document_is_skipped_and_reported_without_passages(selection):
    packing = pack([prose(*range(11, 20)), sentence(7)], 20, passages=False, selection=selection)

    assert packing.kept == (1,)
    assert packing.dropped == {0: "budget"}
    assert packing.notable_drops == (0,)


def test_d6_it_is_not_lost_to_smaller_ones_that_hold_nothing_of_the_query():
    texts = [f"{prose(1, 2, 3)} {ANSWER}", *(f"Shelf {n} has nine bowls." for n in range(50))]

    by_score, by_sentence = (pack(texts, 30, selection=each) for each in ("score", "passages"))

    assert ANSWER in by_score.texts[0]
    assert by_score.whole == (1, 2, 3)
    assert ANSWER in by_sentence.texts[0]


def test_d6_without_a_query_its_head_is_kept():
    packing = pack([prose(1, 2, 3, 4)], 20, query="")

    assert packing.texts == {0: f"{prose(1, 2)} [...]"}
    assert packing.tokens == 19


def test_d6_a_query_that_matches_nothing_keeps_the_head_too():
    assert pack([prose(1, 2, 3, 4)], 20, query="unrelated").texts == {0: f"{prose(1, 2)} [...]"}


@pytest.mark.parametrize("budget", range(1, 9))
def test_d6_never_nothing_when_there_was_something(budget):
    packing = pack([prose(1, 2), sentence(3)], budget)

    assert packing.kept == (0,)
    assert 1 <= packing.tokens <= budget
    assert packing.texts[0].removesuffix(GAP.rstrip()) in prose(1, 2)


def test_d6_a_cut_at_a_word_starts_where_the_query_is():
    packing = pack([f"{prose(1, 2)} {ANSWER}"], 7)

    assert packing.texts == {0: "[...] The kiln at the orchard [...]"}


def test_d15_a_passage_keeps_the_order_of_the_document_and_marks_its_gaps():
    text = f"{ANSWER} {prose(1, 2, 3, 4, 5, 6)} {MORE}"

    packing = pack([text], 30)

    assert packing.texts == {0: f"{ANSWER}{GAP}{MORE}"}


def test_d15_the_neighbors_of_a_hit_come_along():
    text = f"{prose(1, 2, 3, 4)} {ANSWER} {prose(5, 6, 7, 8)}"

    with_one, with_two = pack([text], 31), pack([text], 40)

    assert with_one.texts == {0: f"[...] {sentence(4)} {ANSWER} {sentence(5)} [...]"}
    assert with_two.texts == {0: f"{sentence(1)}{GAP}{sentence(4)} {ANSWER} {sentence(5)} [...]"}


def test_the_marker_is_the_policys():
    packing = pack([f"{prose(1, 2, 3)} {ANSWER} {prose(4)}"], 14, gap_marker=" (cut) ")

    assert packing.texts == {0: f"(cut) {ANSWER} (cut)"}


def test_what_whole_documents_leave_goes_to_passages_of_the_others():
    others = f"{prose(4, 5)} {ANSWER} {prose(6, 7)}"

    packing = pack([f"{prose(1, 2)} A kiln cracked.", others], 36, selection="score")

    assert packing.whole == (0,)
    assert packing.texts == {1: f"[...] {ANSWER} [...]"}


def test_d15_the_sentences_that_answer_come_from_several_documents():
    texts = [f"{prose(1, 2)} {ANSWER} {prose(3)}", prose(4, 5), f"{prose(6)} {MORE} {prose(7, 8)}", prose(9, 10, 11)]

    packing = pack(texts, 44, selection="passages")

    assert packing.kept == (0, 2)
    assert ANSWER in packing.texts[0]
    assert MORE in packing.texts[2]


def test_d15_the_lowest_document_gives_the_sentence_that_answers():
    texts = [*(prose(number, number + 1) for number in range(1, 60, 2)), f"{prose(70, 71)} {ANSWER} {prose(72)}"]

    packing = pack(texts, 40, selection="passages")

    assert 30 in packing.kept
    assert ANSWER in packing.texts.get(30, texts[30])


@pytest.mark.parametrize(
    ("builder", "follows"),
    [
        pytest.param("Wenzel Marhold", True, id="named-in-the-first"),
        pytest.param("Ossip Brandt", False, id="not-named"),
    ],
)
def test_d15_a_second_hop_comes_in_by_the_words_of_the_first(builder, follows):
    first = f"The kiln at the orchard was built by the potter {builder}."
    second = "Marhold, whom everyone called Wenzel, was a child of Tiefenau."
    others = [prose(number, number + 1, number + 2) for number in range(3, 15, 3)]
    query = "Who built the orchard kiln, and in which town did he grow up?"

    packing = pack([f"{first} {prose(1, 2)}", *others, f"{second} {prose(20, 21)}"], 60, query, selection="passages")

    assert 0 in packing.whole
    assert (5 in packing.kept) is follows
    assert not follows or second in packing.texts.get(5, second)


@pytest.mark.parametrize("selection", ["passages", "score"])
@pytest.mark.parametrize("script", ANSWERED)
def test_d15_the_answer_survives_in_every_script(script, selection):
    asked = ANSWERED[script]
    texts = [*(asked.text(20 * number, 20 * number + 12) for number in range(5)), asked.text(100, 112, answer_at=6)]
    budget = 3 * COUNTER.count(asked.answer) + 30

    packing = pack(texts, budget, asked.question, COUNTER, selection=selection)

    parts = list(filter(None, map(str.strip, packing.texts[5].split(GAP.strip()))))
    positions = [texts[5].find(part) for part in parts]
    assert any(asked.answer in part for part in parts)
    assert positions == sorted(positions)
    assert positions[0] >= 0
    assert packing.tokens <= budget


def test_d10_passages_count_as_documents():
    texts = [prose(1, 2, 3, 4), f"{prose(5, 6, 7)} {ANSWER}", sentence(8)]

    assert pack(texts, 40, selection="score", max_documents=1).kept == (0,)
    assert pack(texts, 40, selection="passages", max_documents=1).kept == (1,)
    assert len(pack(texts, 60, selection="score", max_documents=2).kept) == 2
    assert len(pack(texts, 60, selection="passages", max_documents=2).kept) == 2


def test_a_document_of_which_every_sentence_fits_is_whole():
    counter = CallableCounter(lambda text: len(text.split()) + 6 * text.count("\n\n"))
    texts = [prose(1), f"{ANSWER} {sentence(2)}"]

    packing = pack_documents([Document(text=text) for text in texts], 26, counter, query=QUERY)

    assert packing.partial in ((1,), ())
    assert packing.tokens <= 26


def test_a16_packing_the_result_again_changes_nothing():
    texts = [f"{prose(*range(9))} {ANSWER} {prose(9)}", prose(*range(20, 29)), sentence(30)]
    first = pack(texts, 120, counter=COUNTER)
    kept = [first.texts.get(index, texts[index]) for index in first.kept]

    again = pack(kept, 120, counter=COUNTER)

    assert again.whole == tuple(range(len(kept)))
    assert again.tokens == first.tokens


def units(text):
    return [text[unit.start : unit.stop] for unit in read_units(text, {}, 200_000)[0]]


def test_units_tile_the_text_and_take_the_white_space_before_them():
    text = f"  {sentence(1)}\n\n{sentence(2)} {sentence(3)}\n"

    assert units(text) == [sentence(1), f"\n\n{sentence(2)}", f" {sentence(3)}"]
    assert "".join(units(text)) == text.strip()


def test_short_sentences_are_joined_to_the_next_or_the_last_one():
    text = f"Notes\n{sentence(1)} So. Yes! {sentence(2)} No."

    assert units(text) == [f"Notes\n{sentence(1)}", f" So. Yes! {sentence(2)} No."]
    assert units("So. Yes.") == ["So. Yes."]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("lantern brass snow " * 200, id="words"),
        pytest.param(SCRIPTS["chinese"] * 100, id="chinese"),
        pytest.param(SCRIPTS["thai"] * 100, id="thai"),
        pytest.param(FAMILY * 400, id="emoji"),
        pytest.param("x" + " " * 5_000 + "y", id="blanks"),
        pytest.param("```\n" + "row = call(1)\n" * 200 + "```", id="code"),
    ],
)
def test_a_run_without_sentences_is_cut_into_fragments(text):
    found, _ = read_units(text, {}, 200_000)

    assert "".join(units(text)) == text.strip()
    assert len(found) > 1 or text[:2] == "x "
    assert max(unit.stop - unit.start for unit in found) <= 6_000
    assert not any("\u200d" in (text[unit.stop - 1], text[unit.stop : unit.stop + 1]) for unit in found[:-1])


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param(f"{sentence(1)[:-1]},\nand nobody knows why it was hung there. {sentence(2)}", 2, id="lower-case"),
        pytest.param(
            f"{sentence(1)[:-1]} and one more beside, as the\nMinistry of Works asked for. {sentence(2)}",
            2,
            id="long",
        ),
        pytest.param(f"* {sentence(1)[:-1]} and\n  another one.\n* {sentence(2)}", 2, id="list-item"),
        pytest.param(f"{sentence(1)}\nand {sentence(2)}", 2, id="ended-by-its-line"),
        pytest.param(f"{sentence(1)[:-1]}\n\nand {sentence(2)}", 2, id="paragraphs"),
    ],
)
def test_a_sentence_that_goes_on_in_the_next_line_is_one_unit(text, count):
    assert len(units(text)) == count


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_needle_is_found_in_the_middle_of_a_million_characters(script):
    half = SCRIPTS[script] * (500_000 // len(SCRIPTS[script]))
    document = Document(text=f"{half} Lamp ZK-402 is broken. {half}")
    start = time.process_time()

    packing = pack_documents([document], 200, COUNTER, query="Is lamp ZK-402 broken?")

    assert "ZK-402" in packing.texts[0]
    assert 100 <= packing.tokens <= 200
    assert time.process_time() - start < 10


def test_a_long_text_is_read_where_the_query_is_and_keeps_its_tiling():
    text = "\n\n".join(f"{sentence(number)} {'Bowls stand on the shelf beside it. ' * 50}" for number in range(100))
    found, terms = read_units(text, {"77": 1.0}, 10_000)

    assert "".join(text[unit.start : unit.stop] for unit in found) == text.strip()
    assert len(found) == len(terms)
    assert any("77" in unit_terms for unit_terms in terms)
    assert sum(unit.stop - unit.start for unit, unit_terms in zip(found, terms, strict=True) if unit_terms) <= 12_000
