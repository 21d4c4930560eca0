"""Tokenizer objects where a function from a string to tokens is expected."""

from __future__ import annotations

import importlib.util
from functools import partial

import pytest
import tiktoken

from ctxopt_core.counting.counters import counter_for
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.counting.token_counter import TokenCounter
from independent_recount import load_encoding
from shape_rows import SENTENCE

END = "<|endoftext|>"


def object_with(method, function=len):
    return type("WordPieces", (), {method: lambda self, text: function(text)})()


class AnyTransformersTokenizer:
    """Has the interface of a tokenizer of `transformers`: callable, adds a token at each end, may cut and fill up."""

    name_or_path = "somebody/some-model"

    def __init__(self):
        self.asked = []

    def __call__(self, text):
        return {"input_ids": [0, *self._ids(text), 1]}

    def encode(self, text, *, add_special_tokens=True, truncation=True, padding=True, verbose=True):
        self.asked.append((add_special_tokens, truncation, padding, verbose))
        return self._ids(text)

    def _ids(self, text):
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise TypeError
        return list(text.encode())


class FastTokenizer(AnyTransformersTokenizer):
    """A tokenizer of a model's own code, which derives from one of the library."""


AnyTransformersTokenizer.__module__ = "transformers.tokenization_utils_base"


@pytest.mark.parametrize(
    ("tokenizer", "tokens"),
    [
        pytest.param(object_with("encode", list), 6, id="encode"),
        pytest.param(object_with("tokenize", str.split), 2, id="tokenize"),
        pytest.param(object_with("count_tokens"), 6, id="count_tokens"),
        pytest.param(object_with("get_num_tokens"), 6, id="langchain-model"),
        pytest.param(object_with("get_string_tokens"), 6, id="llamaindex-token-counter"),
    ],
)
def test_t12_a_tokenizer_object_counts_with_its_method(tokenizer, tokens):
    counter = counter_for(tokenizer)

    assert isinstance(counter, TokenCounter)
    assert (counter.name, counter.exact, counter.count("ab cde")) == ("WordPieces", True, tokens)


def test_t12_a_callable_object_is_called():
    both = type("Callable", (), {"__call__": lambda self, text: 3, "encode": lambda self, text: [1]})()

    assert (counter_for(both).count("ab cde"), counter_for(both).name) == (3, "callable")


@pytest.mark.parametrize("kind", [AnyTransformersTokenizer, FastTokenizer])
def test_t12_a_tokenizer_of_transformers_is_asked_for_the_whole_text_and_nothing_more(kind):
    tokenizer = kind()
    counter = counter_for(tokenizer)

    assert (counter.name, counter.count("ab cde"), counter.count("\ud800")) == ("some-model", 6, 3)
    assert set(tokenizer.asked) == {(False, False, False, False)}


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize(
    "given_as",
    [
        pytest.param(lambda encoding: encoding, id="encoding"),
        pytest.param(lambda encoding: encoding.encode, id="method"),
        pytest.param(lambda encoding: partial(encoding.encode, allowed_special="all"), id="partial"),
    ],
)
def test_t3_an_encoding_of_tiktoken_counts_special_tokens_as_text(given_as, name):
    counter = counter_for(given_as(load_encoding(name)))

    assert counter == TiktokenCounter(name)
    assert counter.count(END) == 7


def test_t3_an_encoding_of_ones_own_counts_special_tokens_as_text():
    ranks = {bytes([value]): value for value in range(256)}
    encoding = tiktoken.Encoding("letters", pat_str=r"\S|\s", mergeable_ranks=ranks, special_tokens={END: 256})

    assert (counter_for(encoding).name, counter_for(encoding.encode).count(END)) == ("letters", len(END))


@pytest.mark.parametrize("name", ["get_num_tokens_from_messages", "count_tokens_approximately"])
def test_t12_a_function_that_counts_messages_is_an_error(name):
    def function(messages):
        return len(messages)

    function.__name__ = name
    with pytest.raises(
        TypeError, match=f"from a string to tokens, got {name}, which counts messages; pass .*get_num_tokens"
    ):
        counter_for(function)


@pytest.mark.parametrize("tokenizer", [object(), 4, [SENTENCE], {"encode": len}, b"gpt-4"])
def test_t12_an_object_that_cannot_count_is_an_error_with_what_it_could_have(tokenizer):
    with pytest.raises(TypeError, match=f"got {type(tokenizer).__name__}, which has none of the methods count_tokens,"):
        counter_for(tokenizer)


def test_t14_a_file_without_its_library_names_the_command(monkeypatch, tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setattr("ctxopt_core.counting.hugging_face_counter.find_spec", lambda name: None)

    with pytest.raises(ImportError, match="pip install tokenizers"):
        counter_for(tmp_path / "tokenizer.json")


def test_t14_a_file_is_read_by_the_first_count(tmp_path):
    if importlib.util.find_spec("tokenizers") is None:
        pytest.skip("tokenizers is not installed")
    path = tmp_path / "tokenizer.json"
    path.write_text("no tokenizer")
    counter = counter_for(path)

    with pytest.raises(Exception, match="expected"):
        counter.count("lantern")
