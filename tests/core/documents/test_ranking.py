"""The order in which documents are considered when not everything fits, and the order in which they are read."""

from __future__ import annotations

import math
import random
from sys import float_info

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import ContextBudget, ContextRequest, fit
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import pack_documents
from ctxopt_core.documents.policy import DocumentPolicy
from ctxopt_core.documents.ranking import Ranking, in_reading_order, rank, score_of, sum_of_scores
from ctxopt_core.relevance.query_terms import query_terms
from ctxopt_core.relevance.scorer import rescale, standing_out

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
KILN = "The kiln cracked in March."
LAMPS = "Brass lamps hang on the bridge."
SNOW = "Snow fell on the harbour road."
THE_THREE = (LAMPS, KILN, SNOW)


def scored(texts, scores=None):
    return [Document(text=text, score=score) for text, score in zip(texts, scores or [None] * len(texts), strict=True)]


def ranked(texts, query, scores=None, *, score_order="higher", scorer=None) -> Ranking:
    documents = scored(texts, scores)
    return rank(documents, range(len(texts)), query_terms(query), score_order=score_order, scorer=scorer)


@pytest.mark.parametrize(
    ("query", "texts", "best"),
    [
        pytest.param("東京の天気", ["大阪は明日も雨です", "明日の東京の天気は晴れです"], 1, id="japanese-pairs"),
        pytest.param("窑裂开", ["架上有许多旧碗", "北边的窑在三月裂开了"], 1, id="chinese-pairs"),
        pytest.param("첫눈", ["등불지기는 다리에 있다", "첫눈이 오기 전에"], 1, id="korean-pairs"),
        pytest.param("เวลาเปิด", ["หอคอยสูงมาก", "ร้านมีเวลาเปิดสองทุ่ม"], 1, id="thai-triples"),
        pytest.param("ＫＩＬＮ", [LAMPS, KILN], 1, id="nfkc-of-the-query"),
        pytest.param("kiln", [LAMPS, "Ｔｈｅ ｋｉｌｎ ｃｒａｃｋｅｄ"], 1, id="nfkc-of-the-text"),
        pytest.param("STRASSE", ["Ein Platz am Ofen", "Die Straße am Ofen"], 1, id="case-folding"),
        pytest.param("cafe\u0301", ["a bar at the bridge", "a café at the bridge"], 1, id="composed"),
        pytest.param("the kiln", ["the wall the roof", "a kiln", "the door", "the step"], 1, id="the-rarer-word"),
        pytest.param(
            "brass kiln",
            ["brass lamp", "brass bowl", "kiln wall", "brass step", "brass door"],
            2,
            id="what-few-texts-hold",
        ),
        pytest.param("kiln", ["kiln " + "wall " * 50, "kiln wall"], 1, id="the-shorter-text"),
        pytest.param("kiln", ["wall kiln door", "kiln wall kiln"], 1, id="the-word-twice"),
    ],
)
def test_d3_without_scores_the_words_of_the_query_rank(query, texts, best):
    found = ranked(texts, query)
    budget = min(len(text) for text in texts)
    packing = pack_documents(scored(texts), budget, CallableCounter(len), query=query)

    assert found.order[0] == packing.ranking[0] == best
    assert found.relevance[best] == 1.0
    assert all(0.0 <= relevance < 1.0 for index, relevance in found.relevance.items() if index != best)


@pytest.mark.parametrize("query", ["", " \n", "?!", "unrelated words"], ids=["none", "blank", "signs", "no-match"])
def test_d3_without_a_query_or_a_match_the_order_is_that_of_arrival(query):
    documents = scored(THE_THREE)

    assert ranked(THE_THREE, query).order == (0, 1, 2)
    assert set(ranked(THE_THREE, query).relevance.values()) == {0.0}
    assert pack_documents(documents, 12, WORDS, query=query).ranking == (0, 1, 2)


def test_d3_equal_relevance_keeps_the_order_of_arrival():
    texts = ["kiln wall", "door step", "kiln roof", "lamp post", "kiln door"]

    assert ranked(texts, "kiln").order == (0, 2, 4, 1, 3)


@pytest.mark.parametrize("score_order", ["higher", "lower"])
@pytest.mark.parametrize("relevant", [5, 10, 20])
def test_among_equally_relevant_documents_the_score_decides(relevant, score_order):
    scores = list(range(20)) if score_order == "higher" else list(range(20, 0, -1))
    relevance = [1.0] * relevant + [0.5] * (20 - relevant)

    order = ranked(["text"] * 20, "words", scores, score_order=score_order, scorer=lambda query, texts: relevance).order

    assert [index for index in order if index < relevant] == [*reversed(range(relevant))]
    assert [index for index in order if index >= relevant] == [*reversed(range(relevant, 20))]


def test_d3_the_query_that_ranks_is_not_the_one_that_was_cut():
    notes = "We have gone through all the notes of the year and would like to know this. " * 20
    query = f"{notes}Which kiln cracked? {notes}"
    texts = [f"Note {number}. {LAMPS} {SNOW}" for number in range(9)] + [f"Note 9. {KILN} {SNOW}"]

    fitted = fit(ContextRequest(query=query, documents=scored(texts)), ContextBudget(max_input_tokens=90))

    assert "kiln" not in " ".join(fitted.query)
    assert "kiln cracked" in fitted.document_texts()[0]


def test_score_order_weighs_four_times_as_much_as_relevance():
    texts = ["wall", "door", "kiln cracked", "kiln", "step"]
    scores = [0.9, 0.8, 0.7, 0.6, 0.5]
    by_hand = {0: 1 / 3, 1: 1 / 4, 2: 1 / 5 + 0.25 / 3, 3: 1 / 6 + 0.25 / 4, 4: 1 / 7}

    found = ranked(texts, "kiln cracked", scores)

    assert found.order == tuple(sorted(by_hand, key=lambda index: -by_hand[index])) == (0, 2, 1, 3, 4)
    assert ranked(texts, "", scores).order == (0, 1, 2, 3, 4)
    assert ranked(texts, "kiln cracked", scores[::-1]).order[0] == 4
    assert ranked(texts, "kiln cracked", scores[::-1], score_order="lower").order == found.order


def test_documents_without_a_score_rank_after_the_scored_ones_by_their_relevance():
    texts = ["wall", "door", "step", "roof", "kiln"]

    assert ranked(texts, "", [None, 0.2, math.nan, 0.4, None]).order == (3, 1, 0, 2, 4)
    assert ranked(texts, "kiln", [None, 0.2, math.nan, 0.4, None]).order == (3, 1, 4, 0, 2)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda score: score * 1_000, id="scaled"),
        pytest.param(lambda score: score - 7.5, id="shifted"),
        pytest.param(lambda score: math.exp(3 * score), id="bent"),
    ],
)
def test_only_the_order_of_scores_matters(change):
    rng = random.Random(3)
    texts = [" ".join(rng.choices(["kiln", "lamp", "wall", "snow", "door", "bowl"], k=6)) for _ in range(30)]
    scores = rng.sample(range(1_000), 30)
    scores = [score / 1_000 for score in scores]

    changed = ranked(texts, "kiln snow", [change(score) for score in scores])

    assert changed == ranked(texts, "kiln snow", scores)
    assert ranked(texts, "kiln snow", [-change(score) for score in scores], score_order="lower") == changed


def by_length(query, texts):
    assert query == "kiln?"
    return [float(len(text)) for text in texts]


@pytest.mark.parametrize(
    ("texts", "order", "relevance"),
    [
        pytest.param(("wall", "kiln", "a long door"), (1, 2, 0), {0: 0.0, 1: 1.0, 2: 0.429}, id="both-have-a-say"),
        pytest.param(("wall", "a long kiln", "kiln"), (1, 2, 0), {0: 0.0, 1: 1.0, 2: 0.925}, id="they-agree"),
        pytest.param(("wall", "a long door", "lamp"), (1, 0, 2), {0: 0.0, 1: 1.0, 2: 0.0}, id="no-words-of-the-query"),
        pytest.param(("wall", "kiln", "lamp"), (1, 0, 2), {0: 0.0, 1: 1.0, 2: 0.0}, id="the-scorer-knows-nothing"),
    ],
)
def test_a_scorer_is_a_witness_beside_the_words(texts, order, relevance):
    found = ranked(texts, "kiln?", scorer=by_length)

    assert found.order == order
    assert found.relevance == pytest.approx(relevance, abs=0.001)


def test_a_packing_asks_the_scorer():
    policy = DocumentPolicy(scorer=by_length)

    packing = pack_documents(scored(["wall", "kiln", "a long door"]), 3, WORDS, query="kiln?", policy=policy)

    assert packing.ranking == (1, 2, 0)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param([], [], id="none"),
        pytest.param([0.7], [0.0], id="one"),
        pytest.param([0.7, 0.7], [0.0, 0.0], id="all-equal"),
        pytest.param([0.2, 0.7], [0.0, 1.0], id="two"),
        pytest.param([0.2, 0.2, 0.4, 0.3], [0.0, 0.0, 1.0, 0.0], id="one-of-four"),
        pytest.param([0.1 * n for n in range(21)], [0.0] * 19 + [0.5, 1.0], id="two-of-twenty-one"),
        pytest.param([float(n) for n in range(101)], [0.0] * 91 + [n / 10 for n in range(1, 11)], id="a-tenth"),
        pytest.param([0.1, 0.2, 0.9, 0.9, 0.9, 0.9], [0.0, 0.0, 1.0, 1.0, 1.0, 1.0], id="many-are-the-best"),
        pytest.param([-9.0, -8.0, -8.0, 3.0], [0.0, 0.0, 0.0, 1.0], id="logits"),
        pytest.param([math.inf, 1.0, -math.inf, 3.0], [1.0, 0.0, 0.0, 1.0], id="infinite"),
        pytest.param([-1.7e308, 1.7e308], [0.0, 1.0], id="huge"),
    ],
)
def test_scores_stand_out_from_the_usual(scores, expected):
    assert standing_out(scores) == pytest.approx(expected)


def test_a_scorer_is_not_called_without_a_query():
    def never(query, texts):
        raise AssertionError

    assert ranked(THE_THREE, "  ", scorer=never).order == (0, 1, 2)
    assert ranked((), "kiln", scorer=never).order == ()


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param([], [], id="none"),
        pytest.param([2.0, 4.0, 3.0], [0.0, 1.0, 0.5], id="moved-and-scaled"),
        pytest.param([-1.0, -1.0], [0.0, 0.0], id="all-equal"),
        pytest.param([math.inf, 1.0, -math.inf, 3.0], [1.0, 0.0, 0.0, 1.0], id="infinite"),
        pytest.param([math.inf, -math.inf], [1.0, 0.0], id="only-infinite"),
        pytest.param([1.7e308, -1.7e308, 0.0], [1.0, 0.0, 0.5], id="huge"),
    ],
)
def test_spread(scores, expected):
    assert rescale(scores) == expected


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False), max_size=8))
def test_spread_keeps_the_order_and_the_range(scores):
    moved = rescale(scores)

    assert all(0.0 <= number <= 1.0 for number in moved)
    assert all(
        moved[left] <= moved[right]
        for left in range(len(scores))
        for right in range(len(scores))
        if scores[left] < scores[right]
    )


@pytest.mark.parametrize(
    ("order", "expected"),
    [("score", (4, 1, 3, 0, 2)), ("original", (0, 1, 2, 3, 4)), ("edges", (4, 3, 2, 0, 1))],
)
def test_d9_order_of_reading(order, expected):
    assert in_reading_order((4, 1, 3, 0, 2), order) == expected
    assert in_reading_order((), order) == ()


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        pytest.param((0.5, 0.4, 0.9), (2, 0, 1), id="by-the-scores-where-there-are-any"),
        pytest.param((None, None, None), (1, 0, 2), id="else-by-relevance"),
        pytest.param((None, 0.1, None), (1, 0, 2), id="those-without-a-score-last"),
    ],
)
def test_d9_reading_by_score(scores, kept):
    texts = [f"{LAMPS} Nobody lit them.", KILN, SNOW, "Bowls stand in the yard."]
    documents = scored(texts, (*scores, None if scores[0] is None else -1.0))

    packing = pack_documents(documents, 21, WORDS, query="kiln", policy=DocumentPolicy(passages=False))

    assert packing.kept == kept


@pytest.mark.parametrize(
    ("score", "expected"),
    [(None, None), (math.nan, None), (0, 0.0), (-3, -3.0), (1e9, 1e9), (10**400, math.inf), (-(10**400), -math.inf)],
)
def test_score_of(score, expected):
    assert score_of(Document(text="", score=score)) == expected


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param([0.1] * 10, 1.0, id="exactly rounded"),
        pytest.param([None, math.nan, math.inf, 2], 2.0, id="finite ones alone"),
        pytest.param([1e308, 1e308], float_info.max, id="too large for a float"),
        pytest.param([-1e308, -1e308], -float_info.max, id="too low for a float"),
        pytest.param([10**400, 3], 3.0, id="an int too large for a float"),
    ],
)
def test_the_sum_of_scores_is_always_a_finite_number(scores, expected):
    assert sum_of_scores([Document(text="", score=score) for score in scores]) == expected


@pytest.mark.parametrize("score", [10**400, 1.7e308, -1.7e308], ids=["int", "high", "low"])
@pytest.mark.parametrize("selection", ["auto", "score", "passages", "density", "optimal"])
def test_scores_of_any_size_can_be_fitted_and_shown(score, selection):
    documents = [Document(text=f"{SNOW} {number}.", score=score) for number in range(6)]

    policy = DocumentPolicy(selection=selection)
    fitted = fit(ContextRequest(documents=documents), ContextBudget(target_tokens=40), documents=policy)

    assert 0 < len(fitted.documents.kept) < 6
    assert fitted.report.tokens_after <= 40
    assert fitted.report.to_html()
