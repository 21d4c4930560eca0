"""The history and the documents of the playground as one request, also as the file that it would lie in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxopt_core.fitted import FittedContext
from ctxopt_core.fitted_files import as_json, fitted_content
from ctxopt_core.playground.pasted_documents import document_row
from ctxopt_core.playground.pasted_history import PastedHistory
from ctxopt_core.request import ContextRequest, Document
from ctxopt_core.request_files import StoredRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedRequest:
    """What is compared.

    Args:
        request: The request.
        stored: The same as it would lie in a file; None for one that was given in code.
        replaced: How many documents of the history's text, or of what was given in code, others stand for.
    """

    request: ContextRequest
    stored: StoredRequest | None = None
    replaced: int = 0

    def fitted_json(self, fitted: FittedContext) -> bytes | None:
        """Return what is left of the request, as the JSON of a file; None for one that was given in code."""
        return None if self.stored is None else as_json(fitted_content(self.stored, fitted), indent=1)


def combined(
    history: PastedHistory | None, documents: Sequence[Document] | None, given: ContextRequest | None
) -> CombinedRequest:
    """Return one request of what is in the boxes, and of what was given in code where they are empty.

    Args:
        history: What the box for the history holds. It may have documents of its own, too.
        documents: What the box for documents holds; they take the place of the others.
        given: A request that was given in code; it stands where there is no history.
    """
    stored = None if history is None else history.stored
    request = given or ContextRequest() if stored is None else stored.request
    if documents is None:
        return CombinedRequest(request=request, stored=stored)
    return CombinedRequest(
        request=replace(request, documents=tuple(documents)),
        stored=None if stored is None else _with_documents(stored, documents),
        replaced=len(request.documents),
    )


def _with_documents(stored: StoredRequest, documents: Sequence[Document]) -> StoredRequest:
    """Return a stored request with other documents, where it lay before: a batch line stays one."""
    inside = {**stored.arguments, "documents": [document_row(document) for document in documents]}
    if isinstance(stored.content, list):
        inside[stored.messages_key] = stored.content
    content = inside if stored.envelope is None else {**stored.content, stored.envelope: inside}
    return replace(stored, content=content, request=replace(stored.request, documents=tuple(documents)))
