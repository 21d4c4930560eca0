"""How tokenizer objects count: the encoding that they are, or the function or method that they count with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any

from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.counting.encodings import BUNDLED_ENCODINGS
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter

COUNTING_METHODS = ("count_tokens", "get_num_tokens", "get_string_tokens", "encode", "tokenize")
"""Methods that a tokenizer may count with, in the order in which they are looked for."""

_LANGCHAIN_MODELS = "langchain_core.language_models.base"
_OF_MESSAGES = frozenset({"get_num_tokens_from_messages", "count_tokens_approximately"})


def tiktoken_counter_of(tokenizer: object) -> TiktokenCounter | CallableCounter | None:
    """Return the counter of a tiktoken encoding, given as the encoding or as one of its methods; else None.

    It counts special tokens in a string as ordinary text, on which some of those methods raise.
    """
    encoding = _encoding_of(tokenizer)
    if encoding is None:
        return None
    if encoding.name in BUNDLED_ENCODINGS:
        return TiktokenCounter(encoding.name)
    return CallableCounter(encoding.encode_ordinary, name=encoding.name)


def function_of(tokenizer: object) -> Callable[[str], Any] | None:
    """Return the function from a string to tokens that a tokenizer is or has, or None.

    Raises:
        TypeError: It counts messages, not strings, or is a LangChain model without a custom tokenizer.
    """
    owner = tokenizer.__self__ if isinstance(tokenizer, MethodType) else tokenizer
    if _uses_default_tokenizer(owner):
        message = (
            "`tokenizer` must count as the model does, but LangChain counts for a "
            f"{type(owner).__name__} with the tokenizer of GPT-2, which it downloads; pass the name of the model"
        )
        raise TypeError(message)
    if callable(tokenizer):
        name = getattr(tokenizer, "__name__", "")
        if name in _OF_MESSAGES:
            message = (
                f"`tokenizer` must be a function from a string to tokens, got {name}, which counts messages; pass the "
                "model's `get_num_tokens`, or a model name"
            )
            raise TypeError(message)
        return tokenizer
    methods = (getattr(tokenizer, name, None) for name in COUNTING_METHODS)
    return next((method for method in methods if callable(method)), None)


def _uses_default_tokenizer(model: object) -> bool:
    """Return whether a LangChain model counts with LangChain's default tokenizer."""
    if getattr(model, "custom_get_token_ids", None) is not None:
        return False
    methods = [getattr(type(model), name, None) for name in ("get_num_tokens", "get_token_ids")]
    return all(getattr(method, "__module__", None) == _LANGCHAIN_MODELS for method in methods)


def _encoding_of(tokenizer: object) -> Any:
    method = tokenizer.func if isinstance(tokenizer, partial) else tokenizer
    owner = method.__self__ if isinstance(method, MethodType) else method
    # tiktoken is not imported for this: an object of it exists only where it was imported.
    is_encoding = type(owner).__module__.partition(".")[0] == "tiktoken" and hasattr(owner, "encode_ordinary")
    return owner if is_encoding else None
