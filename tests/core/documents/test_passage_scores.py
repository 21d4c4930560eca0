"""What the sentences of documents are worth to a query."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core.documents.partial_document import PartialDocument
from ctxopt_core.documents.passage_units import Unit
from ctxopt_core.documents.ranking import Ranking
from ctxopt_core.documents.unit_scores import score_units
from ctxopt_core.relevance.bm25 import tokenize
from ctxopt_core.relevance.query_terms import query_terms

LEAD = 0.15
FILLER = "of the it is"


def part(sentences, *, position=0, index=0, looked_for=True) -> PartialDocument:
    """Return a document of these units, as if its text had been read."""
    text = " ".join(sentences)
    units, start = [], 0
    for sentence in sentences:
        stop = text.index(sentence, start) + len(sentence)
        units.append(Unit(start=start, stop=stop, sentence=True))
        start = stop
    terms = [tokenize(sentence) for sentence in sentences] if looked_for else ()
    return PartialDocument(index=index, position=position, text=text, units=units, terms=terms)


def weighed(*parts, query="", relevance=None, worth=None, similarities=()):
    ranking = Ranking(relevance=relevance or {}, worth=worth or {})
    score_units(parts, query_terms(query).weights, ranking, similarities)
    return parts


@pytest.mark.parametrize(
    ("position", "relevance", "prior"),
    [
        pytest.param(0, 0.0, 0.35, id="best-rank"),
        pytest.param(0, 1.0, 0.70, id="and-most-relevant"),
        pytest.param(2, 0.0, 0.35 / 2, id="third-rank"),
        pytest.param(98, 0.5, 0.007 + 0.175, id="far-down"),
    ],
)
def test_rank_relevance_and_lead(position, relevance, prior):
    (document,) = weighed(part(["one", "two", "three"], position=position, looked_for=False), relevance={0: relevance})

    assert document.match == [0.0, 0.0, 0.0]
    assert document.scores == pytest.approx([prior + LEAD, prior, prior])


@pytest.mark.parametrize(
    ("position", "worth", "prior"),
    [
        pytest.param(0, 1.0, 0.35, id="the-first-with-the-best-score"),
        pytest.param(2, 1.0, 0.35 / 2, id="the-third-with-the-best-score"),
        pytest.param(98, 1.0, 0.35 / 2, id="far-down-with-the-best-score"),
        pytest.param(98, 0.5, 0.35 / 4 * 0.8, id="far-down-with-half-of-it"),
        pytest.param(0, 0.5, 0.35 * 0.8, id="the-first-by-relevance-with-half-of-the-best-score"),
        pytest.param(2, 0.0, 0.35 / 2 * 0.6, id="a-score-that-is-worth-nothing"),
    ],
)
def test_d15_a_rank_counts_as_much_as_its_score_says(position, worth, prior):
    (document,) = weighed(part(["one", "two"], position=position, looked_for=False), worth={0: worth})

    assert document.scores == pytest.approx([prior + LEAD, prior])


def test_d15_the_unit_that_answers_has_the_most_and_its_neighbors_a_share():
    sentences = [FILLER] * 20
    sentences[10] = "kiln"
    share = 0.8 * 20 / (20 + 10)

    (document,) = weighed(part(sentences), query="kiln")

    assert document.match[10] == 1.0
    assert document.match == pytest.approx([share ** abs(number - 10) for number in range(20)])
    assert document.scores[0] == pytest.approx(share**10 + 0.35 + LEAD)


def test_a_short_text_gives_less_to_neighbors():
    (short,) = weighed(part([FILLER, "kiln"]), query="kiln")

    assert short.match == pytest.approx([0.8 * 2 / 12, 1.0])


def test_the_best_unit_of_all_documents_is_the_measure():
    first, second = weighed(
        part(["kiln glaze", FILLER]), part(["kiln " + FILLER], index=1, position=1), query="kiln glaze"
    )

    assert first.match[0] == 1.0
    assert 0.0 < second.match[0] < 0.8


@pytest.mark.parametrize(
    ("named", "subject", "follows"),
    [
        pytest.param("marhold", "marhold tiefenau", True, id="a-name"),
        pytest.param("marhold", "tiefenau far from marhold", True, id="among-the-first-words"),
        pytest.param("marhold", "one two three four five six seven eight marhold", False, id="further-down"),
        pytest.param("1871", "1871 tiefenau", False, id="digits"),
        pytest.param("with", "with tiefenau", False, id="a-common-word"),
        pytest.param("marhold", "brandt tiefenau", False, id="another-name"),
    ],
)
def test_d15_the_subject_that_the_best_unit_names_counts(named, subject, follows):
    first, second, other = weighed(
        part([f"kiln {named}", FILLER]),
        part([subject, FILLER], index=1, position=1),
        part(["lantern", FILLER], index=2, position=1),
        query="kiln",
    )

    assert first.match[0] == 1.0
    assert second.match == other.match
    gained = [with_link - without for with_link, without in zip(second.scores, other.scores, strict=True)]
    assert (gained[0] > 0.5) is follows
    assert (gained[1] > 0.25) is follows
    assert follows or gained == [0.0, 0.0]


def test_a_document_whose_subject_the_query_names_counts_more():
    late, early = weighed(
        part(["one two three four five six seven eight kiln"]),
        part(["kiln one two three four five six seven eight"], index=1),
        query="kiln",
    )

    assert early.match == late.match
    assert early.scores[0] == pytest.approx(late.scores[0] + 0.1)


def test_words_that_are_neighbors_in_the_query_count_more():
    apart, together = weighed(part(["glaze one kiln"]), part(["one kiln glaze"], index=1), query="kiln glaze")

    assert apart.match[0] < together.match[0] == 1.0


def test_a_scorer_makes_up_two_fifths_of_a_match():
    sentences = ["kiln", "lantern", "snow"]

    (plain,) = weighed(part(sentences), query="kiln")
    own = [plain.match[0], 0.0, 0.0]
    (mixed,) = weighed(part(sentences), query="kiln", similarities=[0.0, 1.0, 0.2])

    assert own[0] == 1.0
    assert mixed.match == pytest.approx([0.6 * own[0], 0.4, 0.08])


@settings(deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(["kiln", "glaze", "marhold", FILLER, "7"]), min_size=1, max_size=6), max_size=4),
    st.sampled_from(["kiln", "glaze 7", "", "unrelated"]),
)
def test_d15_a_match_is_a_share(documents, query):
    parts = weighed(
        *(
            part(sentences, index=number, position=number, looked_for=bool(query))
            for number, sentences in enumerate(documents)
        ),
        query=query,
    )

    matches = [match for document in parts for match in document.match]
    assert all(0.0 <= match <= 1.0 for match in matches)
    assert max(matches, default=0.0) in (0.0, 1.0)
    assert all(len(document.match) == len(document.scores) == len(document.units) for document in parts)
