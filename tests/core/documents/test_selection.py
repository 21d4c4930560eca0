"""Which whole documents are chosen: by score, by score per token, or the best ones together."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import Packing, pack_documents
from ctxopt_core.documents.policy import DocumentPolicy
from ctxopt_core.documents.ranking import score_of
from ctxopt_core.documents.selection import resolved_selection, values_of
from ctxopt_core.relevance.query_terms import query_terms
from drawn_examples import examples

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
SELECTIONS = ("auto", "score", "passages", "density", "optimal")
BY_VALUE = ("density", "optimal")
SHORT_BESIDE_LONG = ((600, 0.85), (150, 0.8), (130, 0.8), (120, 0.8))

hundredths = st.integers(0, 100).map(lambda number: number / 100)
sized = st.lists(st.tuples(st.integers(1, 30), hundredths), min_size=1, max_size=10)
thousandths = st.integers(-1_000, 1_000).map(lambda number: number / 1_000)
by_any_selection = pytest.mark.parametrize("selection", SELECTIONS)
by_value = pytest.mark.parametrize("selection", BY_VALUE)


def text(tokens: int, number: int = 0) -> str:
    """Return that many words in sentences of ten; no two numbers share any."""
    words = [f"n{number}w{place}" for place in range(tokens)]
    return " ".join(" ".join(words[start : start + 10]).capitalize() + "." for start in range(0, tokens, 10))


def of_sizes(rows) -> list[Document]:
    return [Document(text=text(tokens, number), score=score) for number, (tokens, score) in enumerate(rows)]


def pack(rows, budget, *, query="", **policy) -> Packing:
    options = {"passages": policy.get("selection") == "passages", **policy}
    return pack_documents(of_sizes(rows), budget, WORDS, query=query, policy=DocumentPolicy(**options))


def outcome(packing: Packing):
    return packing.kept, dict(packing.texts), packing.tokens, dict(packing.dropped), packing.selection


@by_value
@pytest.mark.parametrize(
    ("rows", "budget", "kept", "tokens", "total"),
    [
        pytest.param([(1, 1.0), (100, 50.0)], 100, (1,), 100, 50.0, id="the-dense-one-is-exchanged"),
        pytest.param(SHORT_BESIDE_LONG, 600, (1, 2, 3), 400, 2.4, id="three-instead-of-the-long-one"),
        pytest.param([(60, 0.9), (50, 0.5), (50, 0.5)], 100, (1, 2), 100, 1.0, id="two-fill-the-budget"),
        pytest.param([(10, 0.2), (10, 0.2), (10, 0.3), (5, 0.15)], 20, (2, 0), 20, 0.5, id="ties-by-arrival"),
    ],
)
def test_d11_choice_by_value_and_tokens(selection, rows, budget, kept, tokens, total):
    packing = pack(rows, budget, selection=selection)

    assert (packing.kept, packing.tokens) == (kept, tokens)
    assert packing.cumulative_score == pytest.approx(total)
    assert packing.selection == selection


def test_d11_score_order_takes_the_long_one():
    assert pack(SHORT_BESIDE_LONG, 600, selection="score").kept == (0,)
    assert pack([(1, 1.0), (100, 50.0)], 100, selection="score").kept == (1,)


@by_value
@given(rows=sized, budget=st.integers(1, 120))
def test_d11_never_worth_less_than_the_best_single_one(selection, rows, budget):
    packing = pack(rows, budget, selection=selection)

    assert packing.tokens <= budget
    assert packing.cumulative_score >= max((score for tokens, score in rows if tokens <= budget), default=0.0) - 1e-9


@by_any_selection
@settings(max_examples=examples(60), deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(5, 60), thousandths | st.none()), max_size=8),
    budget=st.integers(1, 150),
    factor=st.sampled_from([1e-6, 0.3, 7.1, 1e9]),
    passages=st.booleans(),
)
def test_d12_scaling_all_scores_changes_nothing(selection, rows, budget, factor, passages):
    scaled = [(tokens, None if score is None else score * factor) for tokens, score in rows]
    options = {"selection": selection, "passages": passages or selection == "passages", "query": "n0w1 n3w12 n5w33"}

    assert outcome(pack(scaled, budget, **options)) == outcome(pack(rows, budget, **options))


@by_any_selection
@pytest.mark.parametrize("shift", [-100.0, -0.6, 0.0, 100.0])
@pytest.mark.parametrize("best", [0, 5], ids=["the-best-one-is-longest", "the-best-one-is-shortest"])
def test_d12_shifted_scores_reward_neither_the_shortest_nor_the_longest(selection, shift, best):
    sizes = [20, 18, 16, 14, 12, 10]
    scores = [0.9 if number == best else 0.1 for number in range(6)]

    packing = pack([(size, score + shift) for size, score in zip(sizes, scores, strict=True)], 30, selection=selection)

    assert best in packing.kept
    assert packing.ranking[0] == best


@by_value
@pytest.mark.parametrize("shift", [-50.0, 50.0])
def test_d12_shifted_scores_prefer_no_length(selection, shift):
    rng = random.Random(12)
    lengths = {"kept": [], "all": []}
    for _ in range(40):
        rows = [(rng.randint(10, 60), rng.random() + shift) for _ in range(20)]
        packing = pack(rows, 350, selection=selection)
        lengths["kept"].extend(rows[index][0] for index in packing.kept)
        lengths["all"].extend(tokens for tokens, _ in rows)
        assert packing.ranking[0] in packing.kept

    mean = {name: sum(values) / len(values) for name, values in lengths.items()}
    assert 0.6 * mean["all"] < mean["kept"] < 1.1 * mean["all"]


@by_value
@pytest.mark.parametrize(
    "scores",
    [pytest.param((0.8, 0.0, 0.0), id="zero"), pytest.param((0.8, -0.2, -0.1), id="less-than-zero")],
)
def test_d12_what_is_worth_nothing_is_not_added(selection, scores):
    rows = list(zip((10, 5, 10), scores, strict=True))

    assert pack(rows, 20, selection=selection).kept == (0,)
    assert len(pack(rows, 25, selection=selection).kept) == 3


@settings(deadline=None)
@given(sized, st.integers(1, 150), st.sampled_from(["higher", "lower"]))
def test_d13_optimal_equals_the_best_of_all_subsets(rows, budget, score_order):
    values = values_of([score for _, score in rows], score_order)
    subsets = (s for size in range(len(rows) + 1) for s in combinations(range(len(rows)), size))
    best = max(sum(values[i] for i in s) for s in subsets if sum(rows[i][0] for i in s) <= budget)

    packing = pack(rows, budget, selection="optimal", score_order=score_order)

    assert packing.tokens == sum(rows[index][0] for index in packing.kept) <= budget
    assert sum(values[index] for index in packing.kept) == best


def test_d13_a_thousand_documents():
    rng = random.Random(7)
    rows = [(rng.randint(5, 60), rng.uniform(0.1, 1.0)) for _ in range(1_000)]

    by_score, by_density, optimal = (pack(rows, 5_000, selection=each) for each in ("score", *BY_VALUE))

    assert 4_990 <= optimal.tokens <= 5_000
    assert by_score.cumulative_score < by_density.cumulative_score <= optimal.cumulative_score + 1e-6
    assert by_density.cumulative_score >= 0.995 * optimal.cumulative_score
    assert optimal.score_order_share == pytest.approx(by_score.cumulative_score / optimal.cumulative_score)


@pytest.mark.parametrize(
    ("rows", "budget", "share"),
    [
        pytest.param(SHORT_BESIDE_LONG, 600, 0.85 / 2.4, id="score-order-takes-one"),
        pytest.param([(10, 0.9), (10, 0.5), (10, 0.1)], 20, 1.0, id="score-order-is-optimal"),
        pytest.param(
            [(20, 0.9), (40, 0.7), (25, 0.6), (15, 0.5), (15, 0.45)], 50, 1.5 / 1.85, id="it-skips-and-goes-on"
        ),
        pytest.param([(30, 0.9), (30, 0.5)], 20, None, id="nothing-fits"),
        pytest.param([(10, 0.9), (10, 0.5)], 20, None, id="everything-fits"),
    ],
)
def test_d13_the_share_that_score_order_would_have_reached(rows, budget, share):
    assert pack(rows, budget, selection="optimal").score_order_share == (share and pytest.approx(share))
    assert pack(rows, budget, selection="density").score_order_share is None
    assert pack(rows, budget, selection="score").score_order_share is None


@by_value
def test_without_scores_relevance_is_the_value(selection):
    texts = ["kiln kiln glaze cracked", "lamp on the bridge road", "the kiln wall there stands", "snow on the road now"]
    documents = [Document(text=text) for text in texts]
    policy = DocumentPolicy(selection=selection, passages=False)

    packing = pack_documents(documents, 10, WORDS, query="cracked kiln", policy=policy)

    assert packing.kept == (0, 2)


@by_value
def test_what_the_chosen_ones_leave_goes_to_passages_of_the_others(selection):
    rows = [(600, 0.85), (150, 0.8), (130, 0.8), (120, 0.8)]

    packing = pack(rows, 600, selection=selection, passages=True)

    assert packing.whole == (1, 2, 3)
    assert packing.partial == (0,)
    assert packing.texts[0] == f"{text(190)} [...]"
    assert packing.tokens == 591


@by_value
def test_d10_no_more_than_the_most_documents_are_chosen(selection):
    rows = [(10, 0.5), (10, 0.9), (10, 0.7), (50, 0.6)]

    packing = pack(rows, 40, selection=selection, max_documents=2)

    assert packing.kept == (1, 2)
    assert packing.dropped == {0: "count", 3: "count"}


@pytest.mark.parametrize(
    ("selection", "query", "passages", "expected"),
    [
        pytest.param("auto", "Which glaze cracked the kiln?", True, "passages", id="a-question"),
        pytest.param("auto", "kiln", True, "passages", id="a-word"),
        pytest.param("auto", "Which glaze cracked the kiln?", False, "score", id="no-passages"),
        pytest.param("auto", "", True, "score", id="no-query"),
        pytest.param("auto", "?!", True, "score", id="no-words"),
        *(pytest.param(each, "", True, each, id=each) for each in SELECTIONS[1:]),
    ],
)
def test_what_auto_stands_for(selection, query, passages, expected):
    assert resolved_selection(selection, query_terms(query), passages=passages) == expected


def test_the_default_follows_the_query():
    documents = [Document(text=f"Note {number}. {text(60, number)}") for number in range(4)]

    assert pack_documents(documents, 100, WORDS, query="kiln?").selection == "passages"
    assert pack_documents(documents, 100, WORDS).selection == "score"


@by_any_selection
def test_nothing_is_selected_where_there_is_no_choice(selection):
    rows = [(10, 0.5), (20, 0.9)]

    assert pack(rows, 30, selection=selection).selection is None
    assert pack(rows, 0, selection=selection).selection is None
    assert pack([], 10, selection=selection).selection is None
    assert pack(rows, 29, selection=selection).selection in (selection, "score")


@by_any_selection
def test_d1_scores_that_cannot_be_added_are_packed(selection):
    rows = [(10, math.nan), (10, -math.inf), (10, math.inf), (10, None)]

    packing = pack(rows, 20, selection=selection)

    assert packing.kept[0] == 2
    assert packing.tokens <= 20
    assert packing.cumulative_score == 0.0
    assert score_of(Document(text="", score=math.nan)) is None
