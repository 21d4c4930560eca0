"""Which documents are redundant beside better ones."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core.documents.document import Document
from ctxopt_core.documents.duplicates import comparable, contained, duplicates
from hostile_text import hostile_text

KILN = (
    "The north kiln cracked in March after the frost. Nobody had drained the upper pipe. Four potters carried the "
    "bricks out before noon and stacked them by the gate. A new arch was built in April."
)
VERSION = KILN.replace("Four", "Nine")
FIRST, SECOND, THIRD, LAST = (sentence.rstrip(".") + "." for sentence in KILN.split(". "))
MORE = (
    "The glaze was mixed from ash and feldspar, as every year. Its color is a pale green that turns gray in thick "
    "layers. Buyers from the coast ask for it by the name of the village. The old recipe hangs beside the door, but "
    "nobody follows it any more, because the ash of the mill is finer than the ash of the bakery. Every autumn the "
    "cups are counted, packed in straw and taken down to the harbour. What is left goes to the market on the last "
    "Sunday before winter."
)
LONG = f"{KILN} {MORE} The wheel stands still until spring."
ASH = (
    "木灰の釉薬は毎年四月に調合され、薄い緑色になる。村の人はそれを海の色と呼んでいる。北の窯は三月に割れた。"
    "新しいアーチは翌月に築かれた。秋には茶碗を数え、藁に包んで港まで運ぶ。残りは冬の前の市で売られる。"
)
RNG_WORDS = [f"{a}{b}{c}" for a in ("ka", "lo", "mi", "tu") for b in ("ren", "sol", "pek", "dim") for c in "aeiou"]


def docs(*texts):
    return [Document(text=text) for text in texts]


def found(*documents):
    return duplicates(documents, range(len(documents)))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(KILN, KILN, id="same-text"),
        pytest.param("The  Kiln\ncracked", " the kiln cracked\n", id="blanks-and-case"),
        pytest.param("the kiln cracked", "Ｔｈｅ ｋｉｌｎ\u3000cracked", id="nfkc"),
        pytest.param("Straße\u2028am Ofen", "STRASSE AM OFEN", id="case-folding"),
        pytest.param("the kiln cracked", "The kiln cracked.", id="final-punctuation"),
        pytest.param(KILN, FIRST, id="contained-at-the-start"),
        pytest.param(KILN, SECOND, id="contained-in-the-middle"),
        pytest.param(KILN, LAST, id="contained-at-the-end"),
        pytest.param(KILN, "after the FROST", id="three-words"),
        pytest.param("He said (after the frost) that it broke.", "after the frost", id="in-brackets"),
        pytest.param("a warehouse, then a ware house", "house", id="second-place-is-a-word"),
        pytest.param(ASH, "北の窯は三月に割れた。", id="japanese"),
        pytest.param(ASH, "緑色になる", id="japanese-phrase"),
        pytest.param("ตะเกียงดวงนี้แขวนอยู่หน้าบ้าน", "ดวงนี้แขวนอยู่", id="thai"),
        pytest.param("a" * 500, "a" * 500, id="monotonous"),
    ],
)
def test_d7_same_or_contained_text_is_redundant(better, worse):
    assert found(*docs(better, "something else", worse)) == {2: 0}


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param("the price is 10.5 francs", "the price is 10", id="number-cut-at-its-point"),
        pytest.param("minus -10 degrees", "10 degrees", id="sign"),
        pytest.param("about $10 a day", "10 a day", id="currency"),
        pytest.param("well-known facts", "known facts", id="hyphen"),
        pytest.param("the potter's wheel", "the potter", id="apostrophe"),
        pytest.param("concatenate", "cat", id="inside-a-word"),
        pytest.param("価格は210円です", "10円です", id="digits-before-japanese"),
        pytest.param("価格は三十円です", "十円です", id="han-numerals"),
        pytest.param(FIRST, KILN, id="better-one-is-shorter"),
        pytest.param("a" * 500, "a" * 499, id="monotonous"),
        pytest.param(KILN, "— !", id="no-words"),
        pytest.param(KILN, "", id="blank"),
        pytest.param("", " \n", id="both-blank"),
    ],
)
def test_d7_different_text_is_kept(better, worse):
    assert found(*docs(better, worse)) == {}


@pytest.mark.parametrize(
    "worse",
    [
        pytest.param(f"{FIRST} {THIRD} {LAST} {MORE}", id="a-sentence-left-out"),
        pytest.param(f"{MORE} {KILN}", id="another-order"),
        pytest.param(f"{KILN} {MORE} {FIRST}", id="a-sentence-twice"),
        pytest.param(
            f"{KILN} {MORE}".replace("bricks", '"bricks"').replace("winter.", "winter!"), id="other-punctuation"
        ),
        pytest.param(KILN.replace(". ", "; "), id="short-text-with-other-punctuation"),
    ],
)
def test_d7_near_duplicate_is_redundant(worse):
    assert found(*docs(LONG, worse)) == {1: 0}


def test_d7_near_duplicate_without_blanks():
    wool = (
        "羊は丘の上で草を食べる。毛は夏の初めに刈られ、川で洗われる。糸は家ごとに紡がれて染められる。布は町へ送られる。"
    )

    assert found(*docs(ASH + wool, wool + ASH)) == {1: 0}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("Four", "Nine", id="number-word"),
        pytest.param("March", "June", id="name"),
        pytest.param("Nobody had", "Nobody had not", id="negation"),
        pytest.param("upper", "lower", id="plain-word"),
        pytest.param("north kiln cracked", "kiln cracked north", id="moved-word"),
        pytest.param("April.", "April. It cost 12 francs.", id="one-more-sentence"),
        pytest.param("The north", "Then the north", id="one-more-word-before"),
    ],
)
def test_d7_a_version_with_something_of_its_own_is_kept(old, new):
    worse = f"{KILN} {MORE}".replace(old, new, 1)

    assert worse.count(new) == 1
    assert found(*docs(LONG, worse)) == {}


def test_d7_versions_with_swapped_numbers_are_both_kept():
    better = f"The cup costs 10 francs and the bowl 12 francs. {MORE}"
    worse = f"The cup costs 12 francs and the bowl 10 francs. {MORE}"

    assert found(*docs(better, worse)) == {}


def test_d7_answers_stay_with_their_questions():
    better = "Was the north kiln safe in March? Yes. Was the south kiln safe in March? No."
    worse = "Was the north kiln safe in March? No. Was the south kiln safe in March? Yes."

    assert found(*docs(f"{better} {MORE}", f"{worse} {MORE}")) == {}
    assert found(*docs(f"{better} {MORE}", f"{MORE} {better}")) == {1: 0}


def test_d7_a_version_with_another_japanese_number_is_kept():
    assert found(*docs(ASH, ASH.replace("三月", "五月"))) == {}


@pytest.mark.parametrize(
    ("ids", "worse", "redundant"),
    [
        pytest.param(("a", "a"), KILN, True, id="same-id-same-text"),
        pytest.param(("a", "b"), KILN, True, id="other-id-same-text"),
        pytest.param(("a", "a"), VERSION, True, id="same-id-another-version"),
        pytest.param(("a", "b"), VERSION, False, id="other-id-another-version"),
        pytest.param((None, None), VERSION, False, id="no-id-another-version"),
        pytest.param(("a", "a"), "Glaze of ash and feldspar is green.", True, id="same-id-another-text"),
        pytest.param(("a", "a"), f"{THIRD} {LAST} {MORE}", True, id="same-id-overlapping-text"),
        pytest.param(("a", "a"), "Ash", True, id="same-id-one-word"),
    ],
)
def test_d7_same_id(ids, worse, redundant):
    documents = [Document(text=KILN, id=ids[0]), Document(text=worse, id=ids[1])]

    assert found(*documents) == ({1: 0} if redundant else {})


def test_d7_the_best_one_stands_for_all_of_them():
    documents = docs(SECOND, FIRST, KILN, FIRST, LONG)

    assert duplicates(documents, [4, 3, 2, 1, 0]) == {3: 4, 2: 4, 1: 4, 0: 4}
    assert duplicates(documents, [1, 0, 3, 2, 4]) == {3: 1}
    assert duplicates(documents, [2, 4]) == {}


def test_d7_what_only_a_redundant_one_holds_is_kept():
    documents = [Document(text=KILN, id="a"), Document(text=VERSION, id="a"), Document(text="Nine potters carried")]

    assert found(*documents) == {1: 0}


def test_d7_contained_is_found_whichever_is_better():
    documents = docs(SECOND, KILN, VERSION, SECOND.upper(), "else", LONG)

    assert contained(documents, range(6)) == {0: 5, 1: 5, 3: 5}
    assert contained(documents, [3, 0]) == {0: 3}
    assert contained(documents, [0, 2]) == {0: 2}
    assert contained(docs("ash", "a flash of fresh ash"), [0, 1]) == {0: 1}


def words(seed, count):
    rng = random.Random(seed)
    return [rng.choice(RNG_WORDS) for _ in range(count)]


@pytest.mark.parametrize(("size", "part"), [(200, 60), (40, 12), (12, 5)])
def test_d7_slices_are_found_among_hundreds(size, part):
    wholes = [words(number, size) for number in range(150)]
    parts = [whole[number % (size - part) :][:part] for number, whole in enumerate(wholes)]
    documents = docs(*map(" ".join, wholes + parts))

    assert duplicates(documents, range(300)) == {150 + number: number for number in range(150)}


def test_d7_slices_without_blanks_are_found_among_hundreds():
    rng = random.Random(3)
    wholes = [
        "".join(rng.choice("窯割三月北新築翌調合薄緑毎年灰釉のにはをとで") for _ in range(200)) for _ in range(150)
    ]
    documents = docs(*wholes, *(whole[number % 100 :][:60] for number, whole in enumerate(wholes)))

    assert duplicates(documents, range(300)) == {150 + number: number for number in range(150)}


def test_monotonous_texts_take_bounded_time():
    start = time.process_time()

    assert found(*docs(*("a" * (1_400 - number) for number in range(400)))) == {}
    assert time.process_time() - start < 10


PHRASES = st.lists(st.sampled_from(["kiln", "Arch", "in", "10", "10.5", "窯が", "ash,", "a"]), max_size=8).map(" ".join)
ROWS = st.lists(st.tuples(PHRASES | hostile_text(3), st.sampled_from([None, "x", "y"])), max_size=8)


@settings(deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_only_rank_decides_and_representatives_are_kept(rows, rng):
    documents = [Document(text=text, id=identity) for text, identity in rows]
    shuffled = list(range(len(rows)))
    rng.shuffle(shuffled)
    result = duplicates(documents, range(len(rows)))
    moved = [documents[index] for index in shuffled]
    order = [shuffled.index(index) for index in range(len(rows))]

    assert not set(result) & set(result.values())
    assert all(better < worse for worse, better in result.items())
    assert {shuffled[a]: shuffled[b] for a, b in duplicates(moved, order).items()} == result
    kept = [index for index in range(len(rows)) if index not in result]
    assert duplicates(documents, kept) == {}


@settings(deadline=None)
@given(st.lists(PHRASES, max_size=8))
def test_what_a_better_kept_one_holds_between_blanks_is_redundant(texts):
    result = duplicates(docs(*texts), range(len(texts)))
    padded = [f" {comparable(text)} " for text in texts]

    for worse, text in enumerate(padded):
        if text.strip() and any(text in padded[better] for better in range(worse) if better not in result):
            assert worse in result


@given(hostile_text(6) | st.text())
def test_comparable_form_has_single_blanks(text):
    plain = comparable(text)

    assert plain == " ".join(plain.split())
    assert bool(plain) == bool(text.strip())
    assert comparable(f"\n{text}\t ") == plain
