"""A request that the playground starts with: a customer, a heat pump that is cold in the mornings, and its manual."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ctxopt_core.formats.json_values import as_json

TARGET, OUTPUT_RESERVE = 1_536, 512
"""Tokens of the request and of the answer: a window of 2,048, into which the example does not fit as it is."""

_START = 80  # characters: a history that starts with as many of the example is the example, which somebody edits


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The contents of both boxes, as JSON."""

    history: str
    documents: str

    def left_behind(self, history: str, documents: str) -> bool:
        """Return whether the documents are still those of the example, beside a history that is another one."""
        return documents == self.documents and history[:_START] != self.history[:_START]


@cache
def example() -> Example:
    """Return the example."""
    content = json.loads(Path(__file__).with_name("example.json").read_text(encoding="utf-8"))
    return Example(
        history=as_json(content["messages"], indent=1).decode(),
        documents=as_json(content["documents"], indent=1).decode(),
    )
