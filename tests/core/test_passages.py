"""What a document that does not fit whole contributes."""

from __future__ import annotations

import time

import pytest

from ctxopt_core.document_policy import DocumentPolicy
from ctxopt_core.documents import pack_documents
from ctxopt_core.passage_units import read_units
from ctxopt_core.request import Document
from ctxopt_core.tokens import CallableCounter, TiktokenCounter
from shape_rows import FAMILY, SCRIPTS

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
COUNTER = TiktokenCounter()
QUERY = "Which glaze cracked the kiln?"
ANSWER = "The kiln at the orchard cracked because its glaze was damp."
GAP = " [...] "


def sentence(number: int) -> str:
    return f"Sentence number {number} tells of lanterns, brass and snow."


def prose(*numbers: int) -> str:
    return " ".join(map(sentence, numbers))


def pack(texts, budget, query=QUERY, counter=WORDS, **policy):
    documents = [Document(text=text, score=1.0 - number / 100) for number, text in enumerate(texts)]
    return pack_documents(documents, budget, counter, query=query, policy=DocumentPolicy(**policy))


def test_d6_the_best_document_gives_the_passage_that_answers():
    text = f"{prose(1, 2, 3)} {ANSWER} {prose(4, 5, 6)}"

    packing = pack([text, sentence(7), sentence(8)], 26)

    assert packing.kept == (0, 1)
    assert packing.texts == {0: f"[...] {ANSWER} [...]"}
    assert packing.partial == (0,)
    assert packing.tokens == 22


def test_d6_the_best_document_is_skipped_and_reported_without_passages():
    packing = pack([prose(*range(9)), sentence(7)], 20, passages=False)

    assert packing.kept == (1,)
    assert packing.dropped == {0: "budget"}
    assert packing.notable_drops == (0,)


def test_d6_it_is_not_lost_to_smaller_ones_that_hold_nothing_of_the_query():
    texts = [f"{prose(1, 2, 3)} {ANSWER}", *(f"Shelf {n} has nine bowls." for n in range(50))]

    packing = pack(texts, 30)

    assert ANSWER in packing.texts[0]
    assert len(packing.whole) >= 2


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


def test_a_passage_keeps_the_order_of_the_document_and_marks_its_gaps():
    text = f"{ANSWER} {prose(1, 2, 3, 4, 5, 6)} The damp glaze had cracked on every other kiln as well."

    packing = pack([text], 30)

    assert packing.texts == {0: f"{ANSWER}{GAP}The damp glaze had cracked on every other kiln as well."}


def test_the_neighbours_of_a_hit_come_along():
    text = f"{prose(1, 2, 3, 4)} {ANSWER} {prose(5, 6, 7, 8)}"

    packing = pack([text], 31)

    assert packing.texts == {0: f"[...] {sentence(4)} {ANSWER} {sentence(5)} [...]"}


def test_the_marker_is_the_policys():
    packing = pack([f"{prose(1, 2, 3)} {ANSWER} {prose(4)}"], 14, passage_marker=" (cut) ")

    assert packing.texts == {0: f"(cut) {ANSWER} (cut)"}


def test_what_whole_documents_leave_goes_to_passages_of_the_others():
    others = f"{prose(4, 5)} {ANSWER} {prose(6, 7)}"

    packing = pack([f"{prose(1, 2)} A kiln cracked.", others], 36)

    assert packing.whole == (0,)
    assert packing.texts == {1: f"[...] {ANSWER} [...]"}


def test_a_document_that_alone_holds_what_is_asked_pushes_out_a_lower_one():
    texts = [prose(1, 2), prose(3, 4), prose(5, 6), f"{prose(7, 8)} {ANSWER}"]

    packing = pack(texts, 60)

    assert packing.kept[0] == 0
    assert ANSWER in packing.texts[3]


@pytest.mark.parametrize(
    ("best", "kept"),
    [
        pytest.param(f"Which kiln is new? {sentence(1)}", (0,), id="it-holds-some-of-the-query"),
        pytest.param(f"The vase is new. {sentence(1)}", (1,), id="it-holds-nothing-and-the-other-most"),
    ],
)
def test_only_a_best_document_without_the_query_is_pushed_out(best, kept):
    assert pack([best, ANSWER], 15).kept == kept


def test_d10_passages_count_as_documents():
    texts = [prose(1, 2, 3, 4), f"{prose(5, 6, 7)} {ANSWER}", sentence(8)]

    assert len(pack(texts, 40, max_documents=1).kept) == 1
    assert pack(texts, 50, max_documents=1).kept == (0,)
    assert len(pack(texts, 60, max_documents=2).kept) == 2


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


def units(text, wanted=frozenset(), limit=200_000):
    return [text[unit.start : unit.stop] for unit in read_units(text, wanted, limit)[0]]


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
    found, _ = read_units(text, frozenset(), 200_000)

    assert "".join(units(text)) == text.strip()
    assert len(found) > 1 or text[:2] == "x "
    assert max(unit.stop - unit.start for unit in found) <= 6_000
    assert not any("\u200d" in (text[unit.stop - 1], text[unit.stop : unit.stop + 1]) for unit in found[:-1])


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_needle_is_found_in_the_middle_of_a_million_characters(script):
    half = SCRIPTS[script] * (500_000 // len(SCRIPTS[script]))
    document = Document(text=f"{half} Lamp ZK-402 is broken. {half}")
    start = time.process_time()

    packing = pack_documents([document], 200, COUNTER, query="Is lamp ZK-402 broken?")

    assert "ZK-402" in packing.texts[0]
    assert 100 <= packing.tokens <= 200
    assert time.process_time() - start < 2


def test_a_long_text_is_read_where_the_query_is_and_keeps_its_tiling():
    text = "\n\n".join(f"{sentence(number)} {'Bowls stand on the shelf beside it. ' * 50}" for number in range(100))
    found, terms = read_units(text, frozenset({"77"}), 10_000)

    assert "".join(text[unit.start : unit.stop] for unit in found) == text.strip()
    assert len(found) == len(terms)
    assert any("77" in unit_terms for unit_terms in terms)
    assert sum(unit.stop - unit.start for unit, unit_terms in zip(found, terms, strict=True) if unit_terms) <= 12_000
