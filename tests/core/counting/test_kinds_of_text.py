"""No kind of text is counted below a published vocabulary, and Mistral counts exactly where its own is installed."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core.counting import encodings
from ctxopt_core.counting.conservative import CONSERVATIVE_ENCODINGS
from ctxopt_core.counting.counter_wrappers import CappedCounter, LargestCounter, ScaledCounter
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.counting.estimate_counter import EstimateCounter
from ctxopt_core.counting.rewritten_counter import RewrittenCounter
from ctxopt_core.counting.split_points import SAFE_CUT
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.errors import CtxoptError
from ctxopt_core.models import model_ids
from ctxopt_core.runtime.text_cache import CountCache
from drawn_examples import examples
from hostile_text import HOSTILE_SAMPLES, hostile_text
from independent_recount import count_text
from kinds_of_text import KINDS, mistral_tokenizer, tekken_tokens

UNHURRIED = settings(deadline=None, max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
each_kind = pytest.mark.parametrize("kind", KINDS)
NOT_PUBLISHED = ("claude-sonnet-4-5", "gemini-3-pro", "grok-4", "my-own-model", "open-mixtral-8x7b")
ENCODINGS = ("tekken", *CONSERVATIVE_ENCODINGS)
# Characters at which the patterns of the vocabularies behave differently.
TRICKY = st.text(
    st.sampled_from("a'sLlAſ 1६7７.,/;_-\t\n\r\u00a0\u0085\u001c\u2028\u3000\u0301\u200d灯한។ଅ。👍<|>{}"), max_size=60
)
PRICES = "\n".join(f"{random.Random(3).random() * 1000:.2f}" for _ in range(3000))


def published(text):
    """The most tokens that a published vocabulary needs."""
    return max(count_text(text, "o200k_base"), count_text(text, "cl100k_base"), tekken_tokens(text))


def without_mistral_common(monkeypatch):
    monkeypatch.setattr(model_ids, "tekken_file", lambda: None)
    monkeypatch.setattr(encodings, "tekken_file", lambda: None)


@each_kind
@pytest.mark.parametrize("model", NOT_PUBLISHED)
def test_l27_no_kind_of_text_is_counted_below_a_published_vocabulary(kind, model):
    counter = counter_for(model)

    assert not counter.exact
    assert counter.count(KINDS[kind]) >= published(KINDS[kind])


@each_kind
def test_l27_mistral_without_its_vocabulary_is_not_counted_below_it(kind, monkeypatch):
    without_mistral_common(monkeypatch)
    counter = counter_for("mistral-large-latest")

    assert not counter.exact
    assert counter.count(KINDS[kind]) >= tekken_tokens(KINDS[kind])


@each_kind
def test_l27_mistral_with_its_vocabulary_is_counted_exactly(kind):
    counter = counter_for("mistral-large-latest")

    assert (counter.name, counter.exact) == ("tekken", True)
    assert counter.count(KINDS[kind]) == tekken_tokens(KINDS[kind])


@pytest.mark.parametrize("installed", [True, False])
def test_l27_a_tool_result_of_3000_prices_is_not_counted_too_low(installed, monkeypatch):
    if not installed:
        without_mistral_common(monkeypatch)

    assert tekken_tokens(PRICES) <= counter_for("mistral-large-latest").count(PRICES) <= 1.05 * tekken_tokens(PRICES)


@each_kind
def test_l27_claude_is_never_counted_below_its_factor(kind):
    assert 100 * counter_for("claude-opus-4-5").count(KINDS[kind]) >= 135 * count_text(KINDS[kind])


@pytest.mark.parametrize(("model", "factor"), [("claude-sonnet-4-5", 1.35), ("gemini-3-pro", 1.2)])
def test_l27_english_costs_no_more_than_the_factor(model, factor):
    tokens = count_text(KINDS["english"])

    assert counter_for(model).count(KINDS["english"]) <= factor * tokens + 1


@each_kind
def test_l27_no_usual_kind_of_text_is_counted_at_half_as_much_again(kind):
    most = 3 if kind in {"box_drawing", "lines_of_signs", "long_rules"} else 1.5

    assert counter_for("gemini-3-pro").count(KINDS[kind]) <= most * published(KINDS[kind])


@each_kind
def test_l27_an_estimate_without_a_vocabulary_is_not_too_low_either(kind):
    # Pairs of signs that are in no vocabulary cost a token for each sign, which is more than signs do in code.
    least = 0.8 if kind == "pairs_of_signs" else 0.95

    assert EstimateCounter().count(KINDS[kind]) >= least * published(KINDS[kind])


@pytest.mark.parametrize("encoding", ENCODINGS)
@UNHURRIED
@given(text=st.one_of(TRICKY, hostile_text(), st.sampled_from([*KINDS.values(), *HOSTILE_SAMPLES])))
def test_l27_counts_add_up_at_safe_cuts(encoding, text):
    counter = TiktokenCounter(encoding, cache=CountCache(0))
    borders = [0, *(cut.start() for cut in SAFE_CUT.finditer(text)), len(text)]
    parts = [text[start:stop] for start, stop in pairwise(borders)]

    assert sum(map(counter.count, parts)) == counter.count(text)


def counters():
    yield from (TiktokenCounter(name, cache=CountCache(0)) for name in ENCODINGS)
    yield counter_for("claude-sonnet-4-5")
    yield counter_for("open-mixtral-8x7b")
    yield RewrittenCounter(counter_for("mistral-large-latest"))


@UNHURRIED
@given(
    text=st.one_of(TRICKY, hostile_text(), st.sampled_from([*KINDS.values(), *HOSTILE_SAMPLES])),
    limit=st.integers(-1, 400),
)
def test_x10_l27_a_cut_never_counts_more_than_asked(text, limit):
    for counter in counters():
        head, tail = counter.prefix_length(text, limit), counter.suffix_length(text, limit)
        whole = counter.count(text)

        assert counter.exceeds(text, limit) == (whole > limit), counter
        assert counter.count(text[:head]) <= max(0, limit), counter
        assert counter.count(text[len(text) - tail :]) <= max(0, limit), counter
        if 0 < limit >= whole:
            assert head == tail == len(text), counter


@pytest.mark.parametrize("kind", ["prices", "json", "python", "chinese", "digits", "line_breaks", "spaces"])
def test_l27_a_long_text_is_counted_piece_by_piece_and_cut_near_its_limit(kind):
    text = KINDS[kind] * (60_000 // len(KINDS[kind]))
    for counter in counters():
        whole = counter.count(text)
        assert whole >= 0.99 * tekken_tokens(text)
        for limit in (100, whole // 3, whole - 1):
            assert counter.exceeds(text, limit)
            head = counter.prefix_length(text, limit)
            assert 0.9 * limit - 5 <= counter.count(text[:head]) <= limit
            tail = counter.suffix_length(text, limit)
            assert 0.9 * limit - 5 <= counter.count(text[len(text) - tail :]) <= limit


def test_l27_a_capped_counter_caps_the_largest_of_several():
    counter = CappedCounter(counter_for("gemini-3-pro"), 500)

    assert counter.count(PRICES) == 501
    assert counter.count("1.50") == counter_for("gemini-3-pro").count("1.50")


def test_l27_of_several_counters_the_largest_count_counts():
    words, characters = ScaledCounter(counter_for(str.split), 2), counter_for(len)
    counter = LargestCounter(counters=(words, characters), name="either")

    assert [counter.count(text) for text in ("", "a b", "a b c d", "abcdefgh")] == [0, 4, 8, 8]
    assert (counter.name, counter.exact, repr(counter)) == ("either", False, "LargestCounter('either')")
    with pytest.raises(ValueError, match="`counters` must hold at least one counter, got none"):
        LargestCounter(counters=(), name="none")


def test_l27_json_counts_as_mistral_writes_it():
    counter = RewrittenCounter(TiktokenCounter("tekken"))
    compact, spaced = KINDS["json_compact"], KINDS["json"]

    assert counter.count(compact) == counter.count(spaced) == tekken_tokens(spaced) > tekken_tokens(compact)
    assert counter.count(KINDS["json_indented"]) == tekken_tokens(KINDS["json_indented"])
    assert counter.count("") == 0
    assert counter.count("it's lit") == tekken_tokens("it's lit")
    assert counter.count('a "b"\n\n') == tekken_tokens(r"a \"b\"\n\n")
    assert (counter.name, counter.exact) == ("tekken", True)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": 1', "[NaN]", "{}", "[1e999]", '["\\ud800"]'])
def test_l27_what_only_looks_like_json_is_counted_as_it_is(text):
    counter = RewrittenCounter(TiktokenCounter("tekken"))

    assert counter.count(text) >= TiktokenCounter("tekken").count(text)


def test_l27_without_mistral_common_tekken_says_what_to_install(monkeypatch):
    without_mistral_common(monkeypatch)
    monkeypatch.setattr(encodings, "_loaded", {})

    with pytest.raises(CtxoptError, match=r"'tekken' is part of mistral-common; pip install 'ctxopt-core\[mistral\]'"):
        TiktokenCounter("tekken", cache=CountCache(0)).count("one")


def test_l27_a_damaged_vocabulary_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(encodings, "_loaded", {})
    file = tmp_path / "tekken_240718.json"
    file.write_text("{}")
    monkeypatch.setattr(encodings, "tekken_file", lambda: file)

    with pytest.raises(CtxoptError, match=r"tekken_240718.json of mistral-common is damaged"):
        TiktokenCounter("tekken", cache=CountCache(0)).count("one")


def test_l27_threads_load_tekken_once(monkeypatch):
    monkeypatch.setattr(encodings, "_loaded", {})
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(encodings.load_encoding, ["tekken"] * 8))

    assert len(set(map(id, loaded))) == 1


def test_l27_both_vocabularies_in_the_wheel_are_the_same():
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    pixtral = MistralTokenizer.v3(is_tekken=True, is_mm=True).instruct_tokenizer.tokenizer
    ours = encodings.load_encoding("tekken")

    assert pixtral._model._mergeable_ranks == ours._mergeable_ranks
    assert mistral_tokenizer().instruct_tokenizer.tokenizer._model._pat_str == ours._pat_str == pixtral._model._pat_str
