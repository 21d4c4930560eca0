"""What becomes of documents that repeat each other when not everything fits."""

from __future__ import annotations

import pytest

from ctxopt_core import ContextBudget, ContextRequest, Shares, counter_for, fit
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import Packing, pack_documents
from ctxopt_core.documents.policy import DocumentPolicy

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
QUERY = "Who drained the upper pipe of the kiln?"
KILN = (
    "The north kiln cracked in March after the long frost. Nobody had drained the upper pipe. Four potters carried "
    "the bricks out before noon and stacked them by the gate. A new arch was built in April."
)
VERSION = KILN.replace("Four", "Nine")
FIRST, SECOND, THIRD, LAST = (f"{sentence.rstrip('.')}." for sentence in KILN.split(". "))
SNOW = "Snow fell on the harbour road for nine days and all the carts stood still until the late thaw came."
LAMPS = "Brass lamps hang on the old bridge and a lamplighter polishes forty of them before winter sets in."
LEFT, RIGHT = f"{FIRST} {SECOND}", f"{SECOND} {THIRD}"
END = f"{THIRD} {LAST}"
SELECTIONS = ("auto", "score", "passages", "density", "optimal")
by_any_selection = pytest.mark.parametrize("selection", SELECTIONS)


def words(text: str) -> int:
    return len(text.split())


def chunk(text: str, score: float | None = None, source: str | None = "kiln.md", name: str | None = None) -> Document:
    return Document(text=text, score=score, source=source, id=name)


def pack(documents, budget, query="", **policy) -> Packing:
    return pack_documents(documents, budget, WORDS, query=query, policy=DocumentPolicy(**policy))


def kept_text(packing: Packing, documents) -> str:
    return "\n\n".join(packing.texts.get(index, documents[index].text) for index in packing.kept)


@by_any_selection
@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(chunk(KILN, name="kiln"), chunk(VERSION, name="kiln"), id="two-versions-of-one-id"),
        pytest.param(chunk(KILN), chunk(KILN, source="copy.md"), id="the-same-text"),
        pytest.param(chunk(KILN), chunk(f" {KILN.upper().replace(' ', '  ')}\n"), id="but-for-blanks-and-case"),
        pytest.param(chunk(KILN), chunk("ＦＯＵＲ　ｐｏｔｔｅｒｓ carried the bricks out"), id="held-by-the-better"),
        pytest.param(chunk(KILN), chunk(f"{THIRD} {FIRST}"), id="sentences-in-another-order"),
    ],
)
def test_d7_the_best_scored_one_stands_for_the_others(selection, better, worse):
    documents = [
        Document(text=worse.text, id=worse.id, source=worse.source, score=0.3),
        Document(text=SNOW, score=0.2),
        Document(text=better.text, id=better.id, source=better.source, score=0.9),
        Document(text=LAMPS, score=0.1),
    ]
    budget = words(KILN) + words(SNOW) + 2

    packing = pack(documents, budget, query=QUERY, selection=selection)

    assert packing.dropped[0] == "duplicate"
    assert 2 in packing.kept
    assert packing.tokens <= budget
    assert 0 not in packing.ranking
    assert set(packing.dropped.values()) <= {"duplicate", "budget"}


def test_d7_with_distances_the_nearest_one_is_kept():
    documents = [chunk(KILN, 0.9), chunk(KILN, 0.2), chunk(SNOW, 0.5), chunk(LAMPS, 0.6)]

    packing = pack(documents, 60, score_order="lower", selection="score", passages=False)

    assert packing.kept == (1, 2)
    assert packing.dropped == {0: "duplicate", 3: "budget"}


def test_d7_of_one_id_the_best_scored_one_is_kept_whatever_it_says():
    documents = [chunk(FIRST, 0.4, name="kiln"), chunk(THIRD, 0.5, name="kiln"), chunk(SNOW, 0.3), chunk(LAMPS, 0.2)]

    packing = pack(documents, 40, selection="score", passages=False)

    assert packing.kept == (1, 2)
    assert packing.dropped == {0: "duplicate", 3: "budget"}


@pytest.mark.parametrize("selection", ["score", "optimal"])
def test_d7_a_better_one_inside_a_kept_one_is_not_repeated(selection):
    documents = [chunk(THIRD, 0.9), chunk(KILN, 0.8), chunk(SNOW, 0.3), chunk(LAMPS, 0.1)]
    budget = words(THIRD) + words(KILN) + 1

    packing = pack(documents, budget, selection=selection, passages=False)

    assert packing.kept == (1,)
    assert packing.dropped == {0: "duplicate", 2: "budget", 3: "budget"}


def test_d7_a_better_one_inside_one_that_does_not_fit_is_kept():
    documents = [chunk(THIRD, 0.9), chunk(KILN, 0.8), chunk(SNOW, 0.3)]

    packing = pack(documents, words(THIRD) + words(SNOW), selection="score", passages=False)

    assert packing.kept == (0, 2)
    assert packing.dropped == {1: "budget"}


@by_any_selection
def test_d7_the_room_of_duplicates_goes_to_others(selection):
    documents = [chunk(KILN, 0.9), *(chunk(KILN, 0.8) for _ in range(20)), chunk(SNOW, 0.2), chunk(LAMPS, 0.1)]

    packing = pack(documents, words(f"{KILN} {SNOW} {LAMPS}"), query=QUERY, selection=selection)

    assert packing.kept == packing.whole == (0, 21, 22)
    assert packing.dropped == dict.fromkeys(range(1, 21), "duplicate")
    assert packing.selection is None


@by_any_selection
def test_d7_nothing_is_dropped_or_stitched_when_everything_fits(selection):
    documents = [chunk(KILN, 0.9), chunk(KILN, 0.8), chunk(LEFT, 0.7), chunk(RIGHT, 0.6)]

    packing = pack(documents, words(f"{KILN} {KILN} {LEFT} {RIGHT}"), query=QUERY, selection=selection)

    assert packing.kept == packing.whole == (0, 1, 2, 3)
    assert packing.dropped == {}


@pytest.mark.parametrize("selection", ["score", "density", "optimal"])
def test_d7_overlapping_neighbors_are_stitched(selection):
    documents = [chunk(RIGHT, 0.9), chunk(SNOW, 0.2), chunk(LEFT, 0.8), chunk(LAMPS, 0.1)]
    budget = words(f"{RIGHT} {LEFT}")

    packing = pack(documents, budget, selection=selection, passages=False)

    assert packing.kept == (2, 0)
    assert packing.texts == {0: THIRD}
    assert packing.tokens == words(f"{LEFT} {THIRD}") == budget - words(SECOND)
    assert packing.dropped == {1: "budget", 3: "budget"}


def test_d7_the_room_that_stitching_frees_is_used():
    documents = [chunk(RIGHT, 0.9), chunk(LEFT, 0.8), chunk(SNOW, 0.2), chunk(LAMPS, 0.1)]

    packing = pack(documents, words(f"{RIGHT} {LEFT} {SNOW}") - words(SECOND), selection="score", passages=False)

    assert packing.kept == (1, 0, 2)
    assert packing.texts == {0: THIRD}


@pytest.mark.parametrize(
    ("order", "kept"),
    [
        pytest.param("score", (0, 3, 1, 2, 5), id="score"),
        pytest.param("original", (0, 3, 1, 2, 5), id="original"),
        pytest.param("edges", (0, 3, 1, 5, 2), id="edges"),
    ],
)
def test_d7_a_chain_is_read_in_one_piece(order, kept):
    documents = [
        *(chunk(LEFT, 0.9), chunk(END, 0.7), chunk(SNOW, 0.2), chunk(RIGHT, 0.8)),
        *(chunk(f"{LAMPS} {SNOW} Nobody came.", 0.15), chunk("Bowls stand in the yard.", 0.1)),
    ]
    budget = words(f"{KILN} {SNOW}") + 5

    packing = pack(documents, budget, reading_order=order, selection="score", passages=False)

    assert packing.kept == kept
    assert packing.texts == {3: THIRD, 1: LAST}
    assert packing.tokens == budget
    assert KILN.split() == kept_text(packing, documents).split()[: words(KILN)]


@pytest.mark.parametrize(
    ("left", "right"),
    [pytest.param("a.md", "b.md", id="two-sources"), pytest.param(None, None, id="no-source")],
)
def test_d7_only_chunks_of_one_known_source_are_stitched(left, right):
    documents = [chunk(LEFT, 0.9, left), chunk(RIGHT, 0.8, right), chunk(SNOW, 0.2)]

    packing = pack(documents, words(f"{LEFT} {RIGHT}"), selection="score", passages=False)

    assert packing.kept == packing.whole == (0, 1)


def test_d7_a_sentence_of_two_chunks_is_chosen_once():
    ends = "Nobody had drained the upper pipe of it when the clear nights of February came."
    tail = "The glaze was mixed from ash and feldspar, as every year, and its color was pale."
    documents = [chunk(f"{SNOW} {FIRST} {ends}", 0.9), chunk(f"{FIRST} {ends} {tail} {LAMPS}", 0.8), chunk(LAMPS, 0.7)]
    query = "Which kiln cracked in March after the frost, and who drained the upper pipe?"

    packing = pack(documents, 55, query=query, selection="passages")

    assert kept_text(packing, documents).count(FIRST) == 1
    assert kept_text(packing, documents).count(ends) == 1
    assert packing.tokens <= 55


@pytest.mark.parametrize(("budget", "led_up"), [(20, False), (80, True)], ids=["gap", "read-on"])
def test_d7_a_stitched_passage_marks_its_start_unless_the_chunk_before_leads_up_to_it(budget, led_up):
    shared = "Bowls and jugs stood along the wall of the yard for all of that long winter."
    answer = "Marhold of Tiefenau built the orchard kiln in the second spring."
    documents = [chunk(f"{SNOW} {shared}", 0.1), chunk(f"{shared} {answer} {LAMPS}", 0.9)]

    packing = pack(documents, budget, query="Who was Marhold, who built the orchard kiln?", selection="passages")
    text = packing.texts[1]

    assert answer in text
    assert shared not in text
    assert text.startswith("[...]") is not led_up
    assert (0 in packing.kept) is led_up
    assert packing.tokens <= budget


def test_d7_a_million_like_characters_are_compared_in_time():
    documents = [chunk("ab" * 50_000, 1.0 - number / 9) for number in range(4)] + [chunk(KILN, 0.1)]

    packing = pack_documents(documents, 60, counter_for("o200k_base"), query="Which kiln cracked?")

    assert [packing.dropped[index] for index in (1, 2, 3)] == ["duplicate"] * 3
    assert 4 in packing.kept


def test_d7_the_report_says_which_documents_were_duplicates():
    documents = [
        chunk(VERSION, 0.4, name="kiln"),
        chunk(KILN, 0.9, name="kiln"),
        chunk(f"{KILN}\n", 0.3, name="copy"),
        chunk(THIRD, 0.2, name="part"),
        chunk(SNOW, 0.1, name="snow"),
        chunk(" ", 0.8, name="blank"),
    ]
    request = ContextRequest(query="kiln", documents=documents)
    budget = ContextBudget(max_input_tokens=60, shares=Shares(system=0, query=20, documents=80, history=0))

    fitted = fit(request, budget, counter=WORDS, documents=DocumentPolicy(passages=False))

    reasons = [(row.id, row.reason) for row in fitted.report.dropped_documents]
    assert list(fitted.document_texts()) == [KILN]
    assert reasons == [
        ("kiln", "duplicate"),
        ("copy", "duplicate"),
        ("part", "duplicate"),
        ("snow", "budget"),
        ("blank", "empty"),
    ]


def test_d7_the_report_counts_a_stitched_document_as_kept_in_part():
    documents = [chunk(LEFT, 0.9, name="left"), chunk(RIGHT, 0.8, name="right"), chunk(f"{SNOW} {LAMPS}", 0.1)]
    request = ContextRequest(query="kiln", documents=documents)

    fitted = fit(
        request,
        ContextBudget(max_input_tokens=words(f"{LEFT} {RIGHT}") + 12),
        counter=WORDS,
        documents=DocumentPolicy(passages=False),
    )

    assert "\n\n".join(fitted.document_texts()) == f"{LEFT}\n\n{THIRD}"
    assert [row.state for row in fitted.report.documents] == ["kept", "partial", "dropped"]
