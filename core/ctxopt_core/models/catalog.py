"""The built-in catalog of models: a table whose rows have sources and a date."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from ctxopt_core.models.model_lookup import ModelIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogRow:
    """Models with the same limits.

    Attributes:
        ids: The models, as their providers spell them; with the host's path if only that host has these limits.
        context_window: Tokens of input and answer together.
        max_input_tokens: Tokens of the input, if the provider limits them below the window.
        max_output_tokens: Tokens of the longest answer.
        kind: `chat`, or another kind of model; `legacy` for chat models with smaller windows than those in use today.
            Only chat rows are considered for the smallest chat window.
        tokenizer: A published encoding, or the name of a family without one.
        sources: Where the limits come from; the file explains the names.
        checked: When they were looked up.
    """

    ids: tuple[str, ...]
    context_window: int
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    kind: str = "chat"
    tokenizer: str
    sources: tuple[str, ...]
    checked: date

    @property
    def input_limit(self) -> int:
        """The most tokens that the input may have."""
        return min(self.context_window, self.max_input_tokens or self.context_window)


@cache
def builtin_index() -> ModelIndex[CatalogRow]:
    """Return the index of the built-in catalog, which is read on first use."""
    table = _table()
    # The file has the normal spellings, since computing thousands of them takes longer than reading them.
    spellings = (normal or ids for ids, normal, *_ in table["rows"])
    listed = {model: row for row, ids in zip(builtin_rows(), spellings, strict=True) for model in ids.split()}
    return ModelIndex.of_normal_ids(listed, ambiguous=table["ambiguous"].split(), aliases=table["aliases"])


def builtin_aliases() -> Mapping[str, str]:
    """Return the names for the newest model of a family, with the id of that model."""
    aliases: Mapping[str, str] = _table()["aliases"]
    return aliases


@cache
def builtin_rows() -> tuple[CatalogRow, ...]:
    """Return the rows of the built-in catalog."""
    return tuple(
        CatalogRow(
            ids=tuple(ids.split()),
            context_window=window,
            max_input_tokens=limit,
            max_output_tokens=answer,
            kind=kind,
            tokenizer=tokenizer,
            sources=tuple(sources.split()),
            checked=date.fromisoformat(checked),
        )
        for ids, _, window, limit, answer, kind, tokenizer, sources, checked in _table()["rows"]
    )


@cache
def _table() -> dict[str, Any]:
    # importlib.resources takes longer to import than the file to read.
    content: dict[str, Any] = json.loads(Path(__file__).with_name("models.json").read_text(encoding="utf-8"))
    return content


def smallest_chat_window(rows: Iterable[CatalogRow]) -> int:
    """Return the smallest window of the chat models among `rows`, in tokens."""
    return min(row.input_limit for row in rows if row.kind == "chat")
