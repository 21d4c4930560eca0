"""The built-in catalogue of models: a table in which each row has its sources and a date."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from ctxopt_core.model_index import ModelIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueRow:
    """What is known about the models of one row.

    Attributes:
        ids: The models, as their providers spell them; with the host's path where the figures are only that
            host's.
        context_window: Tokens of input and answer together.
        max_input_tokens: Tokens of input, where the provider limits them below the window.
        max_output_tokens: Tokens of the longest answer.
        kind: `chat`, or what else it is. Only chat rows count for the smallest chat window.
        tokenizer: A published encoding, or the name of a family without one.
        sources: Where the figures come from; the file explains the names.
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
        """The most that input can count, in tokens."""
        return min(self.context_window, self.max_input_tokens or self.context_window)


@cache
def builtin_index() -> ModelIndex[CatalogueRow]:
    """Return the index of the built-in catalogue, loaded on first use.

    The file holds the normal spelling of each id beside the provider's, since working out thousands of them
    takes longer than reading them.
    """
    table = _table()
    listed: dict[str, CatalogueRow] = {}
    for row, entry in zip(builtin_rows(), table["rows"], strict=True):
        listed.update(dict.fromkeys((entry[1] or entry[0]).split(), row))
    return ModelIndex.of_normal_ids(listed, ambiguous=table["ambiguous"].split(), aliases=table["aliases"])


@cache
def builtin_rows() -> tuple[CatalogueRow, ...]:
    """Return the rows of the built-in catalogue."""
    return tuple(
        CatalogueRow(
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
    content: dict[str, Any] = json.loads((files("ctxopt_core") / "models.json").read_text(encoding="utf-8"))
    return content


def smallest_chat_window(rows: Iterable[CatalogueRow]) -> int:
    """Return the smallest window of the chat models among `rows`, in tokens."""
    return min(row.input_limit for row in rows if row.kind == "chat")
