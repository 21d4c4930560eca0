"""The two boxes of the playground: the chat history and the documents, and what they say of what was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ctxopt_core.playground.pasted_box import PastedBox
from ctxopt_core.playground.pasted_documents import read_documents
from ctxopt_core.playground.pasted_history import PastedHistory, read_history
from ctxopt_core.request import Document

HistoryBox: TypeAlias = PastedBox[PastedHistory]
DocumentsBox: TypeAlias = PastedBox[tuple[Document, ...]]

_ENDINGS = ".json,.jsonl,.txt,.md,.log"


def history_box(changed: Callable[[], None]) -> HistoryBox:
    """Return the box for the chat history."""
    return PastedBox(
        label="Chat history",
        hint='User: ...\nAssistant: ...\n\nor [{"role": "user", "content": "..."}]\nor LangChain messages as JSON',
        accept=_ENDINGS,
        read=read_history,
        describe=history_read,
        nothing="Nothing pasted.",
        changed=changed,
    )


def documents_box(changed: Callable[[], None]) -> DocumentsBox:
    """Return the box for the documents."""
    return PastedBox(
        label="Documents",
        hint='Texts with a blank line or --- between them\n\nor [{"id": "...", "score": 0.8, "text": "..."}]',
        accept=_ENDINGS,
        read=read_documents,
        describe=documents_read,
        nothing="No documents pasted.",
        changed=changed,
    )


def history_read(history: PastedHistory) -> str:
    """Return what a history was recognised as, and what is in it: counts and no content."""
    request = history.request
    parts = [_count(len(request.history), "message")]
    parts += [_count(len(request.documents), "document")] if request.documents else []
    parts += [_count(len(request.tools), "tool schema")] if request.tools else []
    parts += ["a system prompt"] if request.system else []
    return "; ".join((f"Read as {history.format}: {', '.join(parts)}", *history.notes)).rstrip(".") + "."


def documents_read(documents: Sequence[Document]) -> str:
    """Return how many documents were read, and how many of them have a score."""
    scored = sum(document.score is not None for document in documents)
    told = "all" if scored == len(documents) else f"{scored:,}" if scored else "none"
    return f"{_count(len(documents), 'document')}, {told} with a score."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
