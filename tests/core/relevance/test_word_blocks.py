"""Blocks of texts that remember which of the texts hold a term."""

from __future__ import annotations

import math
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import HistoryPolicy, Message, trim_history
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.relevance import word_blocks as module
from ctxopt_core.relevance.bm25 import fold, words
from ctxopt_core.relevance.indexed_texts import IndexedTexts
from ctxopt_core.relevance.stems import light_stem, light_terms, stems_of_bytes
from ctxopt_core.relevance.word_blocks import (
    _SEARCHES_BEFORE_INDEX,
    BLOCK_TEXTS,
    TAIL_TEXTS,
    IndexedBlock,
    WordBlock,
    blocks_of,
    word_blocks,
)
from ctxopt_core.runtime.text_cache import BoundedCache

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
VOCABULARY = (
    *("kiln", "kilns", "kilned", "go", "going", "gone", "42", "a42b", "mp3", "café", "naïve"),
    *("straße", "東京", "窯は", "ไทย", "'tis", "don’t", "snow", "🔥", "\udcff", "_x_"),
)
SENTENCES = st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join) | st.text(max_size=20)


@pytest.fixture(autouse=True)
def nothing_is_remembered():
    word_blocks.clear()
    stems_of_bytes.clear()


def numbers_in(held):
    """Return the numbers of the texts that have a term, ascending, each as often as the text has it."""
    column = held.texts.to_bytes(held.texts.bit_length() // 8 + 1, "little")
    once = [n for n, has in enumerate(column) if has]

    assert set(column) <= {0, 1}
    assert held.number == len(once)
    return sorted([*once, *held.repeated])


def terms_of(text):
    return [term for word in words(fold(text)) for term in light_terms(word)]


@given(texts=st.lists(SENTENCES, max_size=12), more=SENTENCES)
def test_z6_a_block_finds_each_term_in_just_the_texts_that_have_it(texts, more):
    block, counts = WordBlock(texts), [Counter(terms_of(text)) for text in texts]

    for term in terms_of(" ".join((*VOCABULARY, *texts, more))):
        held = [n for n, count in enumerate(counts) for _ in range(count[term])]
        assert numbers_in(block.holding(term)) == held
        assert block.holding(term) is block.holding(term)
        assert block.indexed().holding(term) == block.holding(term)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("The KILN cracked.", "kiln"),
        ("don’t crack it — again…", "crack"),
        ("a 🔥kiln🔥", "kiln"),
        ("snake_kiln", "kiln"),
        ("x\x00y", "y"),
        ("ﬁne", "fin"),
        ("東京都", "京都"),
        ("The café.", "café"),
        ("go, go, go", "go"),
    ],
    ids=["capitals", "punctuation", "emoji", "underscore", "control", "ligature", "pairs", "accent", "repeated"],
)
def test_what_a_word_is(text, term):
    block = WordBlock(["Nothing of it."] * 3 + [text])

    assert numbers_in(block.holding(term)) == [3] * (3 if term == "go" else 1)


@given(words=st.lists(st.sampled_from(("kiln", "kilns", "kilnx", "kil", "a", "go", "going")), max_size=12))
def test_z6_a_term_is_found_right_before_and_after_itself(words):
    block = WordBlock([" ".join(words), "kiln"])

    for term in ("kiln", "kilnx", "kil", "a", "go", "going"):
        assert numbers_in(block.holding(term)).count(0) == list(map(light_stem, words)).count(term)


@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 256, 257, 300, 1_000])
def test_blocks_cover_a_conversation(length):
    blocks = blocks_of([f"kiln {n}" for n in range(length)])

    assert [start for start, _ in blocks] == [sum(len(b.lengths) for _, b in blocks[:n]) for n in range(len(blocks))]
    assert sum(len(block.lengths) for _, block in blocks) == length


def test_z6_of_a_grown_conversation_only_the_end_is_read_again(monkeypatch):
    made = Counter()

    class Spied(WordBlock):
        def __init__(self, texts):
            made.update(texts)
            super().__init__(texts)

    monkeypatch.setattr(module, "WordBlock", Spied)
    texts = [f"kiln {n}" for n in range(6_000)]
    IndexedTexts(texts).scores({"kiln": 1.0})
    first, made_first = made.total(), dict(made)
    IndexedTexts(texts).scores({"snow": 1.0})
    again = made.total() - first
    IndexedTexts([*texts, "snow"]).scores({"snow": 1.0})

    assert first == 6_000
    assert set(made_first.values()) == {1}
    assert again < TAIL_TEXTS
    assert made.total() - first - again <= TAIL_TEXTS


def test_z6_a_term_is_sought_once_in_a_block(monkeypatch):
    sought = Counter()
    search = WordBlock._sought

    def spied(block, term):
        sought[term] += len(block.lengths)
        return search(block, term)

    monkeypatch.setattr(WordBlock, "_sought", spied)
    texts = [f"kiln {n}" for n in range(20 * BLOCK_TEXTS)]
    for _ in range(5):
        IndexedTexts(texts).scores({"kiln": 1.0, "snow": 1.0})

    assert sought == {"kiln": len(texts), "snow": len(texts)}


def test_z6_a_question_touches_the_texts_that_hold_its_words():
    texts = ["The kiln cracked." if n in {7, 300, 999} else "Snow fell." for n in range(1_000)]
    scores = IndexedTexts(texts).scores({"kiln": 1.0, "zebra": 1.0})

    assert {n for n, score in enumerate(scores) if score} == {7, 300, 999}


@pytest.mark.parametrize("texts", [["kiln"] * 256, [f"word{n} " * 40 for n in range(256)], ["東京都に行く"] * 32, []])
def test_z6_a_block_takes_no_more_memory_than_it_says(texts):
    block = WordBlock(texts)
    for term in [*terms_of(" ".join(texts[:200])), *(f"other{n}" for n in range(200))]:
        block.holding(term)
    found = block._found
    objects = [part for held in found.values() for part in (held, *held)]
    kept = sum(map(sys.getsizeof, [*found, *objects, block._words, block._starts, block.lengths, found]))

    assert kept <= block.size_bytes


def test_z6_the_memory_of_all_blocks_is_bounded(monkeypatch):
    bounded = BoundedCache(2_000_000)
    monkeypatch.setattr(module, "word_blocks", bounded)
    for chat in range(20):
        IndexedTexts([f"kiln {chat} {n} " * 9 for n in range(1_000)]).scores({"kiln": 1.0})

        assert bounded.size_bytes <= 2_000_000
    assert len(bounded)


def chat(numbers):
    return [
        Message(role="user" if n % 2 == 0 else "assistant", content=f"{VOCABULARY[number]} and {number} more {n}.")
        for n, number in enumerate(numbers)
    ]


@settings(deadline=None, max_examples=40)
@given(
    numbers=st.lists(st.integers(0, len(VOCABULARY) - 2), min_size=40, max_size=400),
    before=st.lists(st.sampled_from(VOCABULARY), max_size=6),
    asked=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4).map(" ".join),
)
def test_z6_what_was_asked_before_changes_nothing(numbers, before, asked):
    messages, policy = chat(numbers), HistoryPolicy(strategy="auto")

    def fitted(asked, length):
        return trim_history(messages[:length], 120, WORDS, policy=policy, ranking_query=asked)

    for n, question in enumerate(before):
        fitted(question, len(messages) - n)
    warm = fitted(asked, len(messages))
    word_blocks.clear()
    stems_of_bytes.clear()

    assert fitted(asked, len(messages)) == warm


def test_z6_32_threads_get_what_one_gets():
    texts = [f"kiln {n % 7} snow {n % 11} and {n}" for n in range(900)]
    asked = [{f"{n}": 1.0, "kiln": 0.5, "snow": 0.7} for n in range(64)]
    alone = [IndexedTexts(texts).scores(weights) for weights in asked]
    word_blocks.clear()
    with ThreadPoolExecutor(32) as pool:
        together = list(pool.map(lambda weights: IndexedTexts(list(texts)).scores(weights), asked))

    assert together == alone


def expected_scores(texts, weights):
    """BM25 of each text, times one and three times the part of the question around it, term by term."""
    counts, length = [Counter(terms_of(text)) for text in texts], len(texts)
    mean = max(1.0, sum(map(len, texts)) / length)
    holding = {term: sum(term in count for count in counts) for term in weights}
    worths = {
        term: weight * 2.2 * math.log1p((length - holding[term] + 0.5) / (holding[term] + 0.5))
        for term, weight in weights.items()
    }
    scores = []
    for n, text in enumerate(texts):
        damping = 1.2 * (0.25 + 0.75 * len(text) / mean)
        score = sum(worth * counts[n][term] / (counts[n][term] + damping) for term, worth in worths.items())
        around = {term for count in counts[max(0, n - 3) : n + 4] for term in count}
        part = sum(worth for term, worth in worths.items() if term in around) / sum(worths.values())
        scores.append(score * (1.0 + 3.0 * part))
    return scores


@given(
    texts=st.lists(SENTENCES, min_size=1, max_size=40),
    weights=st.dictionaries(
        st.sampled_from(["kiln", "go", "42", "a42b", "mp3", "café", "naïve", "snow", "東京", "strass", "tis", "don"]),
        st.floats(0.05, 1.0),
        min_size=1,
        max_size=10,
    ),
)
def test_z6_the_scores_are_those_of_the_formula(texts, weights):
    assert IndexedTexts(texts).scores(weights) == pytest.approx(expected_scores(texts, weights))


def test_z6_the_scores_are_those_of_the_formula_across_blocks():
    texts = [" ".join(VOCABULARY[: n % 15]) * (1 + n % 3) for n in range(700)]
    weights = {
        term: 0.1 + n / 20 for n, term in enumerate(["kiln", "go", "42", "a42b", "mp3", "café", "naïve", "snow", "t"])
    }

    assert IndexedTexts(texts).scores(weights) == pytest.approx(expected_scores(texts, weights))


def test_z6_a_block_that_is_searched_often_gets_a_list_of_its_terms():
    texts = [f"kiln {n}" for n in range(3 * BLOCK_TEXTS)]
    for n in range(_SEARCHES_BEFORE_INDEX):
        IndexedTexts(texts).scores({f"word{n}": 1.0})
    listed = []
    for _ in range(3):
        listed.append(sum(isinstance(block, IndexedBlock) for _, block in blocks_of(texts)))
        assert [round(score, 9) for score in IndexedTexts(texts).scores({"767": 1.0})][-1] > 0.0

    assert listed == [2, 3, 3]
    assert [start for start, _ in blocks_of(texts)] == [0, 256, 512]


def test_z6_scores_are_the_same_before_and_after_terms_are_listed():
    texts = [" ".join(VOCABULARY[n % 15 :]) * (1 + n % 3) for n in range(600)]
    weights = {"kiln": 0.4, "go": 0.9, "café": 0.3, "東京": 0.5}
    first = IndexedTexts(texts).scores(weights)
    for n in range(2 * _SEARCHES_BEFORE_INDEX):
        IndexedTexts(texts).scores({f"word{n}": 1.0})

    assert any(isinstance(block, IndexedBlock) for _, block in blocks_of(texts))
    assert IndexedTexts(texts).scores(weights) == first


def test_z6_a_list_of_terms_takes_no_more_memory_than_it_says():
    block = WordBlock([f"word{n} kiln kiln {n % 7}" for n in range(256)]).indexed()
    kept = sum(map(sys.getsizeof, [block._numbers, *block._numbers, *block._numbers.values(), block.lengths]))

    assert kept <= block.size_bytes


def test_z6_the_memory_of_lists_is_counted(monkeypatch):
    bounded = BoundedCache(1_500_000)
    monkeypatch.setattr(module, "word_blocks", bounded)
    texts = [" ".join(f"w{n}x{m}" for m in range(9)) for n in range(4 * BLOCK_TEXTS)]
    for n in range(2 * _SEARCHES_BEFORE_INDEX):
        IndexedTexts(texts).scores({f"word{n}": 1.0})
        stored = bounded._values.items()

        assert bounded.size_bytes <= 1_500_000
        assert bounded.size_bytes == sum(b.size_bytes + sum(map(sys.getsizeof, key)) for key, b in stored)


def test_a_chat_that_grows_is_searched_alike_by_several_threads_at_once():
    texts = [f"kiln {n} {VOCABULARY[n % 5]}" for n in range(900)]
    alone = [IndexedTexts(texts[: 300 + n]).scores({"kiln": 1.0, f"{n}": 0.5}) for n in range(200)]
    word_blocks.clear()
    with ThreadPoolExecutor(8) as threads:
        together = threads.map(lambda n: IndexedTexts(texts[: 300 + n]).scores({"kiln": 1.0, f"{n}": 0.5}), range(200))

        assert list(together) == alone
