"""Counting with toktok, where it is installed, gives what tiktoken gives, or leaves the text to it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core.counting import encodings as fast_counting
from ctxopt_core.counting.encodings import UNLIKE, fast_count_of
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.runtime.text_cache import CountCache
from drawn_examples import examples
from hostile_text import HOSTILE_SAMPLES, hostile_text
from independent_recount import count_text
from shape_rows import SCRIPTS, SENTENCE

ENCODINGS = ("cl100k_base", "o200k_base")
# What such tokenizers treat in ways of their own: contractions, signs and breaks, digits, marks, title case.
TURNS = (
    "'s",
    "'LL",
    "x'Ve",
    "\n/",
    " \r\n",
    "７८９1",
    "é",
    "e\u0301",
    "ǅ",
    "ʰ",
    "ſ",
    "K",
    "\u0c5c",
    "\U000323b0",
    "a\ud800",
)
each_encoding = pytest.mark.parametrize("encoding", ENCODINGS)


@pytest.fixture(autouse=True)
def undecided():
    """Each test looks anew at what is installed, and leaves nothing behind."""
    fast_count_of.cache_clear()
    yield
    fast_count_of.cache_clear()


@pytest.fixture
def fast(encoding):
    pytest.importorskip("toktok")
    found = fast_count_of(encoding)
    assert found is not None, "toktok or tiktoken is newer than the releases that were compared: compare them"
    return found


def with_releases(monkeypatch, **releases):
    """Install doubles of the two packages that count characters."""
    doubles = {
        name: SimpleNamespace(__version__=release, _encoding=lambda name: SimpleNamespace(count=len))
        for name, release in releases.items()
    }
    monkeypatch.setattr(fast_counting, "find_spec", doubles.get)
    monkeypatch.setattr(fast_counting, "import_module", doubles.__getitem__)
    monkeypatch.setitem(sys.modules, "toktok", doubles.get("toktok"))


@each_encoding
@settings(
    deadline=None,
    max_examples=examples(400),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    parts=st.lists(st.one_of(hostile_text(4), st.sampled_from(TURNS), st.sampled_from([*SCRIPTS.values()])), max_size=9)
)
def test_a_fast_count_is_what_tiktoken_counts_or_none(fast, encoding, parts):
    text = "".join(parts)
    counted = fast(text)

    assert counted == count_text(text, encoding) or (counted is None and (UNLIKE.search(text) or max(text) >= "\ud800"))


@each_encoding
def test_every_character_is_counted_as_tiktoken_counts_it(fast, encoding):
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    characters = [character for character in characters if UNLIKE.search(character) is None]
    for start in range(0, len(characters), 4_096):
        block = characters[start : start + 4_096]
        text = "一".join(f"a{character}A 1{character}" for character in block)
        assert fast(text) == count_text(text, encoding), f"{block[0]!r} to {block[-1]!r}"


@each_encoding
@pytest.mark.parametrize("text", ["ſ", f"{SENTENCE}it'ſ", "\u0c5c", "\U0001e6c0", "\U00033479", "\ud800"])
def test_characters_that_the_two_take_for_different_things_are_left_to_tiktoken(fast, encoding, text):
    assert fast(text) is None
    assert TiktokenCounter(encoding, cache=CountCache()).count(text) == count_text(text, encoding)


@pytest.mark.parametrize("encoding", ["o200k_harmony", "gpt2", "p50k_base"])
def test_encodings_that_were_not_compared_are_left_to_tiktoken(encoding):
    assert fast_count_of(encoding) is None


@pytest.mark.parametrize(
    ("releases", "used"),
    [
        pytest.param({"toktok": "0.3.0", "tiktoken": "0.14.0"}, True, id="compared"),
        pytest.param({"toktok": "0.3.9", "tiktoken": "0.14.2"}, True, id="patch-release"),
        pytest.param({"toktok": "0.4.0", "tiktoken": "0.14.0"}, False, id="newer-toktok"),
        pytest.param({"toktok": "0.3.0", "tiktoken": "0.15.0"}, False, id="newer-tiktoken"),
        pytest.param({"toktok": "", "tiktoken": "0.14.0"}, False, id="another-package-of-that-name"),
        pytest.param({"tiktoken": "0.14.0"}, False, id="not-installed"),
    ],
)
def test_only_releases_that_were_compared_are_used(monkeypatch, releases, used):
    with_releases(monkeypatch, **releases)

    assert (fast_count_of("o200k_base") is not None) == used


@each_encoding
@pytest.mark.parametrize("release", ["0.3.0", "0.9.0"], ids=["used", "not-used"])
def test_a_counter_counts_with_what_was_compared(monkeypatch, encoding, release):
    with_releases(monkeypatch, toktok=release, tiktoken="0.14.0")
    counter = TiktokenCounter(encoding, cache=CountCache())

    assert (counter.name, counter.exact) == (encoding, True)
    for text in (SENTENCE, SENTENCE * 200):
        assert counter.count(text) == (len(text) if release == "0.3.0" else count_text(text, encoding))


@each_encoding
@pytest.mark.parametrize("text", HOSTILE_SAMPLES, ids=range(len(HOSTILE_SAMPLES)))
def test_t4_hostile_text_counts_the_same_without_it(monkeypatch, encoding, text):
    with_releases(monkeypatch, tiktoken="0.14.0")

    assert TiktokenCounter(encoding, cache=CountCache()).count(text) == count_text(text, encoding)
