"""Overlapping chunks that are kept whole are read as one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.documents.document import Document
from ctxopt_core.documents.overlaps import Stitching

SENTENCES = tuple(f"Lantern {name} hangs at the old bridge near the harbour." for name in "ABCDEFGHIJ")


def chunks(*spans, source="lanterns.md") -> list[Document]:
    return [Document(text=" ".join(SENTENCES[start:stop]), source=source) for start, stop in spans]


def read(stitching: Stitching, documents, kept) -> str:
    return " ".join(stitching.texts.get(index, documents[index].text) for index in stitching.in_order(kept))


def test_d7_the_right_chunk_loses_what_it_repeats():
    documents = chunks((1, 3), (0, 2), (5, 7))

    stitching = Stitching.of(documents, {0, 1, 2}, (0, 1, 2))

    assert stitching.texts == {0: SENTENCES[2]}
    assert stitching.in_order((0, 1, 2)) == (1, 0, 2)
    assert stitching.in_order((2, 0, 1)) == (2, 1, 0)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)], ids=str)
def test_d7_a_chain_stands_where_its_first_member_stood(order):
    documents = [*chunks((2, 4), (0, 2), (1, 3)), Document(text="Snow fell.", source="snow.md")]

    stitching = Stitching.of(documents, {0, 1, 2, 3}, (*order, 3))

    assert stitching.in_order((3, *order)) == (3, 1, 2, 0)
    assert stitching.in_order((*order, 3)) == (1, 2, 0, 3)
    assert read(stitching, documents, order) == " ".join(SENTENCES[:4])


@pytest.mark.parametrize(
    ("whole", "source"),
    [
        pytest.param({0}, "lanterns.md", id="one-document"),
        pytest.param({0, 2}, "lanterns.md", id="the-neighbor-is-not-whole"),
        pytest.param({0, 1, 2}, None, id="no-source"),
        pytest.param({0, 1, 2}, "", id="blank-source"),
        pytest.param(set(), "lanterns.md", id="nothing"),
    ],
)
def test_d7_nothing_is_stitched(whole, source):
    stitching = Stitching.of(chunks((0, 2), (1, 3), (6, 8), source=source), whole, (0, 1, 2))

    assert stitching == Stitching()
    assert stitching.in_order((2, 0, 1)) == (2, 0, 1)


@given(st.permutations(range(4)), st.sets(st.integers(0, 3)))
def test_d7_the_same_documents_are_read_in_another_order(order, whole):
    documents = chunks((0, 3), (2, 5), (4, 7), (6, 9))

    stitching = Stitching.of(documents, whole, order)
    kept = [index for index in order if index in whole]

    assert sorted(stitching.in_order(kept)) == sorted(kept)
    assert stitching.texts.keys() <= whole
    for sentence in SENTENCES:
        assert read(stitching, documents, kept).count(sentence) <= 1
