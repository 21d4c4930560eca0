"""What was read out of a box, in words: counts and no content."""

from __future__ import annotations

from collections.abc import Sequence

from ctxopt_core.playground.pasted_history import PastedHistory
from ctxopt_core.request import Document


def history_read(history: PastedHistory) -> str:
    """Return what a history was recognised as, and what is in it."""
    request = history.request
    parts = [_count(len(request.history), "message")]
    parts += [_count(len(request.documents), "document")] if request.documents else []
    parts += [_count(len(request.tools), "tool schema")] if request.tools else []
    parts += ["a system prompt"] if request.system else []
    return ". ".join((f"Read as {history.format}: {', '.join(parts)}", *history.notes)).rstrip(".") + "."


def documents_read(documents: Sequence[Document]) -> str:
    """Return how many documents were read, and how many of them have a score."""
    scored = sum(document.score is not None for document in documents)
    return f"{_count(len(documents), 'document')}, {scored or 'none'} of them with a score."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
