"""Neighboring chunks of one source that overlap."""

from __future__ import annotations

import random
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core.documents.document import Document
from ctxopt_core.documents.overlaps import Stitch, _longest_border, overlap, stitch_plan
from drawn_examples import examples
from hostile_text import hostile_text

TEXT = (
    "The north kiln cracked in March after the frost. Nobody had drained the upper pipe. Four potters carried the "
    "bricks out before noon and stacked them by the gate. A new arch was built in April."
)
ASH = "木灰の釉薬は毎年四月に調合され、薄い緑色になる。北の窯は三月に割れた。新しいアーチは翌月に築かれた。"
A, B, C = TEXT[:84], TEXT[49:162], TEXT[110:]


def docs(*texts, source="book"):
    return [Document(text=text, source=source) for text in texts]


def plan(documents, indices=None):
    return stitch_plan(documents, range(len(documents)) if indices is None else indices)


def brute_force(left, right, least):
    end, start = left.rstrip(), right.strip()
    sizes = (size for size in range(len(start), least - 1, -1) if end.endswith(start[:size]))
    size = next(sizes, 0)
    return size + len(right) - len(right.lstrip()) if size else 0


@pytest.mark.parametrize(
    ("left", "right", "least", "size"),
    [
        pytest.param("one two three", "two three four", 4, 9, id="words"),
        pytest.param("one two three \n", "\n two three four", 4, 11, id="white-space-at-the-ends"),
        pytest.param("one two three", "three four", 6, 0, id="too-short"),
        pytest.param("one two three", "three four", 5, 5, id="just-long-enough"),
        pytest.param("one two", "one two three", 4, 7, id="whole-left"),
        pytest.param("one two three", "two three ", 4, 9, id="whole-right"),
        pytest.param("abcabc", "abcabcd", 2, 6, id="the-longest"),
        pytest.param("xabab", "ababab", 2, 4, id="not-the-first-place"),
        pytest.param("One Two", "one two", 2, 0, id="case-counts"),
        pytest.param("one  two", "one two", 2, 0, id="inner-white-space-counts"),
        pytest.param("", "one two", 1, 0, id="empty-left"),
        pytest.param("one two", " \n", 1, 0, id="blank-right"),
        pytest.param(ASH[:40], ASH[24:], 10, 16, id="japanese"),
    ],
)
def test_overlap(left, right, least, size):
    assert overlap(left, right, least) == size


SMALL = st.text("ab \n", max_size=60)


@settings(deadline=None, max_examples=examples(300))
@given(SMALL | hostile_text(3), SMALL, SMALL | hostile_text(3), st.integers(1, 4))
def test_overlap_is_that_of_its_definition(before, shared, after, least):
    left, right = before + shared, shared + after

    assert overlap(left, right, least) == brute_force(left, right, least)


@given(st.text("ab", min_size=1, max_size=40), st.text("ab", max_size=40))
def test_longest_border_is_that_of_its_definition(start, end):
    assert _longest_border(start, end) == max(size for size in range(len(start) + 1) if end.endswith(start[:size]))


@pytest.mark.parametrize(
    ("left", "right", "size"),
    [
        pytest.param("a" * 60_000 + "b", "a" * 60_000, 0, id="never"),
        pytest.param("b" + "a" * 60_000, "a" * 59_000 + "b", 59_000, id="late"),
        pytest.param("ab" * 30_000 + "c", "ab" * 30_000 + "d", 0, id="pairs"),
        pytest.param("b" + "a" * 50, "a" * 100, 50, id="short"),
    ],
)
def test_overlap_of_monotonous_texts_takes_linear_time(left, right, size):
    start = time.process_time()

    assert overlap(left, right) == size
    assert time.process_time() - start < 10


def test_d7_overlapping_neighbors_are_stitched():
    documents = docs(B, "The glaze is mixed from ash.", C, A)

    assert plan(documents) == ((Stitch(left=3, right=0, repeated=35), Stitch(left=0, right=2, repeated=52)),)
    assert A.rstrip() + " " + B[35:].rstrip() + " " + C[52:] == TEXT


@pytest.mark.parametrize(
    ("left", "right", "rest"),
    [
        pytest.param("the arch of the kiln cra", "arch of the kiln cracked.", "cracked.", id="word-cut-in-two"),
        pytest.param("so the arch of the kiln.", "\nthe arch of the kiln. \n It held.", "It held.", id="blanks-after"),
        pytest.param(ASH[:30], ASH[12:], ASH[30:], id="no-blanks"),
        pytest.param("x" * 40, "x" * 30 + "👩‍👩‍👧 and more", "👩‍👩‍👧 and more", id="no-word-border"),
    ],
)
def test_d7_what_follows_starts_with_a_whole_word(left, right, rest):
    ((stitch,),) = plan(docs(left, right))

    assert right[stitch.repeated :] == rest


@pytest.mark.parametrize(
    ("documents", "stitches"),
    [
        pytest.param(docs(A, B), 1, id="one-source"),
        pytest.param([*docs(A), *docs(B, source="other")], 0, id="two-sources"),
        pytest.param([*docs(A), *docs(B, source=None)], 0, id="one-without-source"),
        pytest.param(docs(TEXT[:120], TEXT[49:], source=None), 0, id="without-source"),
        pytest.param(docs(TEXT, B), 0, id="contained"),
        pytest.param(docs(TEXT, C), 0, id="contained-at-the-end"),
        pytest.param(docs(A, TEXT), 0, id="contained-at-the-start"),
        pytest.param(docs(A, A), 0, id="same-text"),
        pytest.param(docs("", " \n", A), 0, id="blank"),
        pytest.param([], 0, id="none"),
    ],
)
def test_d7_which_documents_are_stitched(documents, stitches):
    assert sum(map(len, plan(documents))) == stitches


def test_d7_only_the_given_documents_are_stitched():
    documents = docs(A, B, C, A)

    assert [(s.left, s.right) for chain in plan(documents, [2, 1]) for s in chain] == [(1, 2)]
    assert plan(documents, [0, 2]) == ()


def test_a_circle_is_not_closed():
    first, second = "the ash of the old mill ", "the straw of the harbour "
    chains = plan(docs(first + "is fine " + second, second + "is dry " + first))

    assert [len(chain) for chain in chains] == [1]


PARTS = st.lists(
    st.sampled_from(["aa ab ac ad ae af ag ", "ba bb bc bd be bf bg ", "x ", "灰釉窯薬毎年四月調合薄緑"]), max_size=4
)
ROWS = st.lists(st.tuples(PARTS.map("".join), st.sampled_from(["book", "book", None])), max_size=8)


@settings(deadline=None)
@given(ROWS)
def test_chains_are_disjoint_and_verbatim(rows):
    documents = [Document(text=text, source=source) for text, source in rows]
    chains = plan(documents)
    members = [[chain[0].left, *(stitch.right for stitch in chain)] for chain in chains]

    assert len({index for chain in members for index in chain}) == sum(map(len, members))
    for chain in chains:
        assert all(before.right == after.left for before, after in pairwise(chain))
        for stitch in chain:
            left, right = documents[stitch.left], documents[stitch.right]
            assert left.source == right.source
            assert right.text[: stitch.repeated].strip() in left.text
            assert right.text[stitch.repeated :].strip()


@pytest.mark.parametrize("count", [60, 200])
def test_d7_sliding_windows_are_put_together_again(count):
    rng = random.Random(7)
    letters = "bdfgklmnprst"
    words = ["".join(rng.choice(letters) + rng.choice("aeiou") for _ in range(3)) for _ in range(count * 40 + 80)]
    chunks = [" ".join(words[start * 40 : start * 40 + 120]) for start in range(count)]
    order = list(range(count))
    rng.shuffle(order)
    (chain,) = plan([Document(text=chunks[number], source="book") for number in order])

    texts = [chunks[order[chain[0].left]], *(chunks[order[stitch.right]][stitch.repeated :] for stitch in chain)]
    assert " ".join(texts) == " ".join(words)
