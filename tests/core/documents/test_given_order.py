"""What ranks documents: their scores, or the order in which they came; and what their attachments cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxopt_core import (
    Attachment,
    CallableCounter,
    ChatRenderer,
    ContextBudget,
    ContextRequest,
    Document,
    DocumentPolicy,
    fit,
    pack_documents,
)
from made_up_texts import text_of

CHARACTERS = CallableCounter(len)
WHOLE = DocumentPolicy(passages=False)
PICTURE = Attachment(kind="image", tokens=100)


def documents(*scores, **more):
    return [Document(text=f"Record {n} of the kiln.", score=score, **more) for n, score in enumerate(scores)]


def packed(given, budget, query="", **policy):
    return pack_documents(given, budget, CHARACTERS, query=query, policy=replace(WHOLE, **policy))


@pytest.mark.parametrize("scores", [(0.1, 0.9, 0.5), (None, 0.3, 0.2), (0.5, 0.5, 0.9), (None, None, None)])
def test_l3_documents_that_fit_stay_in_their_order(scores):
    packing = packed(documents(*scores), 200)

    assert packing.kept == packing.whole == (0, 1, 2)
    assert packing.notes == ()


def test_l3_documents_that_a_limit_of_the_user_leaves_stay_in_their_order():
    packing = packed(documents(0.6, 0.1, 0.9), 200, min_score=0.5)

    assert packing.kept == (0, 2)


@pytest.mark.parametrize(("order", "kept"), [("score", (1, 2, 0)), ("edges", (1, 0, 2)), ("original", (0, 1, 2))])
def test_l3_an_order_that_is_asked_for_is_made_even_where_all_fit(order, kept):
    assert packed(documents(0.1, 0.9, 0.5), 200, reading_order=order).kept == kept


@pytest.mark.parametrize("from_pipeline", [False, True])
def test_l4_only_the_order_of_a_pipeline_is_taken_for_the_ranking(from_pipeline):
    packing = packed(documents(0.1, 0.9, 0.5, 0.7, 0.3, from_pipeline=from_pipeline), 50)

    assert packing.kept == ((0, 1) if from_pipeline else (1, 3))
    assert len(packing.notes) == from_pipeline
    assert packing.cumulative_score == pytest.approx(1.0 if from_pipeline else 1.6)


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param((0.9, 0.7, 0.5, 0.3, 0.1), id="falling"),
        pytest.param((0.5, 0.5, 0.5, 0.5), id="equal"),
        pytest.param((0.9, 0.9, 0.5, 0.5), id="in-steps"),
        pytest.param((0.9, 0.5, 0.1, 0.3, 0.7), id="best-at-both-ends"),
        pytest.param((0.7, 0.3, 0.1, 0.5, 0.9), id="best-at-both-ends-mirrored"),
        pytest.param((None, 0.1, 0.9, 0.5), id="one-without-a-score"),
        pytest.param((None, None), id="none"),
        pytest.param((), id="nothing"),
    ],
)
@pytest.mark.parametrize("score_order", ["higher", "lower"])
def test_l4_an_order_with_another_explanation_is_no_ranking(scores, score_order):
    given = [None if score is None else score if score_order == "higher" else -score for score in scores]

    assert packed(documents(*given, from_pipeline=True), 30, score_order=score_order).notes == ()


@pytest.mark.parametrize("selection", ["auto", "score", "density", "optimal"])
@pytest.mark.parametrize("score_order", ["higher", "lower"])
def test_l4_the_given_order_ranks_whatever_the_scores_are(selection, score_order):
    packing = packed(documents(0.1, 0.9, None, 0.7), 24, selection=selection, ranking="given", score_order=score_order)

    assert packing.kept == (0,)


def test_l4_the_relevance_still_counts_beside_a_given_order():
    given = [Document(text=f"Record {n} of the {'kiln' if n == 2 else 'mill'}.") for n in range(6)]

    assert packed(given, 50, query="kiln", ranking="given").kept == (0, 2)


def test_l4_a_whole_request_says_what_ranked_its_documents():
    given = tuple(documents(0.1, 0.9, 0.5, 0.7, 0.3, from_pipeline=True))
    fitted = fit(ContextRequest(query="Why?", documents=given), ContextBudget(max_input_tokens=90), counter=CHARACTERS)

    assert 0 in fitted.documents.kept
    assert sum(note.startswith("the documents did not come") for note in fitted.report.notes) == 1


def test_l2_a_document_with_attachments_and_no_text_is_not_blank():
    given = [Document(text="", attachments=(PICTURE,)), Document(text=" "), *documents(0.5)]
    packing = packed(given, 200)

    assert packing.kept == (0, 2)
    assert packing.dropped == {1: "empty"}
    assert packing.tokens == 100 + len(given[2].text)
    assert packing.costs[0] == 100


@pytest.mark.parametrize("selection", ["auto", "score", "passages", "density", "optimal"])
@pytest.mark.parametrize("budget", [99, 100, 199, 200, 350])
def test_l2_attachments_are_kept_whole_or_not_at_all(selection, budget):
    given = [Document(text=None, score=0.9 - n / 10, attachments=(PICTURE,)) for n in range(4)]
    policy = DocumentPolicy(selection=selection)
    packing = pack_documents(given, budget, CHARACTERS, query="Which kiln cracked?", policy=policy)

    assert packing.kept == tuple(range(budget // 100))
    assert packing.tokens == 100 * len(packing.kept)


def test_l2_a_document_in_part_keeps_its_attachments_and_pays_for_them():
    long = Document(text=text_of("The kiln cracked.", 900), attachments=(PICTURE,))
    packing = pack_documents([long], 300, CHARACTERS, query="When did the kiln crack?")

    assert packing.partial == (0,)
    assert 100 + len(packing.texts[0]) == packing.tokens <= 300


def test_l2_documents_with_attachments_are_no_duplicates_of_their_texts():
    given = [Document(text="The kiln cracked.", attachments=(PICTURE,)) for _ in range(3)]
    given += [Document(text="The kiln cracked."), Document(text="The kiln cracked.")]

    assert packed(given, 260).dropped == {2: "budget", 4: "duplicate"}


def test_l2_a_request_with_attachments_in_documents_keeps_its_budget():
    given = tuple(Document(text=f"Figure {n}.", attachments=(PICTURE,)) for n in range(5))
    request = ContextRequest(query="Which kiln cracked?", documents=given)
    fitted = fit(request, ContextBudget(max_input_tokens=400), counter=CHARACTERS)

    assert len(fitted.documents.kept) == 3
    assert fitted.report.tokens_after <= 400
    assert fitted.report.document_tokens[0] == len("Figure 0.\n\n") + 100
    assert ChatRenderer().documents.separator == "\n\n"
