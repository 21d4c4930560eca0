"""What a query says, how rare its words are, and how often texts hold them."""

from __future__ import annotations

import math
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core.counting.encodings import load_encoding
from ctxopt_core.relevance.bm25 import bm25_of_counts, scanned_bm25, tokenize
from ctxopt_core.relevance.query_terms import query_terms, rarity
from hostile_text import hostile_text

EVERYWHERE = 0.05


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        pytest.param("", [], id="none"),
        pytest.param(" ?!", [], id="signs"),
        pytest.param("Which glaze cracked THE kiln, the kiln?", ["which", "glaze", "cracke", "the", "kiln"], id="once"),
        pytest.param("configuration configured", ["config"], id="forms-of-a-word"),
        pytest.param("東京の天気", ["東京", "京の", "の天", "天気"], id="pairs"),
        pytest.param("ＫＩＬＮ ZK-402", ["kiln", "zk", "402"], id="nfkc"),
        pytest.param("ตะเกียง", ["ตะเ", "ะเก", "เกี", "กีย", "ียง"], id="triples"),
    ],
)
def test_d3_the_terms_of_a_query_are_those_that_texts_are_split_into(query, terms):
    assert list(query_terms(query).weights) == terms == list(dict.fromkeys(tokenize(query)))


def test_common_words_weigh_little():
    weights = query_terms("Which of the kilns in the orchard is it, and is it new?").weights

    assert {weights[word] for word in ("of", "the", "in", "and")} == {EVERYWHERE}
    assert EVERYWHERE < weights["which"] < weights["kilns"] == 1.0
    assert query_terms("und der Ofen").weights["und"] < query_terms("und der Ofen").weights["ofen"]


def test_a_very_long_query_is_read_in_bounded_time():
    words = [f"kiln{number}x" for number in range(100_000)]
    start = time.process_time()

    found = query_terms(" ".join(words))

    assert "kiln7x" in found.weights
    assert len(found.weights) <= 1_000
    assert time.process_time() - start < 10


@settings(deadline=None)
@given(hostile_text(6))
def test_weights_are_shares(query):
    found = query_terms(query)

    assert all(EVERYWHERE <= weight <= 1.0 for weight in found.weights.values())
    assert set(found.weights) == set(tokenize(query))


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        pytest.param(270, 0.0, id="among-the-most-common"),
        pytest.param(1_000, math.log(1_000 / 300) / math.log(20_000 / 300), id="common"),
        pytest.param(10_000, math.log(10_000 / 300) / math.log(20_000 / 300), id="uncommon"),
        pytest.param(30_000, 1.0, id="rare"),
    ],
)
def test_rarity_grows_with_the_place_in_the_vocabulary(place, expected):
    piece = load_encoding("o200k_base").decode([place])

    assert rarity(piece) == pytest.approx(expected)


@pytest.mark.parametrize("piece", [" zzyzxian", " " + "x" * 1_000_000, "\ud800", "東京の天気は"], ids=range(4))
def test_an_unknown_piece_is_rare(piece):
    assert rarity(piece) == 1.0


WEIGHTS = {"kiln": 1.0, "config": 1.0, "the": EVERYWHERE, "7": 0.5}


def by_hand(counts, texts, weights):
    return bm25_of_counts(weights, counts, [len(text) for text in texts])


def test_terms_are_counted_at_the_start_of_words():
    texts = [
        "The kiln, a KILN; (kiln)",
        "kilns and a limekiln",
        "configuration, Configured; reconfigure",
        "then 7 or 17 or 7.5",
        "",
    ]
    counts = [{"the": 1, "kiln": 3}, {}, {"config": 2}, {"7": 2}, {}]

    assert scanned_bm25(WEIGHTS, texts) == pytest.approx(by_hand(counts, texts, WEIGHTS))


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        pytest.param("東京の天気", "明日の東京の天気は晴れです", True, id="japanese"),
        pytest.param("東京の天気", "大阪も雨", False, id="other-japanese"),
        pytest.param("เวลาเปิด", "ร้านมีเวลาเปิดสองทุ่ม", True, id="thai"),
        pytest.param("STRASSE", "Die Straße", True, id="case-folding"),
        pytest.param("kiln", "Ｋｉｌｎ", True, id="nfkc"),
        pytest.param("cafe\u0301", "le café", True, id="composed"),
        pytest.param("печь", "Печь треснула", True, id="russian"),
        pytest.param("он", "телефон", False, id="a-short-word-inside-another"),
        pytest.param("\ud800 kiln", "\ud800kiln", True, id="lone-surrogate"),
    ],
)
def test_d3_terms_are_found_beyond_ascii(query, text, found):
    scores = scanned_bm25(query_terms(query).weights, [text, "nothing"])

    assert (scores[0] > 0.0) is found
    assert scores[1] == 0.0


def test_scanning_agrees_with_splitting_into_words():
    rng = random.Random(9)
    vocabulary = ["kiln", "lamp", "snow", "glazes", "bridge", "the", "of", "7", "harbour", "orchards"]
    texts = [", ".join(rng.choices(vocabulary, k=rng.randint(3, 40))) for _ in range(60)]
    weights = query_terms("the kiln of the orchards, 7 bridges").weights
    counts = [{term: words.count(term) for term in weights if term in words} for words in map(tokenize, texts)]

    assert scanned_bm25(weights, texts) == pytest.approx(by_hand(counts, texts, weights))


def test_of_very_many_terms_those_of_most_weight_are_looked_for():
    weights = {f"{letter}{number}": 0.2 for letter in "abcd" for number in range(100)} | {"kiln": 1.0}

    scores = scanned_bm25(weights, ["a kiln", "a lamp"])

    assert scores[0] > scores[1] == 0.0


@settings(deadline=None)
@given(hostile_text(4), st.lists(hostile_text(4), max_size=5))
def test_there_is_one_finite_score_for_each_text(query, texts):
    weights = query_terms(query).weights
    scores = scanned_bm25(weights, texts)

    assert len(scores) == len(texts)
    assert all(math.isfinite(score) and score >= 0.0 for score in scores)
    assert scanned_bm25(weights, texts[::-1]) == scores[::-1]


@pytest.mark.parametrize("texts", [[], ["a kiln", "", "a wall"]], ids=["no-texts", "texts"])
def test_without_terms_nothing_scores(texts):
    assert scanned_bm25({}, texts) == [0.0] * len(texts)
