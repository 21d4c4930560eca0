"""Tokenizers of Hugging Face, as objects and as files, with a vocabulary that is trained on the spot."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from ctxopt_core.counting.counters import counter_for
from ctxopt_core.counting.hugging_face_counter import hugging_face_counter
from ctxopt_core.counting.token_counter import TokenCounter
from drawn_examples import examples
from hostile_text import hostile_text
from shape_rows import SCRIPTS, SENTENCE

END = "<|endoftext|>"


def trained():
    """A byte-pair encoding of 300 tokens that puts `<|endoftext|>` around each text."""
    tokenizers = pytest.importorskip("tokenizers")
    bytes_of_text = tokenizers.pre_tokenizers.ByteLevel
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = bytes_of_text(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=[END], initial_alphabet=bytes_of_text.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([SENTENCE] * 4, trainer)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{END} $A {END}", special_tokens=[(END, 0)]
    )
    return tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return trained()


@pytest.fixture
def file(tokenizer, tmp_path):
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_t12_a_tokenizer_counts_without_the_tokens_that_it_adds(tokenizer):
    counter = counter_for(tokenizer)

    assert isinstance(counter, TokenCounter)
    assert (counter.exact, counter.name) == (True, "Tokenizer")
    assert counter.count(SENTENCE) == len(tokenizer.encode(SENTENCE).ids) - 2
    assert [counter.count(text) for text in ("", "q")] == [0, 1]


@pytest.mark.parametrize("given_as", [Path, str, lambda path: path.parent], ids=["path", "text", "folder"])
def test_t12_a_file_counts_what_its_tokenizer_counts(tokenizer, file, given_as):
    counter = counter_for(given_as(file)) if given_as is not str else counter_for(f" {file}\n")

    assert counter.name == file.parent.name
    assert [counter.count(t) for t in (SENTENCE, *SCRIPTS.values())] == [
        len(tokenizer.encode(t, add_special_tokens=False)) for t in (SENTENCE, *SCRIPTS.values())
    ]


def test_t3_a_special_token_in_a_text_is_ordinary_text_for_a_file_and_what_an_object_makes_of_it(tokenizer, file):
    assert counter_for(file).count(END) > 7
    assert counter_for(tokenizer).count(END) == 1


def test_t12_a_file_that_cuts_and_fills_up_texts_counts_them_whole(tokenizer, tmp_path):
    shortened = copy.deepcopy(tokenizer)
    shortened.enable_truncation(8)
    shortened.enable_padding(length=64)
    shortened.save(str(tmp_path / "tokenizer.json"))

    counter = counter_for(tmp_path / "tokenizer.json")

    assert [counter.count(SENTENCE * 9), counter.count("q")] == [counter_for(tokenizer).count(SENTENCE * 9), 1]


@pytest.mark.parametrize("spoil", ["enable_truncation", "enable_padding"])
def test_t12_an_object_that_cuts_or_fills_up_texts_is_an_error(tokenizer, spoil):
    spoilt = copy.deepcopy(tokenizer)
    getattr(spoilt, spoil)(**({"max_length": 8} if spoil == "enable_truncation" else {"length": 8}))

    with pytest.raises(
        ValueError, match=r"`tokenizer` must count a string as it is.*`no_truncation\(\)`.*got a Tokenizer"
    ):
        counter_for(spoilt)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("meta-llama/Llama-3.1-8B", id="name-on-the-hub"),
        pytest.param("elsewhere/tokenizer.json", id="missing-file"),
        pytest.param(Path("elsewhere"), id="missing-folder"),
    ],
)
def test_t14_what_is_no_file_is_an_error_and_never_a_download(name):
    with pytest.raises(
        ValueError, match=r"`tokenizer` must be the path.*got '.*', where there is none; nothing is down"
    ):
        hugging_face_counter(name)


def test_t14_a_name_on_the_hub_is_a_model_name_and_is_estimated():
    assert counter_for("meta-llama/Llama-3.1-8B").name == "o200k_base x 1.2"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples(60))
@given(text=hostile_text())
def test_t4_hostile_text_is_counted_and_cut(tokenizer, text):
    counter = counter_for(tokenizer)
    head, tail = counter.prefix_length(text, 9), counter.suffix_length(text, 9)

    assert counter.count(text) >= bool(text)
    assert counter.exceeds(text, 9) == (counter.count(text) > 9)
    assert max(counter.count(text[:head]), counter.count(text[len(text) - tail :])) <= 9


def test_t4_a_lone_surrogate_counts_as_the_replacement_character(tokenizer):
    counter = counter_for(tokenizer)

    assert counter.count("a\ud800b") == counter.count("a\ufffdb")
    assert counter.count("\ud83d\ude00") == counter.count("😀")


def test_counters_of_both_kinds_pickle(tokenizer, file):
    for counter in (counter_for(tokenizer), counter_for(file)):
        again = pickle.loads(pickle.dumps(counter))  # noqa: S301
        assert (again.name, again.count(SENTENCE)) == (counter.name, counter.count(SENTENCE))


def test_a_counter_may_be_used_from_any_thread(file):
    counter = counter_for(file)
    texts = [SENTENCE * size for size in range(1, 40)]

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(counter.count, texts))

    assert counts == [counter_for(file).count(text) for text in texts]
