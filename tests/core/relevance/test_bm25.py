"""How texts are compared with a query."""

from __future__ import annotations

import math
import re
import tracemalloc
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core.relevance.bm25 import bm25_scorer, counted_terms, tokenize
from ctxopt_core.relevance.term_lists import TermLists
from ctxopt_core.runtime.text_cache import TextCache
from hostile_text import hostile_text


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        pytest.param("", [], id="empty"),
        pytest.param(" \n-—… !", [], id="punctuation"),
        pytest.param("The Kiln, CRACKED", ["the", "kiln", "cracke"], id="case-and-first-six-letters"),
        pytest.param("max_tokens ZK-402 20240131", ["max", "tokens", "zk", "402", "20240131"], id="identifiers"),
        pytest.param("Ｋｉｌｎ № ½", ["kiln", "no", "1", "2"], id="nfkc"),
        pytest.param("STRASSE Straße", ["strass", "strass"], id="case-folding"),
        pytest.param("cafe\u0301 café", ["café", "café"], id="composed-and-decomposed"),
        pytest.param("東京の天気", ["東京", "京の", "の天", "天気"], id="japanese-pairs"),
        pytest.param("雨", ["雨"], id="one-character"),
        pytest.param("GPT模型2号", ["gpt", "模型", "2", "号"], id="mixed-scripts"),
        pytest.param("첫눈이 오다", ["첫눈", "눈이", "오다"], id="korean-pairs"),
        pytest.param("ตะเกียง", ["ตะเ", "ะเก", "เกี", "กีย", "ียง"], id="thai-triples"),
        pytest.param("दीपक बर्फ़ से।", ["दीपक", "बर्फ़", "से"], id="hindi-signs-stay-in-the-word"),
        pytest.param("مصابيح، ثلج", ["مصابيح", "ثلج"], id="arabic"),
        pytest.param("a\ud800b", ["a", "b"], id="lone-surrogate"),
    ],
)
def test_tokenize(text, terms):
    assert tokenize(text) == terms


@given(text=st.text(st.characters(max_codepoint=127)))
def test_words_of_ascii_are_runs_of_letters_and_digits_whatever_is_between_them(text):
    words = re.findall("[a-z0-9]+", text.lower())
    assert tokenize(text) == [word[:6] if word.isalpha() else word for word in words]
    assert tokenize(f"{text} é") == [*tokenize(text), "é"]


def test_words_without_end_are_not_kept_in_memory():
    tracemalloc.start()
    for number in range(20):
        tokenize(f"{number}f" * 50_000)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert kept < 100_000


@given(query=st.text("abc ", max_size=20), texts=st.lists(st.text("abcdefg 1", max_size=40), max_size=8))
def test_lists_of_terms_know_what_counted_terms_know(query, texts):
    wanted = dict.fromkeys(tokenize(query), 1.0)
    units, counted = TermLists(list(map(tokenize, texts))), list(map(counted_terms, texts))

    assert units.lengths == [text.length for text in counted]
    assert units.counts(wanted) == [{t: text.counts[t] for t in wanted if t in text.counts} for text in counted]
    assert units.holding(wanted) == Counter(t for text in counted for t in text.counts if t in wanted)


def test_scores_are_those_of_the_formula():
    texts = ["red kiln", "red red brick", "gray wall of brick"]
    rarity = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    expected = [
        rarity * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3)),
        rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 3)),
        0.0,
    ]
    assert bm25_scorer("red", texts) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("query", "texts", "best"),
    [
        pytest.param("東京の天気", ["大阪は明日も雨です", "明日の東京の天気は晴れです"], 1, id="japanese"),
        pytest.param("เวลาเปิด", ["หอคอยสูงมาก", "ร้านมีเวลาเปิดสองทุ่ม"], 1, id="thai"),
        pytest.param("the kiln", ["the wall the roof", "a kiln", "the door", "the step"], 1, id="the-rarer-word"),
        pytest.param("kiln", ["kiln " + "wall " * 50, "kiln wall"], 1, id="the-shorter-text"),
        pytest.param("kilns", ["walls", "kiln kilns"], 1, id="plural-beside-singular"),
        pytest.param("configuration", ["comfort", "configured"], 1, id="forms-of-a-long-word"),
    ],
)
def test_the_text_that_shares_the_rare_words_scores_best(query, texts, best):
    scores = bm25_scorer(query, texts)

    assert scores.index(max(scores)) == best
    assert scores[best] > 0


@pytest.mark.parametrize("query", ["", " ?!", "unrelated"])
def test_nothing_shared_scores_nothing(query):
    assert bm25_scorer(query, ["a kiln", "", "a wall"]) == [0.0, 0.0, 0.0]
    assert bm25_scorer(query, []) == []


@settings(deadline=None)
@given(hostile_text(6), st.lists(hostile_text(6), max_size=5))
def test_there_is_one_finite_score_for_each_text(query, texts):
    scores = bm25_scorer(query, texts)

    assert len(scores) == len(texts)
    assert all(math.isfinite(score) and score >= 0 for score in scores)
    assert scores == bm25_scorer(query, list(texts))
    assert bm25_scorer(query, texts[::-1]) == scores[::-1]


def test_terms_are_the_same_when_they_are_remembered():
    assert list(counted_terms("a kiln that cracked").counts) == tokenize("a kiln that cracked")
    assert counted_terms("a kiln that cracked") is counted_terms("a kiln " + "that cracked")


def test_a_text_memory_is_bounded_and_keeps_the_newer_half():
    memory: TextCache[int] = TextCache(max_bytes=1000)
    for number in range(11):
        memory.store(str(number), number, 100)

    assert [number for number in range(11) if memory.get(str(number)) is not None] == [6, 7, 8, 9, 10]
    assert (len(memory), memory.size_bytes) == (5, 500)


def test_a_text_memory_keeps_the_first_value_and_nothing_too_large():
    memory: TextCache[str] = TextCache(max_bytes=1000)
    memory.store("kiln", "first", 10)
    memory.store("kiln", "second", 10)
    memory.store("large", "value", 501)

    assert (memory.get("kiln"), memory.get("large"), memory.size_bytes) == ("first", None, 10)
