"""Counting with a Hugging Face tokenizer: an object of `tokenizers` or `transformers`, or a `tokenizer.json`."""

from __future__ import annotations

import os
import threading
from collections.abc import Sized
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.text.surrogates import has_surrogates, joined_surrogates

FILE_NAME = "tokenizer.json"
_LIBRARIES = frozenset({"tokenizers", "transformers"})
# What a tokenizer of `transformers` would otherwise do to a long text: cut it, fill it up, or warn about it.
_WHOLE_TEXT = {"truncation": False, "padding": False, "verbose": False}


def is_hugging_face_tokenizer(tokenizer: object) -> bool:
    """Tell whether an object is a tokenizer of `tokenizers` or `transformers`; neither is imported for it."""
    kinds = {kind.__module__.partition(".")[0] for kind in type(tokenizer).__mro__}
    return not kinds.isdisjoint(_LIBRARIES) and hasattr(tokenizer, "encode")


def hugging_face_counter(tokenizer: object) -> CallableCounter:
    """Return a counter of what a Hugging Face tokenizer makes of a text, without the tokens it adds around a text.

    Args:
        tokenizer: A `tokenizers.Tokenizer`, a tokenizer of `transformers`, the path of a `tokenizer.json`, or the
            path of a folder that holds one. An object decides itself what a special token inside a text is; a file is
            read so that it is ordinary text. A file is loaded by the first count.

    Raises:
        ValueError: There is no such file, since nothing is ever downloaded; or the object cuts or fills up texts.
        ImportError: A file is given and `tokenizers` is not installed.
    """
    if isinstance(tokenizer, str | os.PathLike):
        path = _tokenizer_file(Path(tokenizer))
        return CallableCounter(_TokenizerFile(path), name=path.parent.name or FILE_NAME)
    if getattr(tokenizer, "truncation", None) or getattr(tokenizer, "padding", None):
        message = (
            "`tokenizer` must count a text as it is, but cuts it off or fills it up; call its `no_truncation()` and "
            f"`no_padding()` first, got a {type(tokenizer).__name__} with one of the two"
        )
        raise ValueError(message)
    return CallableCounter(_TokenizerObject(tokenizer), name=_name_of(tokenizer))


class _TokenizerObject:
    """The tokens of a text, asked of a tokenizer one text at a time: those of `transformers` change as they encode."""

    __slots__ = ("_lock", "_options", "_tokenizer")

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        library = type(tokenizer).__module__.partition(".")[0]
        self._options: dict[str, bool] = {} if library == "tokenizers" else _WHOLE_TEXT
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[object, ...]:
        return _TokenizerObject, (self._tokenizer,)

    def __call__(self, text: str) -> Sized:
        with self._lock:
            tokens: Sized = self._tokenizer.encode(_readable(text), add_special_tokens=False, **self._options)
        return tokens


class _TokenizerFile:
    """The tokens of a text, by a file that is loaded when it is first asked."""

    __slots__ = ("_loaded", "_loading", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._loaded: Any = None
        self._loading = threading.Lock()

    def __reduce__(self) -> tuple[object, ...]:
        return _TokenizerFile, (self._path,)

    def __call__(self, text: str) -> Sized:
        if self._loaded is None:
            with self._loading:
                self._loaded = self._loaded or _loaded(self._path)
        tokens: Sized = self._loaded.encode(_readable(text), add_special_tokens=False)
        return tokens


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


def _readable(text: str) -> str:
    """Lone surrogates, which these tokenizers refuse, are counted as the replacement character."""
    return joined_surrogates(text) if has_surrogates(text) else text


def _name_of(tokenizer: object) -> str:
    named = getattr(tokenizer, "name_or_path", None)
    return Path(named).name if isinstance(named, str) and named else type(tokenizer).__name__
