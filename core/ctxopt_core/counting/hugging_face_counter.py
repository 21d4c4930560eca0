"""Counting with a Hugging Face tokenizer: an object of `tokenizers` or `transformers`, or a `tokenizer.json`."""

from __future__ import annotations

import os
import threading
from collections.abc import Sized
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.text.surrogates import joined_surrogates

FILE_NAME = "tokenizer.json"
_LIBRARIES = frozenset({"tokenizers", "transformers"})
# Otherwise a tokenizer of `transformers` may truncate or pad a string, or warn about its length.
_WHOLE_TEXT = {"truncation": False, "padding": False, "verbose": False}


def is_hugging_face_tokenizer(tokenizer: object) -> bool:
    """Return whether an object is a tokenizer of `tokenizers` or `transformers`; neither is imported for it."""
    libraries = set(map(_library_of, type(tokenizer).__mro__))
    return not libraries.isdisjoint(_LIBRARIES) and hasattr(tokenizer, "encode")


def hugging_face_counter(tokenizer: object) -> CallableCounter:
    """Return a counter that uses a Hugging Face tokenizer, without the tokens that it adds around a string.

    Args:
        tokenizer: A `tokenizers.Tokenizer`, a tokenizer of `transformers`, the path of a `tokenizer.json`, or the
            path of a folder with one. An object decides itself how special tokens inside a string are tokenized; with
            a file they are ordinary text. A file is loaded by the first count.

    Raises:
        ValueError: There is no such file, and nothing is downloaded; or the object truncates or pads strings.
        ImportError: A file is given and `tokenizers` is not installed.
    """
    if isinstance(tokenizer, str | os.PathLike):
        path = _tokenizer_file(Path(tokenizer))
        return CallableCounter(_Tokens(path), name=path.parent.name or FILE_NAME)
    if getattr(tokenizer, "truncation", None) or getattr(tokenizer, "padding", None):
        message = (
            "`tokenizer` must count a string as it is, without truncation or padding; call its `no_truncation()` and "
            f"`no_padding()` first, got a {type(tokenizer).__name__} with one of the two"
        )
        raise ValueError(message)
    named = getattr(tokenizer, "name_or_path", None)
    name = Path(named).name if isinstance(named, str) and named else type(tokenizer).__name__
    return CallableCounter(_Tokens(tokenizer), name=name)


class _Tokens:
    """From a string to its tokens, one string at a time: tokenizers of `transformers` change while they encode.

    Args:
        source: The tokenizer, or the path of its file, which is loaded by the first call.
    """

    __slots__ = ("_lock", "_options", "_source", "_tokenizer")

    def __init__(self, source: Any) -> None:
        self._source = source
        from_file = isinstance(source, Path)
        self._tokenizer = None if from_file else source
        of_tokenizers = from_file or _library_of(type(source)) == "tokenizers"
        self._options: dict[str, bool] = {} if of_tokenizers else _WHOLE_TEXT
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[object, ...]:
        return _Tokens, (self._source,)

    def __call__(self, text: str) -> Sized:
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = _loaded(self._source)
            # Lone surrogates, which these tokenizers refuse, are counted as the replacement character.
            readable = joined_surrogates(text)
            tokens: Sized = self._tokenizer.encode(readable, add_special_tokens=False, **self._options)
        return tokens


def _library_of(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _loaded(path: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def _tokenizer_file(path: Path) -> Path:
    file = path / FILE_NAME if path.is_dir() else path
    if not file.is_file():
        message = (
            f"`tokenizer` must be the path of a {FILE_NAME} or of a folder with one, got {str(path)!r}, where there is "
            "none; nothing is downloaded: save the tokenizer first, or pass the tokenizer object"
        )
        raise ValueError(message)
    if find_spec("tokenizers") is None:
        message = f"reading {FILE_NAME} needs the package tokenizers: pip install tokenizers"
        raise ImportError(message)
    return file.absolute()
