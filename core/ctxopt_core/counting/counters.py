"""Get a token counter: from an encoding, a model, a tokenizer object or a function."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache, partial
from types import MethodType
from typing import Any

from ctxopt_core.counting.callable_counter import CallableCounter, is_awaited
from ctxopt_core.counting.conservative import CONSERVATIVE_LARGE
from ctxopt_core.counting.counter_wrappers import LargestCounter, ScaledCounter
from ctxopt_core.counting.encodings import BUNDLED_ENCODINGS
from ctxopt_core.counting.estimate_counter import EstimateCounter
from ctxopt_core.counting.hugging_face_counter import hugging_face_counter, is_hugging_face_tokenizer
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.models.model_ids import CONSERVATIVE_FACTOR, encoding_for
from ctxopt_core.models.tekken_file import TEKKEN

_ENCODING_NAMES = frozenset(
    {*BUNDLED_ENCODINGS, TEKKEN, "gpt2", "r50k_base", "p50k_base", "p50k_edit", "o200k_harmony"}
)
# Methods that a tokenizer may count with, in the order in which they are looked for.
_COUNTING_METHODS = ("count_tokens", "get_num_tokens", "get_string_tokens", "encode", "tokenize")
_CACHED_CHOICES = 64  # encodings with a factor, of which each has one counter, so that its counts are shared
_LANGCHAIN_MODELS = "langchain_core.language_models.base"
APPROXIMATE = "approximate"  # what LangChain's `trim_messages` calls a count without a tokenizer
_OF_MESSAGES = frozenset({"get_num_tokens_from_messages", "count_tokens_approximately"})


def counter_for(tokenizer: object) -> TokenCounter:
    """Return a token counter for a model name, an encoding name, a tokenizer or a function.

    A model whose tokenizer is not published gets the nearest published encoding times a safety factor, or a
    conservative vocabulary where that needs more tokens (digits, tables, code, other scripts), marked as not exact. If
    you have its tokenizer, pass that. Mistral's models are counted exactly where `mistral-common` is installed.

    Args:
        tokenizer: For example `"gpt-4o"`, `"cl100k_base"`, a tiktoken encoding, a Hugging Face tokenizer or the path
            of its `tokenizer.json`, `len` of a string, which makes a character a token, `"approximate"` for an
            estimate without a tokenizer, the tokenizer function of a framework, a model with `get_num_tokens`, any
            other object with `count_tokens`, `encode` or `tokenize`, or a `TokenCounter`, which is returned as it is.
            A string that ends in `.json` is a path.

    Raises:
        TypeError: `tokenizer` is none of these, counts messages, has to be awaited, or is a LangChain model without a
            custom tokenizer. A function that takes no string, or returns no tokens, is found when it is used.
        ValueError: The model name is empty, or there is no such file.
        ImportError: A `tokenizer.json` is given and `tokenizers` is not installed.

    Example:
        >>> from ctxopt_core import counter_for
        >>> counter_for("gpt-4o").name
        'o200k_base'
        >>> counter = counter_for("claude-sonnet-4-5")
        >>> counter.name, counter.exact
        ('o200k_base x 1.35', False)
    """
    return counter_given(tokenizer, "tokenizer")


def counter_given(tokenizer: object, argument: str) -> TokenCounter:
    """Return the counter that `counter_for` does; its errors name the argument in which the tokenizer was given."""
    if isinstance(tokenizer, str):
        name = tokenizer.strip()
        if name in _ENCODING_NAMES:
            return TiktokenCounter(name)
        if name == APPROXIMATE:
            return EstimateCounter()
        if name.endswith(".json"):
            return hugging_face_counter(name)
        return counter_of_encoding(**asdict(encoding_for(name)))
    if isinstance(tokenizer, TokenCounter):
        return tokenizer
    if isinstance(tokenizer, os.PathLike) or is_hugging_face_tokenizer(tokenizer):
        return hugging_face_counter(tokenizer)
    counter = _tiktoken_counter_of(tokenizer)
    if counter is not None:
        return counter
    function = _function_of(tokenizer, argument)
    if function is None:
        message = (
            f"`{argument}` must be a model name, an encoding name, a tokenizer, a function from a string to tokens or "
            f"a TokenCounter, got {type(tokenizer).__name__}, which has none of the methods "
            f"{', '.join(_COUNTING_METHODS)}"
        )
        raise TypeError(message)
    unnamed = "callable" if function is tokenizer else type(tokenizer).__name__
    return CallableCounter(function, name=getattr(tokenizer, "__name__", unnamed))


@lru_cache(maxsize=_CACHED_CHOICES)
def counter_of_encoding(encoding: str, *, exact: bool, safety_factor: float) -> TokenCounter:
    """Return the counter of an encoding; if it is not the model's own, one that is not too low.

    That is the encoding's count times the factor, or what a conservative vocabulary counts if that is more.
    """
    counter = TiktokenCounter(encoding)
    if exact:
        return counter
    scaled = ScaledCounter(counter, safety_factor)
    if encoding not in BUNDLED_ENCODINGS:
        return scaled
    at_least = ScaledCounter(TiktokenCounter(CONSERVATIVE_LARGE), CONSERVATIVE_FACTOR)
    return LargestCounter(counters=(scaled, at_least), name=scaled.name)


def _tiktoken_counter_of(tokenizer: object) -> TiktokenCounter | CallableCounter | None:
    """Return the counter of a tiktoken encoding, given as the encoding or as one of its methods; else None.

    It counts special tokens in a string as ordinary text, on which some of those methods raise.
    """
    method = tokenizer.func if isinstance(tokenizer, partial) else tokenizer
    encoding: Any = method.__self__ if isinstance(method, MethodType) else method
    # tiktoken is not imported for this: an object of it exists only where it was imported.
    if type(encoding).__module__.partition(".")[0] != "tiktoken" or not hasattr(encoding, "encode_ordinary"):
        return None
    if encoding.name in BUNDLED_ENCODINGS:
        return TiktokenCounter(encoding.name)
    return CallableCounter(encoding.encode_ordinary, name=encoding.name)


def _function_of(tokenizer: object, argument: str) -> Callable[[str], Any] | None:
    """Return the function from a string to tokens that a tokenizer is or has, or None.

    Raises:
        TypeError: It counts messages, not strings, has to be awaited, or is a LangChain model without a custom
            tokenizer.
    """
    owner: Any = tokenizer
    while isinstance(owner, partial):
        owner = owner.func
    owner = owner.__self__ if isinstance(owner, MethodType) else owner
    if _uses_default_tokenizer(owner):
        message = (
            f"`{argument}` must count as the model does, but LangChain counts for a "
            f"{type(owner).__name__} with the tokenizer of GPT-2, which it downloads; pass the name of the model"
        )
        raise TypeError(message)
    methods = (getattr(tokenizer, name, None) for name in _COUNTING_METHODS)
    found = tokenizer if callable(tokenizer) else next((method for method in methods if callable(method)), None)
    innermost: Any = found
    while isinstance(innermost, partial):
        innermost = innermost.func
    name = getattr(innermost, "__name__", type(innermost).__name__)
    if name in _OF_MESSAGES:
        message = (
            f"`{argument}` must be a function from a string to tokens, got {name}, which counts messages; pass the "
            "model's `get_num_tokens`, a model name, or 'approximate'"
        )
        raise TypeError(message)
    if is_awaited(found):
        message = (
            f"`{argument}` must be a plain function from a string to tokens, got {name}, which has to be awaited; pass "
            "one that is not, a model name, or 'approximate'"
        )
        raise TypeError(message)
    return found


def _uses_default_tokenizer(model: object) -> bool:
    """Return whether a LangChain model counts with LangChain's default tokenizer."""
    if getattr(model, "custom_get_token_ids", None) is not None:
        return False
    methods = [getattr(type(model), name, None) for name in ("get_num_tokens", "get_token_ids")]
    return all(getattr(method, "__module__", None) == _LANGCHAIN_MODELS for method in methods)
