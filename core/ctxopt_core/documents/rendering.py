"""How a document is rendered into the prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class DocumentRendering(Protocol):
    """How the prompt holds a document.

    1. `render(index, text)` is exactly what the prompt holds for document `index` when its text is `text`: template,
       metadata and all, but no separator.
    2. `separator` is what the prompt holds between two documents.
    3. Both are pure: equal arguments give equal results.
    """

    @property
    def separator(self) -> str:
        """The string between two documents."""

    def render(self, index: int, text: str) -> str:
        """Return document `index` as the prompt holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainDocuments:
    """Documents as their bare texts with a separator between them. It is a `DocumentRendering`.

    Args:
        separator: The string between two documents.

    Example:
        >>> from ctxopt_core import CallableCounter, Document, PlainDocuments, pack_documents
        >>> documents = [Document(text="A kiln."), Document(text="An arch.")]
        >>> pack_documents(documents, 20, CallableCounter(len), rendering=PlainDocuments(separator=" | ")).tokens
        18
    """

    separator: str = "\n\n"

    def render(self, index: int, text: str) -> str:  # noqa: ARG002
        """Return the text itself."""
        return text
