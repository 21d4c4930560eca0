"""The choices that a caller makes once and applies to many requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ctxopt_core.document_policy import DocumentPolicy
from ctxopt_core.history import HistoryPolicy

Overflow = Literal["error", "empty"]
PROTECTABLE: tuple[Literal["system", "query"], ...] = ("system", "query")


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How a request is cut.

    Args:
        documents: How documents are chosen.
        history: How the conversation is trimmed.
        protect: Components that may not be cut: `query`, `system` or both. A request in which they do not fit raises.
        task: What is asked, where that is not the query: what documents and history are ranked by. A blank one is none.
        overflow: `error` raises when the untouchable parts are too big; `empty` empties everything but the query.
    """

    documents: DocumentPolicy = field(default_factory=DocumentPolicy)
    history: HistoryPolicy = field(default_factory=HistoryPolicy)
    protect: frozenset[str] = frozenset()
    task: str = ""
    overflow: Overflow = "error"

    def __post_init__(self) -> None:
        if not isinstance(self.task, str):
            message = f"`task` must be a text, got {type(self.task).__name__}; leave it out to rank by the query"
            raise TypeError(message)
        object.__setattr__(self, "task", self.task.strip())
        if unknown := sorted(self.protect.difference(PROTECTABLE)):
            message = f"`protect` may name 'system' and 'query', got {', '.join(map(repr, unknown))}"
            raise ValueError(message)
        if self.overflow not in ("error", "empty"):
            message = f"`overflow` must be 'error' or 'empty', got {self.overflow!r}"
            raise ValueError(message)
