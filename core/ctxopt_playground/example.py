"""A request that the playground starts with: a customer, a heat pump that is cold in the mornings, and its manual."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ctxopt_core.formats.fitted_files import as_json

TARGET, OUTPUT_RESERVE = 1_536, 512
"""A budget in which not everything has room, in tokens."""

_TOLD_BY = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The texts of both boxes, as JSON."""

    history: str
    documents: str

    def left_behind(self, history: str, documents: str) -> bool:
        """Tell whether the documents are still those of the example, beside a history that is another one.

        A history that begins as the example does is the example, which somebody is working on.
        """
        return documents == self.documents and history[:_TOLD_BY] != self.history[:_TOLD_BY]


@cache
def example() -> Example:
    """Return the example."""
    content = json.loads(Path(__file__).with_name("example.json").read_text(encoding="utf-8"))
    return Example(
        history=as_json(content["messages"], indent=1).decode(),
        documents=as_json(content["documents"], indent=1).decode(),
    )
