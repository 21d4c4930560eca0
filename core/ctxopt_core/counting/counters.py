"""Get a token counter: from an encoding, a model, a tokenizer object or a function."""

from __future__ import annotations

import os
from dataclasses import asdict

from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.counting.counter_wrappers import ScaledCounter
from ctxopt_core.counting.hugging_face_counter import hugging_face_counter, is_hugging_face_tokenizer
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.counting.tokenizer_adapters import COUNTING_METHODS, function_of, tiktoken_counter_of
from ctxopt_core.models.model_ids import encoding_for

_ENCODING_NAMES = frozenset(
    {"gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"}
)


def counter_for(tokenizer: object) -> TokenCounter:
    """Return a token counter for a model name, an encoding name, a tokenizer or a function.

    A model whose tokenizer is not published gets the nearest published encoding times a safety factor, marked as not
    exact. If you have its tokenizer, pass that.

    Args:
        tokenizer: For example `"gpt-4o"`, `"cl100k_base"`, a tiktoken encoding, a Hugging Face tokenizer or the path
            of its `tokenizer.json`, `len`, the tokenizer function of a framework, a model with `get_num_tokens`, any
            other object with `count_tokens`, `encode` or `tokenize`, or a `TokenCounter`, which is returned as
            it is. A string that ends in `.json` is a path.

    Raises:
        TypeError: `tokenizer` is none of these, or a LangChain model without a custom tokenizer.
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
    if isinstance(tokenizer, str):
        name = tokenizer.strip()
        if name in _ENCODING_NAMES:
            return TiktokenCounter(name)
        if name.endswith(".json"):
            return hugging_face_counter(name)
        return counter_of_encoding(**asdict(encoding_for(name)))
    if isinstance(tokenizer, TokenCounter):
        return tokenizer
    if isinstance(tokenizer, os.PathLike) or is_hugging_face_tokenizer(tokenizer):
        return hugging_face_counter(tokenizer)
    counter = tiktoken_counter_of(tokenizer)
    if counter is not None:
        return counter
    function = function_of(tokenizer)
    if function is None:
        message = (
            "`tokenizer` must be a model name, an encoding name, a tokenizer, a function from a string to tokens or a "
            f"TokenCounter, got {type(tokenizer).__name__}, which has none of the methods {', '.join(COUNTING_METHODS)}"
        )
        raise TypeError(message)
    unnamed = "callable" if function is tokenizer else type(tokenizer).__name__
    return CallableCounter(function, name=getattr(tokenizer, "__name__", unnamed))


def counter_of_encoding(encoding: str, *, exact: bool, safety_factor: float) -> TokenCounter:
    """Return the counter of an encoding; scaled by the factor if it is not the model's own."""
    counter = TiktokenCounter(encoding)
    return counter if exact else ScaledCounter(counter, safety_factor)
