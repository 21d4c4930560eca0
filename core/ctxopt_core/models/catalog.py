"""The built-in catalog of models: a table whose rows have sources and a date."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property
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


class _Entry:
    """One row as the file has it, which becomes a `CatalogRow` when it is first used: there are thousands."""

    def __init__(self, fields: list[Any]) -> None:
        self._fields = fields

    @property
    def input_limit(self) -> int:
        return self.row.input_limit

    @cached_property
    def row(self) -> CatalogRow:
        ids, _, window, limit, answer, kind, tokenizer, sources, checked = self._fields
        return CatalogRow(
            ids=tuple(ids.split()),
            context_window=window,
            max_input_tokens=limit,
            max_output_tokens=answer,
            kind=kind,
            tokenizer=tokenizer,
            sources=tuple(sources.split()),
            checked=date.fromisoformat(checked),
        )

    @property
    def normal_ids(self) -> list[str]:
        # The file has the normal spellings, since computing thousands of them takes longer than reading them.
        normal: str = self._fields[1] or self._fields[0]
        return normal.split()


class BuiltinIndex:
    """Finds the rows of the built-in catalog as `ModelIndex` does."""

    def __init__(self) -> None:
        listed = {model: entry for entry in _entries() for model in entry.normal_ids}
        ambiguous = _table()["ambiguous"].split()
        self._index = ModelIndex.of_normal_ids(listed, ambiguous=ambiguous, aliases=builtin_aliases())

    def find(self, model: str) -> CatalogRow | None:
        """Return the row of `model`, or None."""
        found = self._index.find(model)
        return None if found is None else found.row


@cache
def builtin_index() -> BuiltinIndex:
    """Return the index of the built-in catalog, loaded on first use."""
    return BuiltinIndex()


def builtin_aliases() -> Mapping[str, str]:
    """Return the names for the newest model of a family, with the id of that model."""
    aliases: Mapping[str, str] = _table()["aliases"]
    return aliases


@cache
def builtin_rows() -> tuple[CatalogRow, ...]:
    """Return the rows of the built-in catalog."""
    return tuple(entry.row for entry in _entries())


@cache
def _entries() -> tuple[_Entry, ...]:
    return tuple(_Entry(fields) for fields in _table()["rows"])


@cache
def _table() -> dict[str, Any]:
    # importlib.resources takes longer to import than the file to read.
    content: dict[str, Any] = json.loads(Path(__file__).with_name("models.json").read_text(encoding="utf-8"))
    return content


def smallest_chat_window(rows: Iterable[CatalogRow]) -> int:
    """Return the smallest window of the chat models among `rows`, in tokens."""
    return min(row.input_limit for row in rows if row.kind == "chat")
