"""The option `--tokenizer`: an encoding, a model, or the file of a Hugging Face tokenizer."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import click

from ctxopt_core.command_line.errors import one_line
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.counting.hugging_face_counter import FILE_NAME, hugging_face_counter
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.models.catalog import builtin_index
from ctxopt_core.models.model_ids import encoding_for

_REMEDY = f"give an encoding such as o200k_base, the id of a model, or the path of a {FILE_NAME}"


def read_tokenizer(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the name of an encoding or of a model, or the path of a tokenizer file, after checking that it is one.

    An unknown name is an error and not estimated, since it is most likely misspelled.

    Raises:
        click.BadParameter: It is blank, unknown, or the path of something that is not a tokenizer.
    """
    if value is None:
        return None
    try:
        return _named(value.strip())
    except (ValueError, ImportError, OSError) as error:
        raise click.BadParameter(one_line(error), ctx, param) from error


def _named(name: str) -> str:
    if not name:
        message = f"it is empty; {_REMEDY}"
        raise ValueError(message)
    is_path = name.endswith(".json")
    if not is_path and _is_known(name):
        return name
    if is_path or os.path.lexists(name):
        return str(_tokenizer_file(Path(name)))
    message = f"{name!r} is no encoding, no model that is known, and no file; {_REMEDY}"
    raise ValueError(message)


def _is_known(name: str) -> bool:
    counter = counter_for(name)
    is_encoding = isinstance(counter, TiktokenCounter) and counter.name == name
    return is_encoding or encoding_for(name).exact or builtin_index().find(name) is not None


def _tokenizer_file(path: Path) -> Path:
    file = path / FILE_NAME if path.is_dir() else path
    if not file.is_file():
        what = f"a folder without a {FILE_NAME}" if path.is_dir() else "not there, or no file"
        message = f"{str(path)!r} is {what}; nothing is downloaded; {_REMEDY}"
        raise ValueError(message)
    if file.suffix != ".json":
        message = f"{str(path)!r} is not called .json, as the file of a tokenizer is; {_REMEDY}"
        raise ValueError(message)
    _check_content(file)
    return file


def _check_content(file: Path) -> None:
    """Load a tokenizer once, so that a wrong file is an error before any request is read."""
    if not _holds_model(file):
        message = f"{str(file)!r} is no JSON with a `model`, as the file of a tokenizer is; {_REMEDY}"
        raise ValueError(message)
    counter = hugging_face_counter(file)
    try:
        counter.count("loaded")
    except Exception as error:
        if type(error) is not Exception:  # tokenizers raises nothing more special for a file that it cannot read
            raise
        message = f"{str(file)!r} cannot be read as a tokenizer: {error}"
        raise ValueError(message) from error


def _holds_model(file: Path) -> bool:
    try:
        content = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(content, Mapping) and isinstance(content.get("model"), Mapping)
